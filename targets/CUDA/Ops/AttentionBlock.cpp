// Emits accesses to operands of an attention and the computation of its scores,
// and divides its work among blocks.

#include "targets/CUDA/Ops/AttentionBlock.h"

#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Shape.h"
#include "dialects/NN/IR/SumTypes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

static int64_t tilesOf(int64_t extent, int64_t tile) {
  return static_cast<int64_t>(llvm::divideCeil(extent, tile));
}

/// The slice that holds a tile of scores of type `type`.
static Slice sliceOfScores(GridEmitter &e, Type type, int64_t tile) {
  const int64_t side = tile / TileShape::kSide;
  return TileProduct(e, {type, type}, side, side, /*stages=*/1).makeSlice(tile, tile);
}

AttentionBlock::AttentionBlock(GridEmitter &emitter, const AttentionShape &shape, Type factorType,
                               Value mask, ArrayRef<int64_t> maskDimensions, double scale)
    : e(emitter), shape(shape), factorType(factorType), elementType(accumulatorType(factorType)),
      tile(tileOf(factorType)),
      products(emitter, {factorType, elementType}, tile / TileShape::kSide, tile / TileShape::kSide,
               /*stages=*/1),
      scores(sliceOfScores(emitter, elementType, tile)),
      weights(factorType == elementType ? scores : products.makeSlice(tile, tile)),
      rowNumbers(emitter.allocateShared(tile * elementType.getIntOrFloatBitWidth() / 8)),
      mask(mask), maskDimensions(maskDimensions), scale(scale) {}

