// Defines nn.softmax, nn.log_softmax and nn.normalize. nn.batch_norm is in
// BatchNorm.cpp.

#include "dialects/NN/IR/Normalization.h"

#include "dialects/NN/IR/Expressions.h"
#include "planning/KernelClass.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Normalization.cpp.inc"

void NNDialect::registerNormalizationOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Normalization.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// nn.softmax, nn.log_softmax
//===----------------------------------------------------------------------===//

static LogicalResult verifyRow(Operation *op, int64_t dimension, int64_t rank) {
  if (dimension < 0 || dimension >= rank)
    return op->emitOpError("has dimension ") << dimension << ", but rank " << rank;
  return success();
}

/// The sharding rule of an op on rows along `dimension`. No axis may cut the loop
/// over the elements of a row. If the chosen layout has such an axis,
/// `dpc-assign-layouts` decomposes the op.
static ShardingRule rowShardingRule(Operation *op, int64_t dimension) {
  ShardingRule rule = elementwiseShardingRule(op);
  rule.loops[dimension].kind = LoopKind::whole;
  return rule;
}

/// Calls `fn(offset of the first element, stride, extent)` for each row of
/// `shape` along `dimension`, in row-major order of the other dimensions.
static void forEachRow(ArrayRef<int64_t> shape, int64_t dimension,
                       function_ref<void(int64_t, int64_t, int64_t)> fn) {
  SmallVector<int64_t> others(shape);
  others[dimension] = 1;
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  forEachIndex(others, [&](ArrayRef<int64_t> index) {
    fn(linearize(index, strides), strides[dimension], shape[dimension]);
  });
}

/// The largest element of a row, and the sum of e^(x - largest).
static std::pair<double, double> rowMaxAndSum(const std::vector<double> &x, int64_t base,
                                              int64_t stride, int64_t extent) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < extent; ++i)
    largest = std::max(largest, x[base + i * stride]);
  for (int64_t i = 0; i < extent; ++i)
    sum += std::exp(x[base + i * stride] - largest);
  return {largest, sum};
}

/// `x` minus the largest element of each row along `dimension`.
static Value shifted(Expressions e, Value x, int64_t dimension) {
  Value largest = e.reduce(ReduceKind::max, x, {dimension});
  return e.sub(x, e.broadcastAlong(largest, typeOf(x).getShape(), {dimension}));
}

LogicalResult SoftmaxOp::verify() { // softmax_c1
  return verifyRow(*this, getDimension(), typeOf(getInput()).getRank());
}

KernelClass SoftmaxOp::getKernelClass() { return KernelClass::normalization; }
int64_t SoftmaxOp::getFlops() { return 5 * typeOf(getInput()).getNumElements(); }

ShardingRule SoftmaxOp::getShardingRule() { return rowShardingRule(*this, getDimension()); }

LogicalResult SoftmaxOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                   MutableArrayRef<HostTensor> out) {
  const std::vector<double> &x = in[0]->floats;
  forEachRow(in[0]->getShape(), getDimension(), [&](int64_t base, int64_t stride, int64_t extent) {
    auto [largest, sum] = rowMaxAndSum(x, base, stride, extent);
    for (int64_t at = base, i = 0; i < extent; ++i, at += stride)
      out[0].floats[at] = std::exp(x[at] - largest) / sum;
  });
  return success();
}

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  Expressions e{builder, getLoc()};
  int64_t dimension = getDimension();
  Value exponentials = e.exp(shifted(e, getInput(), dimension));
  Value sum = e.sum(exponentials, {dimension});
  return {e.div(exponentials, e.broadcastAlong(sum, typeOf(getInput()).getShape(), {dimension}))};
}

LogicalResult SoftmaxOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                  ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  if (!wanted[0])
    return success();
  Expressions e{builder, getLoc()};
  int64_t dimension = getDimension();
  Value g = resultGrads[0], y = getResult();
  Value sum = e.sum(e.mul(g, y), {dimension});
  grads[0] = e.mul(y, e.sub(g, e.broadcastAlong(sum, typeOf(y).getShape(), {dimension})));
  return success();
}

LogicalResult LogSoftmaxOp::verify() { // log_softmax_c1
  return verifyRow(*this, getDimension(), typeOf(getInput()).getRank());
}

KernelClass LogSoftmaxOp::getKernelClass() { return KernelClass::normalization; }
int64_t LogSoftmaxOp::getFlops() { return 5 * typeOf(getInput()).getNumElements(); }

ShardingRule LogSoftmaxOp::getShardingRule() { return rowShardingRule(*this, getDimension()); }

LogicalResult LogSoftmaxOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                      MutableArrayRef<HostTensor> out) {
  const std::vector<double> &x = in[0]->floats;
  forEachRow(in[0]->getShape(), getDimension(), [&](int64_t base, int64_t stride, int64_t extent) {
    auto [largest, sum] = rowMaxAndSum(x, base, stride, extent);
    for (int64_t at = base, i = 0; i < extent; ++i, at += stride)
      out[0].floats[at] = (x[at] - largest) - std::log(sum);
  });
  return success();
}

