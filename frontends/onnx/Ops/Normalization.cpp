// Imports ONNX softmax and normalisation.

#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Ops/Reduction.h"
#include "frontends/onnx/Ops/SafeSoftmax.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

template <typename Op> LogicalResult convertSoftmax(Conversion &c) {
  Value x = c.operand(0);
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(x));
  if (c.failed)
    return failure();
  if (std::is_same_v<Op, nn::SoftmaxOp> && isSafeSoftmax(c))
    return c.done(safeSoftmax(c, x, axis));
  return c.done(c.e.make<Op>(x.getType(), x, axis));
}

LogicalResult convertHardmax(Conversion &c) {
  Value x = c.operand(0);
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(x));
  if (c.failed)
    return failure();
  if (shapeOf(x)[axis] == 0)
    return c.error("dimension " + Twine(axis) + " is empty");
  SmallVector<int64_t> rest(shapeOf(x));
  rest.erase(rest.begin() + axis);
  Type index = c.builder.getI64Type();
  Value best = c.e.make<nn::ArgReduceOp>(RankedTensorType::get(rest, index), nn::ReduceKind::max, x,
                                         axis, false);
  Value position = c.e.make<nn::IotaOp>(RankedTensorType::get(shapeOf(x), index), axis);
  Value isBest =
      c.e.compare(nn::Comparison::eq, position, c.e.broadcastAlong(best, shapeOf(x), {axis}));
  return c.done(c.e.convert(isBest, nn::typeOf(x).getElementType()));
}

/// normalised * scale + bias, with scale and bias broadcast to the shape of `normalised`;
/// null after an error.
Value scaleAndShift(Conversion &c, Value normalised, Value scale, Value bias) {
  Value wide = c.broadcastTo(scale, shapeOf(normalised));
  if (!wide)
    return {};
  Value result = c.e.mul(normalised, wide);
  if (!bias)
    return result;
  wide = c.broadcastTo(bias, shapeOf(normalised));
  return wide ? c.e.add(result, wide) : Value();
}

/// A vector with one element per channel, reshaped to [C, 1, 1, ..], so that it
/// broadcasts to [batch, channels, spatial dimensions].
Value alongChannels(Conversion &c, Value vector, int64_t rank) {
  SmallVector<int64_t> shape(rank - 1, 1);
  shape[0] = shapeOf(vector)[0];
  return c.e.reshape(vector, shape);
}

/// The element type that attribute stash_type names, in which a norm computes its
/// statistics; null after an error.
FloatType stashType(Conversion &c) {
  auto type =
      elementTypeOf(static_cast<int32_t>(c.intAttr("stash_type")), "attribute 'stash_type'");
  if (type && isFloat(*type))
    return cast<FloatType>(c.elementType(*type));
  (void)c.error(type ? "attribute 'stash_type' is no float type"
                     : llvm::toString(type.takeError()));
  return {};
}

/// The element type in which a norm computes: stash_type if the input is narrower,
/// else the input's type.
Type computeType(Conversion &c, Value x) {
  auto own = cast<FloatType>(nn::typeOf(x).getElementType());
  FloatType stash = stashType(c);
  return stash && own.getWidth() < stash.getWidth() ? stash : own;
}

nn::NormalizeOp normalize(Conversion &c, Value x, ArrayRef<int64_t> dimensions, bool uncentered) {
  double epsilon = c.floatAttr("epsilon");
  return c.e.make<nn::NormalizeOp>(x, dimensions, llvm::APFloat(epsilon), uncentered);
}

bool hasEmpty(Value x, ArrayRef<int64_t> dimensions) {
  return llvm::any_of(dimensions, [&](int64_t d) { return shapeOf(x)[d] == 0; });
}

/// Converts LayerNormalization and RMSNormalization, which normalize over the dimensions
/// from `axis` on. Results 1 and 2 are the mean and 1 / sqrt(variance + epsilon).
LogicalResult convertLayerNorm(Conversion &c) {
  Value x = c.operand(0);
  int64_t rank = rankOf(x), axis = c.normalizeAxis(c.intAttr("axis"), rank);
  if (c.failed)
    return failure();
  bool rms = c.node.opType == "RMSNormalization";
  SmallVector<int64_t> dimensions = range(axis, rank);
  if (hasEmpty(x, dimensions))
    return c.error("shape " + printed(shapeOf(x)) + " is empty where it is normalised");
  Type compute = computeType(c, x),
       own = nn::typeOf(c.operand(1)).getElementType(); // the type of the result
  if (c.failed)
    return failure();
  Value wide = c.e.convert(x, compute);
  nn::NormalizeOp norm = normalize(c, wide, dimensions, rms);
  Value result = scaleAndShift(c, c.e.convert(norm.getResult(), own), c.operand(1),
                               c.has(2) ? c.operand(2) : Value());
  if (!result)
    return failure();
  c.setResult(0, result);
  SmallVector<int64_t> kept(shapeOf(x).take_front(axis));
  kept.append(rank - axis, 1);
  auto setStatistic = [&](unsigned i, Value value) {
    c.setResult(i, c.e.reshape(c.e.convert(value, stashType(c)), kept));
  };
  if (c.wantsResult(1))
    setStatistic(1, norm.getMean());
  if (c.wantsResult(2)) {
    Value shifted = c.e.add(norm.getVariance(), c.floatAttr("epsilon"));
    setStatistic(2, c.e.rsqrt(shifted));
  }
  return success();
}

