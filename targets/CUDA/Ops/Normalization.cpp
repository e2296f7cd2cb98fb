// Decomposes nn.normalize for reductions whose terms lie in memory.

#include "dialects/NN/IR/Normalization.h"
#include "dialects/NN/IR/Expressions.h"
#include "targets/CUDA/Grids/GridFill.h"
#include "targets/CUDA/Ops/Ops.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

// The variance is the mean of the squares minus the square of the mean. Both sums are in f64, which
// holds the square of a narrower float exactly. The difference loses as many of the 53 bits as
// (mean / deviation)^2 has, so an f32 variance is exact to its last bits if the mean is less than
// some 10^4 deviations. With a larger mean, x itself has few bits for its deviation.
std::optional<SmallVector<Value>> dpc::normalizeInOnePass(NormalizeOp op, OpBuilder &builder) {
  const RankedTensorType type = typeOf(op.getInput());
  const ArrayRef<int64_t> dimensions = op.getDimensions();
  if (op.getUncentered() || dimensions.empty() || type.getElementType().isF64())
    return std::nullopt;
  Expressions e{builder, op.getLoc()};
  Value wide = e.convert(op.getInput(), builder.getF64Type()), sum = e.sum(wide, dimensions);
  if (!payingGridFill(sum.getDefiningOp())) {
    sum.getDefiningOp()->erase();
    wide.getDefiningOp()->erase();
    return std::nullopt;
  }
  const double count = op.getReducedCount();
  auto meanOf = [&](Value total) { return e.div(total, e.splatLike(total, count)); };
  Value mean = meanOf(sum), squares = meanOf(e.sum(e.mul(wide, wide), dimensions)),
        difference = e.sub(squares, e.mul(mean, mean));
  // Rounding must not make it negative.
  Value variance = e.max(difference, e.splatLike(difference, 0));
  mean = e.convert(mean, type.getElementType());
  variance = e.convert(variance, type.getElementType());
  auto spread = [&](Value value) { return e.broadcastAlong(value, type.getShape(), dimensions); };
  Value scale = e.rsqrt(e.add(variance, op.getEpsilon().convertToDouble()));
  return SmallVector<Value>{e.mul(e.sub(op.getInput(), spread(mean)), spread(scale)), mean,
                            variance};
}