void AttentionBlock::storeWeight(TileProduct &results, Value weight, Index k, Index i) {
  const Value factor = Combiner(e, ReduceKind::sum, factorType).narrow(weight);
  weights.store(results.prepare(factor), k, i);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

int64_t AttentionBlock::columnsOf(Type elementType, int64_t elements) {
  const int64_t most = elementType.isF64() ? 4 : 8;
  return (elements <= 2 * TileShape::kSide   ? 2
          : elements <= 4 * TileShape::kSide ? 4
                                             : most) *
         TileShape::kSide;
}

int64_t AttentionBlock::countColumns(Type elementType, int64_t elements) {
  return tilesOf(elements, columnsOf(elementType, elements));
}

TileGrid AttentionBlock::gridOf(const AttentionShape &shape, Type elementType, int64_t rows,
                                int64_t columnTiles) {
  return {shape.batches() * tilesOf(rows, tileOf(elementType)) * columnTiles, TileShape::kThreads};
}

bool AttentionBlock::pays(Operation *op, const AttentionShape &shape, ValueRange factors) {
  const Type factorType = typeOf(factors.front()).getElementType();
  if (!isa<FloatType>(factorType) || !llvm::all_of(factors, [&](Value factor) {
        return typeOf(factor).getElementType() == factorType;
      }))
    return false;
  const Type elementType = accumulatorType(factorType);
  const bool areTypesKnown = llvm::all_of(op->getOperands(), [&](Value operand) {
    const Type type = typeOf(operand).getElementType();
    return type == factorType || type == elementType;
  });
  const int64_t least = 8;
  return areTypesKnown && shape.queries >= least && shape.keys >= least;
}

void AttentionBlock::forEachBlock(int64_t rows, int64_t columnTiles,
                                  function_ref<void(Index, Index, Index)> body) {
  e.forEachBlock({shape.batches(), tilesOf(rows, tile), columnTiles},
                 [&](ArrayRef<Index> at, Index thread) {
                   batch = at[0];
                   body(at[1], at[2], thread);
                 });
}

Value AttentionBlock::endOfKeys(Index first) {
  Value all = e.materialize(e.constant(tilesOf(shape.keys, tile)));
  if (!shape.causal)
    return all;
  Value seen = e.materialize(e.floorDiv(first + (tile - 1 + shape.offset()), tile) + 1);
  return e.make<arith::MinSIOp>(seen, all);
}

Value AttentionBlock::firstOfQueries(Index first) {
  Value none = e.materialize(e.constant(0));
  if (!shape.causal)
    return none;
  Value seeing = e.make<arith::MaxSIOp>(e.materialize(first - shape.offset()), none);
  return e.make<arith::DivUIOp>(seeing, e.materialize(e.constant(tile)));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

SmallVector<Index> AttentionBlock::positionsIn(Value operand, Index row, Index element) {
  SmallVector<Index> positions(static_cast<size_t>(typeOf(operand).getRank()));
  for (auto [d, position] : llvm::enumerate(e.delinearize(batch, shape.batch)))
    positions[static_cast<size_t>(shape.operandDim(static_cast<int64_t>(d)))] = position;
  positions[static_cast<size_t>(shape.rows)] = row;
  positions.back() = element;
  return positions;
}

/// If the operand is a part of a tensor in memory, the element is one of the tensor.
FactorElement AttentionBlock::elementOf(Value operand, Index row, Index element) {
  SmallVector<Index> positions = positionsIn(operand, row, element);
  while (!e.isInMemory(operand)) {
    auto slice = operand.getDefiningOp<SliceOp>();
    if (!slice || !slice->hasAttr(kReadInPlaceAttrName))
      break;
    for (auto [position, start] : llvm::zip_equal(positions, slice.getStarts()))
      position = position + start;
    operand = slice.getInput();
  }
  return {operand, ElementIndex(e, typeOf(operand).getShape(), positions), Value()};
}

Index AttentionBlock::numberIn(Value result, Index row, Index element) {
  return e.linearize(positionsIn(result, row, element), typeOf(result).getShape());
}

Value AttentionBlock::readOfQuery(Value tensor, Index query) {
  return widened(e.read(tensor, ElementIndex(e, shape.logSumExp(), numberOfQuery(query))));
}

Value AttentionBlock::widened(Value element) {
  return element.getType() == elementType ? element
                                          : Combiner(e, ReduceKind::sum, factorType).widen(element);
}

TileFactor AttentionBlock::rowsOf(Value operand, Index first, int64_t rows) {
  return {first, rows, /*depthIsInner=*/true, typeOf(operand).getShape().back(),
          [=, this](Index row, Index element) { return elementOf(operand, row, element); }};
}

TileFactor AttentionBlock::columnsOf(Value operand, Index first, int64_t elements) {
  return {first, elements, /*depthIsInner=*/false, typeOf(operand).getShape().back(),
          [=, this](Index element, Index row) { return elementOf(operand, row, element); }};
}

Index AttentionBlock::bound(Index index, int64_t count) {
  return e.bind(e.materialize(index), 0, count - 1);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value AttentionBlock::score(Value product, Index query, Index key) {
  Value isSeen = e.both(isThere(query, shape.queries), isThere(key, shape.keys));
  if (shape.causal)
    isSeen = e.both(isSeen, e.make<arith::CmpIOp>(arith::CmpIPredicate::sle, e.materialize(key),
                                                  e.materialize(query + shape.offset())));
  return e.branch(
      isSeen,
      [&]() -> Value {
        Value scaled = e.make<arith::MulFOp>(product, number(scale));
        if (!mask)
          return scaled;
        // The mask has some of the dimensions [batch.., queries, keys].
        SmallVector<Index> all = e.delinearize(batch, shape.batch), positions;
        all.push_back(bound(query, shape.queries));
        all.push_back(bound(key, shape.keys));
        for (int64_t dimension : maskDimensions)
          positions.push_back(all[static_cast<size_t>(dimension)]);
        return e.make<arith::AddFOp>(scaled, widened(e.read(mask, positions)));
      },
      [&] { return number(-std::numeric_limits<double>::infinity()); });
}

Value AttentionBlock::exponential(Value x) { return e.make<math::ExpOp>(x); }
Value AttentionBlock::isNan(Value x) {
  return e.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
}
Value AttentionBlock::select(Value condition, Value yes, Value no) {
  return e.make<arith::SelectOp>(condition, yes, no);
}
// This select may drop a NaN, but then the sum of the exponentials will be NaN.
Value AttentionBlock::larger(Value x, Value y) {
  return select(e.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, y), x, y);
}
