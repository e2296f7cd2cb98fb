// Divides the work of an attention among blocks whose scores pass through shared memory.

#include "targets/CUDA/Ops/AttentionBlock.h"

#include "dialects/NN/IR/Shape.h"
#include "dialects/NN/IR/SumTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

static int64_t tilesOf(int64_t extent, int64_t tile) {
  return static_cast<int64_t>(llvm::divideCeil(extent, tile));
}

/// The slice that holds a tile of scores of type `type`.
static Slice sliceOfScores(GridEmitter &e, Type type, int64_t tile) {
  const ProductTypes types{type, type};
  return TileProduct(e, types, AttentionBlock::shapeOf(e, types, tile, tile)).makeSlice(tile, tile);
}

TileShape AttentionBlock::shapeOf(const GridEmitter &emitter, ProductTypes types, int64_t rows,
                                  int64_t columns) {
  TileShape shape =
      TileShape::of(types, TileShape::unitFor(types, emitter.orderedSums, emitter.factors),
                    rows / TileShape::kSide, columns / TileShape::kSide);
  shape.stages = 1;
  return shape;
}

AttentionBlock::AttentionBlock(GridEmitter &emitter, const AttentionShape &shape, Type factorType,
                               Value mask, ArrayRef<int64_t> maskDimensions, double scale)
    : AttentionOperands(emitter, shape, factorType, mask, maskDimensions, scale),
      tile(tileOf(factorType)), products(emitter, {factorType, elementType},
                                         shapeOf(emitter, {factorType, elementType}, tile, tile)),
      scores(sliceOfScores(emitter, elementType, tile)),
      weights(factorType == elementType ? scores : products.makeSlice(tile, tile)),
      rowNumbers(emitter.allocateShared(tile * elementType.getIntOrFloatBitWidth() / 8)) {}

TileProduct AttentionBlock::tileOfResult(Value result, int64_t columns) const {
  const ProductTypes types{factorType, typeOf(result).getElementType()};
  return TileProduct(e, types, shapeOf(e, types, tile, columns),
                     {/*depthIsInnerOfA=*/true, /*depthIsInnerOfB=*/false});
}

void AttentionBlock::storeWeight(TileProduct &results, Value weight, Index k, Index i) {
  const Value factor = Combiner(e, ReduceKind::sum, factorType).narrow(weight);
  weights.store(results.prepare(factor), k, i);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

int64_t AttentionBlock::widthOf(Type elementType, int64_t elements) {
  const int64_t most = elementType.isF64() ? 4 : 8;
  return (elements <= 2 * TileShape::kSide   ? 2
          : elements <= 4 * TileShape::kSide ? 4
                                             : most) *
         TileShape::kSide;
}

int64_t AttentionBlock::countColumns(Type elementType, int64_t elements) {
  return tilesOf(elements, widthOf(elementType, elements));
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
