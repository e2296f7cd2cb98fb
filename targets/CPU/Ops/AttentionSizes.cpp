// Chooses the block sizes of the kernels of attention and of its gradient.

#include "targets/CPU/Ops/AttentionSizes.h"

#include "dialects/NN/IR/SumTypes.h"
#include "targets/CPU/Vectors/MatrixPacking.h"
#include "targets/CPU/Vectors/RegisterTile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

AttentionSizes::AttentionSizes(const VectorUnit &unitOfProcessor, Type factorType,
                               const AttentionShape &shape, Value mask,
                               ArrayRef<int64_t> maskDimensions,
                               function_ref<bool(Value)> isInMemory)
    : shape(shape), format(unitOfProcessor.vectorBytes, accumulatorType(factorType)),
      inPairs(unitOfProcessor.multipliesPairsOf(factorType)) {
  width = shape.keys <= format.lanes ? format.lanes : 2 * format.lanes;
  panels = llvm::divideCeil(shape.keys, width);
  unit = std::min<int64_t>(8, width);
  tileRows = RegisterTile::packedRowsFor(format, width / format.lanes);
  // A small block can skip more keys that its queries do not see, which matters if
  // there are few keys. A large block reuses a panel of keys more often.
  blockRows = shape.causal && shape.keys < 256 ? 16 : 32;
  scoreStride = panels * width + 64 / format.bytes;
  // A mask in memory is read in place if its last dimension is that of the keys, and
  // the number of keys is a multiple of the width of a panel. Then each load of a
  // vector stays inside one row of the mask.
  bool hasKeys =
      !maskDimensions.empty() && maskDimensions.back() == int64_t(shape.batch.size()) + 1;
  if (mask && !(hasKeys && shape.keys % width == 0 && isInMemory(mask)))
    maskElements = blockRows * scoreStride;
}

int64_t AttentionSizes::rowStride(int64_t elements) const {
  return llvm::alignTo(elements, format.lanes) + 64 / format.bytes;
}

int64_t AttentionSizes::countOfRows(int64_t count, int64_t elements) const {
  return llvm::alignTo(count, width) * rowStride(elements);
}

int64_t AttentionSizes::pointsOf(int64_t elements) const {
  return MatrixPacker::countPoints(elements, inPairs);
}

int64_t AttentionSizes::countOfPackedPanels(int64_t elements) const {
  return countOfPanels(elements) + MatrixPacker::slackOf(format);
}

// Choose parts whose probabilities and score gradients fit the second-level cache.
AttentionParts::AttentionParts(const AttentionSizes &sizes) {
  int64_t most = (sizes.format.vectorBytes == 64 ? 768 : 320) << 10;
  int64_t rowBytes = 2 * sizes.scoreStride * sizes.format.bytes;
  int64_t blocks = std::max<int64_t>(1, most / rowBytes / sizes.blockRows);
  rows = std::min(blocks * sizes.blockRows,
                  int64_t(llvm::alignTo(sizes.shape.queries, sizes.blockRows)));
  isWhole = rows >= sizes.shape.queries;
}

ScratchSizes AttentionParts::getScratch(const AttentionSizes &t, Type factorType) const {
  const AttentionShape &shape = t.shape;
  // The sums over several parts need scratch memory if the results have a narrower
  // type.
  bool hasSums = !isWhole && factorType != t.format.elementType;
  auto ofPairs = [&](int64_t count) { return t.inPairs ? count : VectorFormat::kNone; };
  return t.format.bytesOf(
      {t.maskElements, t.countOfRows(shape.queries, shape.depth),
       t.countOfRows(shape.keys, shape.depth), t.countOfRows(shape.queries, shape.valueDepth),
       t.countOfPackedPanels(shape.depth), t.countOfPackedPanels(shape.valueDepth),
       t.countOfScores(rows), t.countOfScores(rows), shape.queries, shape.queries,
       ofPairs(t.countOfRows(shape.queries, t.pointsOf(shape.depth))),
       ofPairs(t.countOfRows(shape.queries, t.pointsOf(shape.valueDepth))), ofPairs(shape.queries),
       hasSums ? shape.keys * shape.depth : VectorFormat::kNone,
       hasSums ? shape.keys * shape.valueDepth : VectorFormat::kNone});
}
