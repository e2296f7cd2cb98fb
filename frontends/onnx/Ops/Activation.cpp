// Imports ONNX activation functions.
//
// The formulas are those of the ONNX operator schemas.

#include "frontends/onnx/Import/Registry.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

template <typename Op> LogicalResult convertUnary(Conversion &c) {
  return c.done(c.e.make<Op>(c.operand(0)));
}

/// Per element: x if x > 0, else the element of `otherwise`.
Value whereNotPositive(Conversion &c, Value x, Value otherwise) {
  return c.e.select(c.e.compare(nn::Comparison::gt, x, 0.0), x, otherwise);
}

/// Per element: e^x - 1 if x <= 0, else 0. The exponential of a large x would overflow,
/// so the exponent is 0 for positive x. A select gives this exponent, because min(x, 0)
/// would halve the gradient at x = 0.
Value expm1OfNegative(Conversion &c, Value x) {
  return c.e.add(
      c.e.exp(c.e.select(c.e.compare(nn::Comparison::gt, x, 0.0), c.e.splatLike(x, 0), x)), -1.0);
}

LogicalResult convertLeakyRelu(Conversion &c) {
  Value x = c.operand(0);
  return c.done(whereNotPositive(c, x, c.e.mul(x, c.floatAttr("alpha"))));
}

LogicalResult convertPRelu(Conversion &c) {
  Value x = c.operand(0), slope = c.broadcastTo(c.operand(1), shapeOf(x));
  if (!slope)
    return failure();
  return c.done(whereNotPositive(c, x, c.e.mul(slope, x)));
}

LogicalResult convertElu(Conversion &c) {
  Value x = c.operand(0);
  return c.done(whereNotPositive(c, x, c.e.mul(expm1OfNegative(c, x), c.floatAttr("alpha"))));
}

LogicalResult convertSelu(Conversion &c) {
  Value x = c.operand(0);
  // ONNX's defaults are these constants rounded to f32 (Klambauer et al.,
  // "Self-normalizing neural networks", 2017). If the node has the default, the unrounded
  // constant is used.
  auto constant = [&](StringRef name, double known) {
    double given = c.floatAttr(name, known);
    return c.exactLike(x, float(given) == float(known) ? known : given);
  };
  Value alpha = constant("alpha", 1.6732632423543772848),
        gamma = constant("gamma", 1.0507009873554804934);
  return c.done(c.e.mul(whereNotPositive(c, x, c.e.mul(expm1OfNegative(c, x), alpha)), gamma));
}

LogicalResult convertCelu(Conversion &c) {
  Value x = c.operand(0);
  double alpha = c.floatAttr("alpha");
  return c.done(whereNotPositive(
      c, x, c.e.mul(expm1OfNegative(c, c.e.div(x, c.e.splatLike(x, alpha))), alpha)));
}

LogicalResult convertGelu(Conversion &c) {
  std::string kind = c.stringAttr("approximate");
  if (kind != "none" && kind != "tanh")
    return c.error("approximate '" + kind + "' is neither none nor tanh");
  auto approximation = kind == "tanh" ? nn::GeluApproximation::tanh : nn::GeluApproximation::none;
  return c.done(c.e.make<nn::GeluOp>(c.operand(0).getType(), approximation, c.operand(0)));
}

LogicalResult convertHardSigmoid(Conversion &c) {
  Value x = c.operand(0);
  Value line = c.e.add(c.e.mul(x, c.floatAttr("alpha")), c.floatAttr("beta"));
  return c.done(c.e.make<nn::ClampOp>(line, c.e.splatLike(x, 0), c.e.splatLike(x, 1)));
}

LogicalResult convertHardSwish(Conversion &c) {
  Value x = c.operand(0);
  // Computes x clamp(x + 3, 0, 6) / 6. The last step is a division, because a factor 1 /
  // 6 would be rounded in f32.
  auto number = [&](double value) { return c.e.splatLike(x, value); };
  Value line = c.e.make<nn::ClampOp>(c.e.add(x, 3.0), number(0), number(6));
  return c.done(c.e.div(c.e.mul(x, line), number(6)));
}

LogicalResult convertSwish(Conversion &c) {
  Value x = c.operand(0);
  double alpha = c.floatAttr("alpha");
  return c.done(c.e.mul(x, c.e.make<nn::SigmoidOp>(alpha == 1 ? x : c.e.mul(x, alpha))));
}

LogicalResult convertMish(Conversion &c) {
  Value x = c.operand(0);
  return c.done(c.e.mul(x, c.e.make<nn::TanhOp>(c.e.make<nn::SoftplusOp>(x))));
}

LogicalResult convertSoftsign(Conversion &c) {
  Value x = c.operand(0);
  return c.done(c.e.div(x, c.e.add(c.e.make<nn::AbsOp>(x), 1.0)));
}

LogicalResult convertThresholdedRelu(Conversion &c) {
  Value x = c.operand(0);
  return c.done(
      c.e.select(c.e.compare(nn::Comparison::gt, x, c.floatAttr("alpha")), x, c.e.splatLike(x, 0)));
}

LogicalResult convertShrink(Conversion &c) {
  Value x = c.operand(0);
  double bias = c.floatAttr("bias"), lambd = c.floatAttr("lambd");
  Value above =
      c.e.select(c.e.compare(nn::Comparison::gt, x, lambd), c.e.add(x, -bias), c.e.splatLike(x, 0));
  return c.done(c.e.select(c.e.compare(nn::Comparison::lt, x, -lambd), c.e.add(x, bias), above));
}

} // namespace

void dpc::onnx::registerActivationOps(Registry &registry) {
  registry.add("Relu", convertUnary<nn::ReluOp>);
  registry.add("Sigmoid", convertUnary<nn::SigmoidOp>);
  registry.add("Softplus", convertUnary<nn::SoftplusOp>);
  registry.add("LeakyRelu", convertLeakyRelu);
  registry.add("PRelu", convertPRelu);
  registry.add("Elu", convertElu);
  registry.add("Selu", convertSelu);
  registry.add("Celu", convertCelu);
  registry.add("Gelu", convertGelu);
  registry.add("HardSigmoid", convertHardSigmoid);
  registry.add("HardSwish", convertHardSwish);
  registry.add("Swish", convertSwish);
  registry.add("Mish", convertMish);
  registry.add("Softsign", convertSoftsign);
  registry.add("ThresholdedRelu", convertThresholdedRelu);
  registry.add("Shrink", convertShrink);
}