/// Checks that the operand has one element per channel.
LogicalResult checkChannels(Conversion &c, unsigned operand, int64_t channels) {
  ArrayRef<int64_t> shape = shapeOf(c.operand(operand));
  if (shape.size() == 1 && shape[0] == channels)
    return success();
  return c.error("input " + Twine(operand) + " has shape " + printed(shape) + " but must have [" +
                 Twine(channels) + "]");
}

LogicalResult convertInstanceNorm(Conversion &c) {
  Value x = c.operand(0);
  if (rankOf(x) < 3)
    return c.error("input has rank " + Twine(rankOf(x)) + " but must have 3 or more");
  SmallVector<int64_t> dimensions = range(2, rankOf(x));
  if (hasEmpty(x, dimensions) || failed(checkChannels(c, 1, shapeOf(x)[1])) ||
      failed(checkChannels(c, 2, shapeOf(x)[1])))
    return c.failed ? failure()
                    : c.error("shape " + printed(shapeOf(x)) + " is empty where it is normalised");
  Value result = scaleAndShift(c, normalize(c, x, dimensions, false).getResult(),
                               alongChannels(c, c.operand(1), rankOf(x)),
                               alongChannels(c, c.operand(2), rankOf(x)));
  return result ? c.done(result) : failure();
}

/// Converts GroupNormalization: statistics are computed per group of channels, scale and
/// bias are per channel.
LogicalResult convertGroupNorm(Conversion &c) {
  Value x = c.operand(0);
  int64_t groups = c.intAttr("num_groups");
  if (c.failed)
    return failure();
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.size() < 2 || groups <= 0 || shape[1] % groups)
    return c.error("num_groups " + Twine(groups) + " does not divide the channels of " +
                   printed(shape));
  int64_t channels = shape[1];
  SmallVector<int64_t> grouped{shape[0], groups, channels / groups};
  llvm::append_range(grouped, shape.drop_front(2));
  Type own = nn::typeOf(x).getElementType(), compute = computeType(c, x);
  if (c.failed)
    return failure();
  Value folded = c.e.convert(c.e.reshape(x, grouped), compute);
  SmallVector<int64_t> dimensions = range(2, rankOf(folded));
  if (hasEmpty(folded, dimensions))
    return c.error("shape " + printed(shape) + " is empty where it is normalised");
  Value normal =
      c.e.reshape(c.e.convert(normalize(c, folded, dimensions, false).getResult(), own), shape);
  auto affine = [&](unsigned i) -> Value {
    Value vector = c.operand(i);
    if (failed(checkChannels(c, i, channels)))
      return {};
    return alongChannels(c, vector, int64_t(shape.size()));
  };
  Value scale = affine(1), bias = affine(2);
  if (!scale || !bias)
    return failure();
  Value result = scaleAndShift(c, normal, scale, bias);
  return result ? c.done(result) : failure();
}

LogicalResult convertMeanVarianceNorm(Conversion &c) {
  Value x = c.operand(0);
  SmallVector<int64_t> axes = c.normalizeAxes(c.intsAttr("axes"), rankOf(x));
  if (c.failed)
    return failure();
  if (hasEmpty(x, axes))
    return c.error("shape " + printed(shapeOf(x)) + " is empty where it is normalised");
  // ONNX's function body adds epsilon 1e-9 to the standard deviation.
  Value mean = c.e.div(c.e.sum(x, axes), c.e.splatLike(c.e.sum(x, axes), [&] {
    double count = 1;
    for (int64_t axis : axes)
      count *= double(shapeOf(x)[axis]);
    return count;
  }()));
  Value centred = c.e.sub(x, c.e.broadcastAlong(mean, shapeOf(x), axes));
  Value square = c.e.sum(c.e.mul(centred, centred), axes);
  double count =
      double(nn::typeOf(x).getNumElements()) / double(nn::typeOf(square).getNumElements());
  Value deviation = c.e.add(c.e.sqrt(c.e.mul(square, 1 / count)), 1e-9);
  return c.done(c.e.div(centred, c.e.broadcastAlong(deviation, shapeOf(x), axes)));
}

LogicalResult convertLpNorm(Conversion &c) {
  Value x = c.operand(0);
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(x)), p = c.intAttr("p");
  if (c.failed)
    return failure();
  if (p != 1 && p != 2)
    return c.error("p is " + Twine(p) + " but must be 1 or 2");
  Value power = p == 1 ? Value(c.e.make<nn::AbsOp>(x)) : c.e.mul(x, x),
        sum = c.e.sum(power, {axis});
  // If the sum is 0, the result and its gradient are 0.
  Value isZero = c.e.compare(nn::Comparison::eq, sum, 0.0),
        safe = c.e.select(isZero, c.e.splatLike(sum, 1), sum);
  auto alongAxis = [&](Value norm) { return c.e.broadcastAlong(norm, shapeOf(x), {axis}); };
  Value normalised = c.e.div(x, alongAxis(p == 1 ? safe : c.e.sqrt(safe)));
  return c.done(c.e.select(alongAxis(isZero), c.e.splatLike(x, 0), normalised));
}

} // namespace

void dpc::onnx::registerNormalizationOps(Registry &registry) {
  registry.add("Softmax", convertSoftmax<nn::SoftmaxOp>);
  registry.add("LogSoftmax", convertSoftmax<nn::LogSoftmaxOp>);
  registry.add("Hardmax", convertHardmax);
  registry.add("LayerNormalization", convertLayerNorm);
  registry.add("RMSNormalization", convertLayerNorm);
  registry.add("InstanceNormalization", convertInstanceNorm);
  registry.add("GroupNormalization", convertGroupNorm);
  registry.add("MeanVarianceNormalization", convertMeanVarianceNorm);
  registry.add("LpNormalization", convertLpNorm);
}