SmallVector<Value> LogSoftmaxOp::decompose(OpBuilder &builder) {
  Expressions e{builder, getLoc()};
  int64_t dimension = getDimension();
  Value x = shifted(e, getInput(), dimension);
  Value logSum = e.log(e.sum(e.exp(x), {dimension}));
  return {e.sub(x, e.broadcastAlong(logSum, typeOf(x).getShape(), {dimension}))};
}

LogicalResult LogSoftmaxOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                     ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  if (!wanted[0])
    return success();
  Expressions e{builder, getLoc()};
  int64_t dimension = getDimension();
  Value g = resultGrads[0], y = getResult();
  Value sum = e.sum(g, {dimension});
  grads[0] = e.sub(g, e.mul(e.exp(y), e.broadcastAlong(sum, typeOf(y).getShape(), {dimension})));
  return success();
}

//===----------------------------------------------------------------------===//
// nn.normalize
//===----------------------------------------------------------------------===//

LogicalResult NormalizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                            ValueRange operands, DictionaryAttr attributes,
                                            OpaqueProperties properties, RegionRange regions,
                                            SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType type = typeOf(adaptor.getInput());
  SmallVector<int64_t> shape;
  int64_t previous = -1;
  for (int64_t d : adaptor.getDimensions()) {
    if (d <= previous || d >= type.getRank() || type.getDimSize(d) == 0) // normalize_c1
      return emitOptionalError(loc, "'nn.normalize' op has dimension ", d,
                               ", which is not increasing, inside and not empty in ", type);
    previous = d;
  }
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(adaptor.getDimensions(), d))
      shape.push_back(type.getDimSize(d));
  double epsilon = adaptor.getEpsilon().convertToDouble();
  if (!(epsilon >= 0)) // normalize_c2
    return emitOptionalError(loc, "'nn.normalize' op has epsilon ", epsilon,
                             ", which is not a number >= 0");
  types.push_back(type);
  types.append(2, withShape(type, shape));
  return success();
}

int64_t NormalizeOp::getReducedCount() {
  int64_t count = 1;
  for (int64_t d : getDimensions())
    count *= typeOf(getInput()).getDimSize(d);
  return count;
}

KernelClass NormalizeOp::getKernelClass() { return KernelClass::normalization; }
int64_t NormalizeOp::getFlops() { return 7 * typeOf(getInput()).getNumElements(); }

ShardingRule NormalizeOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.emplace_back();
  rule.results.resize(3);
  for (auto [d, extent] : llvm::enumerate(typeOf(getInput()).getShape())) {
    bool reduced = llvm::is_contained(getDimensions(), int64_t(d));
    ShardingRule::DimLoops dim =
        ShardingRule::dim(rule.addLoop(extent, reduced ? LoopKind::whole : LoopKind::parallel));
    rule.operands[0].push_back(dim);
    rule.results[0].push_back(dim);
    if (!reduced) {
      rule.results[1].push_back(dim);
      rule.results[2].push_back(dim);
    }
  }
  return rule;
}

LogicalResult NormalizeOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                     MutableArrayRef<HostTensor> out) {
  // `steps` maps an index of the operand to the offset, in `mean` and in `variance`,
  // of the row that the index belongs to.
  SmallVector<int64_t> strides = rowMajorStrides(out[1].getShape());
  SmallVector<int64_t> steps(in[0]->getRank(), 0);
  for (int64_t d = 0, next = 0; d < in[0]->getRank(); ++d)
    if (!llvm::is_contained(getDimensions(), d))
      steps[d] = strides[next++];
  std::vector<double> &y = out[0].floats, &mean = out[1].floats, &variance = out[2].floats;
  const double count = getReducedCount(), epsilon = getEpsilon().convertToDouble();
  auto forEach = [&](function_ref<void(int64_t, int64_t)> fn) {
    int64_t at = 0;
    forEachIndex(in[0]->getShape(),
                 [&](ArrayRef<int64_t> index) { fn(at++, linearize(index, steps)); });
  };
  forEach([&](int64_t at, int64_t row) { mean[row] += in[0]->floats[at]; });
  for (double &value : mean)
    value /= count;
  forEach([&](int64_t at, int64_t row) {
    y[at] = in[0]->floats[at] - (getUncentered() ? 0 : mean[row]);
    variance[row] += y[at] * y[at];
  });
  for (double &value : variance)
    value /= count;
  forEach([&](int64_t at, int64_t row) { y[at] /= std::sqrt(variance[row] + epsilon); });
  return success();
}

