// Emits accesses to operands of an attention and the computation of its scores.

#include "targets/CUDA/Ops/AttentionOperands.h"

#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Shape.h"
#include "dialects/NN/IR/SumTypes.h"
#include "targets/Loops/Combiner.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

AttentionOperands::AttentionOperands(GridEmitter &emitter, const AttentionShape &shape,
                                     Type factorType, Value mask, ArrayRef<int64_t> maskDimensions,
                                     double scale)
    : e(emitter), shape(shape), factorType(factorType), elementType(accumulatorType(factorType)),
      mask(mask), maskDimensions(maskDimensions), scale(scale) {}

Value AttentionOperands::endOfKeys(Index first, int64_t ownRows, int64_t otherRows) {
  Value all =
      e.materialize(e.constant(static_cast<int64_t>(llvm::divideCeil(shape.keys, otherRows))));
  if (!shape.causal)
    return all;
  Value seen = e.materialize(e.floorDiv(first + (ownRows - 1 + shape.offset()), otherRows) + 1);
  return e.make<arith::MinSIOp>(seen, all);
}

Value AttentionOperands::firstOfQueries(Index first, int64_t otherRows) {
  Value none = e.materialize(e.constant(0));
  if (!shape.causal)
    return none;
  Value seeing = e.make<arith::MaxSIOp>(e.materialize(first - shape.offset()), none);
  return e.make<arith::DivUIOp>(seeing, e.materialize(e.constant(otherRows)));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

SmallVector<Index> AttentionOperands::positionsIn(Value operand, Index row, Index element) {
  SmallVector<Index> positions(static_cast<size_t>(typeOf(operand).getRank()));
  for (auto [d, position] : llvm::enumerate(e.delinearize(batch, shape.batch)))
    positions[static_cast<size_t>(shape.operandDim(static_cast<int64_t>(d)))] = position;
  positions[static_cast<size_t>(shape.rows)] = row;
  positions.back() = element;
  return positions;
}

/// If the operand is a part of a tensor in memory, the element is one of the tensor.
FactorElement AttentionOperands::elementOf(Value operand, Index row, Index element) {
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

Index AttentionOperands::numberIn(Value result, Index row, Index element) {
  return e.linearize(positionsIn(result, row, element), typeOf(result).getShape());
}

Value AttentionOperands::readOfQuery(Value tensor, Index query) {
  return widened(e.read(tensor, ElementIndex(e, shape.logSumExp(), numberOfQuery(query))));
}

Value AttentionOperands::widened(Value element) {
  return element.getType() == elementType ? element
                                          : Combiner(e, ReduceKind::sum, factorType).widen(element);
}

TileFactor AttentionOperands::rowsOf(Value operand, Index first, int64_t rows) {
  return {first, rows, /*depthIsInner=*/true, typeOf(operand).getShape().back(),
          [=, this](Index row, Index element) { return elementOf(operand, row, element); }};
}

TileFactor AttentionOperands::columnsOf(Value operand, Index first, int64_t elements) {
  return {first, elements, /*depthIsInner=*/false, typeOf(operand).getShape().back(),
          [=, this](Index element, Index row) { return elementOf(operand, row, element); }};
}

Index AttentionOperands::bound(Index index, int64_t count) {
  return e.bind(e.materialize(index), 0, count - 1);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value AttentionOperands::score(Value product, Index query, Index key) {
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

Value AttentionOperands::exponential(Value x) { return e.make<math::ExpOp>(x); }
Value AttentionOperands::isNan(Value x) {
  return e.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
}
Value AttentionOperands::select(Value condition, Value yes, Value no) {
  return e.make<arith::SelectOp>(condition, yes, no);
}
// This select may drop a NaN, but then the sum of the exponentials will be NaN.
Value AttentionOperands::larger(Value x, Value y) {
  return select(e.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, y), x, y);
}