SmallVector<Value> NormalizeOp::decompose(OpBuilder &builder) {
  Expressions e{builder, getLoc()};
  Value x = getInput();
  ArrayRef<int64_t> dimensions = getDimensions(), shape = typeOf(x).getShape();
  const double count = getReducedCount();
  auto meanOf = [&](Value value) {
    Value sum = e.sum(value, dimensions);
    return e.div(sum, e.splatLike(sum, count));
  };
  Value mean = meanOf(x), centred = x;
  if (!getUncentered())
    centred = e.sub(x, e.broadcastAlong(mean, shape, dimensions));
  Value variance = meanOf(e.mul(centred, centred));
  Value scale = e.rsqrt(e.add(variance, getEpsilon().convertToDouble()));
  return {e.mul(centred, e.broadcastAlong(scale, shape, dimensions)), mean, variance};
}

/// The dimension of a tensor of shape `to` that has the elements of dimension `d` of a tensor of
/// shape `from`, of which it is a reshape. -1 if there is no such dimension.
static int64_t dimensionAfterReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to, int64_t d) {
  const int64_t before = ShapedType::getNumElements(from.take_front(d));
  int64_t passed = 1;
  for (auto [other, extent] : llvm::enumerate(to)) {
    if (passed == before && extent == from[d])
      return other;
    passed *= extent;
  }
  return -1;
}

namespace {
/// A gradient as the product of a tensor and of one factor per row.
struct RowFactor {
  Value grad, factor; ///< the factor is null if the gradient has none
};
} // namespace

/// Finds the factor that all elements of a row have, if `grad` is a product with one. The rows are
/// along `dimensions`. In the gradient of a batch normalization, the factor is the scale of the
/// channels.
static RowFactor findRowFactor(Expressions e, Value grad, ArrayRef<int64_t> dimensions) {
  ArrayRef<int64_t> shape = typeOf(grad).getShape();
  auto reshape = grad.getDefiningOp<ReshapeOp>();
  auto product = (reshape ? reshape.getInput() : grad).getDefiningOp<MulOp>();
  if (!product)
    return {grad, nullptr};
  ArrayRef<int64_t> before = typeOf(product.getResult()).getShape();
  SmallVector<int64_t> kept, rows;
  for (auto [d, extent] : llvm::enumerate(shape))
    if (!llvm::is_contained(dimensions, d)) {
      kept.push_back(d);
      rows.push_back(extent);
    }
  for (auto [factor, other] : {std::pair(product.getLhs(), product.getRhs()),
                               std::pair(product.getRhs(), product.getLhs())}) {
    auto broadcast = factor.getDefiningOp<BroadcastOp>();
    if (!broadcast)
      continue;
    SmallVector<int64_t> places;
    for (int64_t d : broadcast.getDimensions()) {
      auto at = llvm::find(kept, dimensionAfterReshape(before, shape, d));
      if (at != kept.end())
        places.push_back(at - kept.begin());
    }
    // Several dimensions of extent 1 may have the same place.
    if (places.size() == broadcast.getDimensions().size() &&
        std::adjacent_find(places.begin(), places.end(), std::greater_equal<>()) == places.end())
      return {e.reshape(other, shape), e.broadcast(broadcast.getInput(), rows, places)};
  }
  return {grad, nullptr};
}

LogicalResult NormalizeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                    ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  if (!wanted[0])
    return success();
  Expressions e{builder, getLoc()};
  Value x = getInput(), y = getResult();
  ArrayRef<int64_t> dimensions = getDimensions(), shape = typeOf(x).getShape();
  const double perElement = 1.0 / getReducedCount();
  auto spread = [&](Value value) { return e.broadcastAlong(value, shape, dimensions); };
  auto meanOf = [&](Value value) { return e.mul(e.sum(value, dimensions), perElement); };
  Value total;
  auto accumulate = [&](Value part) { total = total ? e.add(total, part) : part; };
  if (Value g = resultGrads[0]) {
    Value scale = e.rsqrt(e.add(getVariance(), getEpsilon().convertToDouble()));
    // The gradients of the scale and of the shift that often follow are sums of the same tensors
    // without the scale. So the sums are the same ops, and the tensors are read once.
    RowFactor rows = findRowFactor(e, g, dimensions);
    auto meanOfRows = [&](Value value) {
      Value mean = meanOf(value);
      return rows.factor ? e.mul(mean, rows.factor) : mean;
    };
    Value inner = e.sub(g, e.mul(y, spread(meanOfRows(e.mul(rows.grad, y)))));
    if (!getUncentered())
      inner = e.sub(inner, spread(meanOfRows(rows.grad)));
    accumulate(e.mul(inner, spread(scale)));
  }
  if (Value g = resultGrads[1])
    accumulate(spread(e.mul(g, perElement)));
  if (Value g = resultGrads[2]) {
    Value centred = getUncentered() ? x : e.sub(x, spread(getMean()));
    accumulate(e.mul(centred, spread(e.mul(g, 2 * perElement))));
  }
  grads[0] = total;
  return success();
}
