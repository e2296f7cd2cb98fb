// Imports ONNX arithmetic, comparison and logic.

#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Ops/Kinks.h"
#include "frontends/onnx/Ops/Random.h"
#include "frontends/onnx/Ops/Reduction.h"
#include "frontends/onnx/Ops/ScaledMask.h"

#include "OnnxSchema.pb.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

bool isFloatValue(Value value) { return isa<FloatType>(nn::typeOf(value).getElementType()); }

template <typename Op> LogicalResult convertUnary(Conversion &c) {
  return c.done(c.e.make<Op>(c.operand(0)));
}

template <typename Op> LogicalResult convertFloatUnary(Conversion &c) {
  Value x = c.operand(0);
  // If the operand is an integer, the operator is a rounding, which does not change
  // integers. The other operators that this function converts take only floats.
  return c.done(isFloatValue(x) ? Value(c.e.make<Op>(x)) : x);
}

template <typename Op> LogicalResult convertBinary(Conversion &c) {
  auto [lhs, rhs] = c.binary();
  if (!lhs || !rhs)
    return failure();
  return c.done(c.e.make<Op>(lhs, rhs));
}

template <nn::Comparison comparison> LogicalResult convertComparison(Conversion &c) {
  auto [lhs, rhs] = c.binary();
  if (!lhs || !rhs)
    return failure();
  return c.done(c.e.compare(comparison, lhs, rhs));
}

/// Converts Less, Greater and the like. If the node compares a drawn number with one
/// known probability, the result is the mask of a dropout.
template <nn::Comparison comparison> LogicalResult convertOrder(Conversion &c) {
  if (Value mask = comparedMask(c, comparison))
    return c.done(mask);
  return c.failed ? failure() : convertComparison<comparison>(c);
}

/// Converts the node to the value that `recognise` gives. If `recognise` gives null,
/// because the node is not part of a known pattern, `convert` converts it.
template <Value (*recognise)(Conversion &), LogicalResult (*convert)(Conversion &)>
LogicalResult convertRecognised(Conversion &c) {
  if (Value recognised = recognise(c))
    return c.done(recognised);
  return convert(c);
}

/// Converts Min, Max, Sum and Mean of any number of operands: combines the operands from
/// left to right by `Op`.
template <typename Op> LogicalResult convertVariadic(Conversion &c) {
  SmallVector<Value> operands;
  for (unsigned i = 0; i < c.numOperands(); ++i)
    operands.push_back(c.operand(i));
  operands = c.broadcastTogether(operands);
  if (operands.empty())
    return failure();
  Value result = operands[0];
  for (Value next : ArrayRef<Value>(operands).drop_front())
    result = c.e.make<Op>(result, next);
  if (c.node.opType == "Mean")
    result = c.e.div(result, c.e.splatLike(result, c.numOperands()));
  return c.done(result);
}

/// Converts Max and Min. A Max may be a bounded logarithm (boundedLog), and a node with
/// two operands may be a clamp with one bound. In all other cases equal operands get
/// equal shares of the gradient.
template <typename Op> LogicalResult convertExtreme(Conversion &c) {
  if (Value bounded = boundedLog(c))
    return c.done(bounded);
  std::optional<ClampBounds> bounds = clampBounds(c);
  if (!bounds)
    return convertVariadic<Op>(c);
  SmallVector<Value> both = c.broadcastTogether({c.operand(0), c.operand(1)});
  if (both.empty())
    return failure();
  bool isMax = c.node.is("Max");
  return c.done(clampTo(c, both[0], isMax ? both[1] : Value(), isMax ? Value() : both[1], *bounds));
}

/// ln sigmoid(x) is -softplus(-x), which stays finite and has a slope even if
/// sigmoid(x) rounds to 0. PyTorch's exporters write log_sigmoid as a Log of a
/// Sigmoid.
LogicalResult convertLog(Conversion &c) {
  Value x = c.operand(0);
  if (auto sigmoid = x.getDefiningOp<nn::SigmoidOp>())
    return c.done(c.e.neg(c.e.make<nn::SoftplusOp>(c.e.neg(sigmoid.getInput()))));
  return c.done(c.e.log(x));
}

LogicalResult convertSqrt(Conversion &c) {
  Value x = c.operand(0);
  return c.done(isRootOfNorm(c) ? rootOfSquares(c, x) : c.e.sqrt(x));
}

LogicalResult convertReciprocal(Conversion &c) {
  Value x = c.operand(0);
  if (auto sqrt = x.getDefiningOp<nn::SqrtOp>())
    return c.done(c.e.rsqrt(sqrt.getInput()));
  return c.done(c.e.div(c.e.splatLike(x, 1), x));
}

/// Converts x^2 and x^3 to products, and x^0.5 to a square root. They are cheaper than a
/// power, and their gradients have no logarithm.
LogicalResult convertPow(Conversion &c) {
  Value base = c.operand(0), exponent = c.operand(1);
  if (auto known = c.tryDoubles(1);
      known && known->size() == 1 && rankOf(exponent) <= rankOf(base)) {
    double value = known->front();
    if (value == 1)
      return c.done(base);
    if (value == 2)
      return c.done(c.e.mul(base, base));
    if (value == 3)
      return c.done(c.e.mul(c.e.mul(base, base), base));
    bool isRoot = 0 < value && value < 1 && isFloatValue(base) && isRootOfNorm(c);
    auto power = [&](Value of) -> Value {
      return value == 0.5 ? c.e.sqrt(of) : Value(c.e.make<nn::PowOp>(of, c.exactLike(of, value)));
    };
    if (isRoot)
      return c.done(rootOfPowers(c, base, power));
    if (value == 0.5 && isFloatValue(base))
      return c.done(power(base));
  }
  exponent = c.e.convert(exponent, nn::typeOf(base).getElementType());
  SmallVector<Value> both = c.broadcastTogether({base, exponent});
  if (both.empty())
    return failure();
  return c.done(c.e.make<nn::PowOp>(both[0], both[1]));
}

LogicalResult convertMod(Conversion &c) {
  return c.intAttr("fmod") ? convertBinary<nn::RemOp>(c) : convertBinary<nn::ModOp>(c);
}

LogicalResult convertBitShift(Conversion &c) {
  std::string direction = c.stringAttr("direction");
  if (direction == "LEFT")
    return convertBinary<nn::ShiftLeftOp>(c);
  if (direction == "RIGHT")
    return convertBinary<nn::ShiftRightOp>(c);
  return c.error("direction '" + direction + "' is neither LEFT nor RIGHT");
}

LogicalResult convertClip(Conversion &c) {
  Value x = c.operand(0);
  auto bound = [&](unsigned i) -> Value {
    Value given = c.operand(i);
    if (nn::typeOf(given).getNumElements() != 1) {
      (void)c.error("bound has shape " + printed(shapeOf(given)) + " but must be a scalar");
      return {};
    }
    return c.broadcastTo(c.e.reshape(given, {}), shapeOf(x));
  };
  Value low = c.has(1) ? bound(1) : Value(), high = c.has(2) ? bound(2) : Value();
  if (c.failed)
    return failure();
  return c.done(clampTo(c, x, low, high, *clampBounds(c)));
}

LogicalResult convertWhere(Conversion &c) {
  SmallVector<Value> all = c.broadcastTogether({c.operand(0), c.operand(1), c.operand(2)});
  if (all.empty())
    return failure();
  return c.done(c.e.select(all[0], all[1], all[2]));
}

LogicalResult convertCast(Conversion &c) {
  int64_t to = c.intAttr("to");
  auto type = elementTypeOf(static_cast<int32_t>(to), "attribute 'to'");
  if (!type)
    return c.error(llvm::toString(type.takeError()));
  return c.done(c.e.convert(c.operand(0), c.elementType(*type)));
}

LogicalResult convertCastLike(Conversion &c) {
  return c.done(c.e.convert(c.operand(0), nn::typeOf(c.operand(1)).getElementType()));
}

LogicalResult convertIsInf(Conversion &c) {
  Value x = c.operand(0);
  bool positive = c.intAttr("detect_positive"), negative = c.intAttr("detect_negative");
  if (positive && negative)
    return c.done(
        c.e.make<nn::IsInfOp>(RankedTensorType::get(shapeOf(x), c.builder.getI1Type()), x));
  if (!positive && !negative)
    return c.done(c.e.splat(RankedTensorType::get(shapeOf(x), c.builder.getI1Type()), 0));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return c.done(c.e.compare(nn::Comparison::eq, x, positive ? infinity : -infinity));
}

LogicalResult convertIsNaN(Conversion &c) {
  Value x = c.operand(0);
  return c.done(c.e.make<nn::IsNanOp>(RankedTensorType::get(shapeOf(x), c.builder.getI1Type()), x));
}

} // namespace

void dpc::onnx::registerElementwiseOps(Registry &registry) {
  registry.add("Neg", convertUnary<nn::NegOp>);
  registry.add("Abs", convertUnary<nn::AbsOp>);
  registry.add("Sign", convertUnary<nn::SignOp>);
  registry.add("Exp", convertUnary<nn::ExpOp>);
  registry.add("Log", convertLog);
  registry.add("Sqrt", convertSqrt);
  registry.add("Erf", convertUnary<nn::ErfOp>);
  registry.add("Tanh", convertUnary<nn::TanhOp>);
  registry.add("Sin", convertUnary<nn::SinOp>);
  registry.add("Cos", convertUnary<nn::CosOp>);
  registry.add("Tan", convertUnary<nn::TanOp>);
  registry.add("Asin", convertUnary<nn::AsinOp>);
  registry.add("Acos", convertUnary<nn::AcosOp>);
  registry.add("Atan", convertUnary<nn::AtanOp>);
  registry.add("Sinh", convertUnary<nn::SinhOp>);
  registry.add("Cosh", convertUnary<nn::CoshOp>);
  registry.add("Asinh", convertUnary<nn::AsinhOp>);
  registry.add("Acosh", convertUnary<nn::AcoshOp>);
  registry.add("Atanh", convertUnary<nn::AtanhOp>);
  registry.add("Floor", convertRecognised<flooredMask, convertFloatUnary<nn::FloorOp>>);
  registry.add("Ceil", convertFloatUnary<nn::CeilOp>);
  registry.add("Round", convertFloatUnary<nn::RoundOp>);
  registry.add("Reciprocal", convertReciprocal);
  registry.add("IsNaN", convertIsNaN);
  registry.add("IsInf", convertIsInf);
  registry.add("Not", convertRecognised<negatedMask, convertUnary<nn::NotOp>>);
  registry.add("BitwiseNot", convertUnary<nn::NotOp>);
  registry.add("Cast", convertCast);
  registry.add("CastLike", convertCastLike);

  registry.add("Add", convertBinary<nn::AddOp>);
  registry.add("Sub", convertRecognised<remainingMask, convertBinary<nn::SubOp>>);
  registry.add("Mul", convertRecognised<multipliedMask, convertBinary<nn::MulOp>>);
  registry.add("Div", convertRecognised<dividedMask, convertBinary<nn::DivOp>>);
  registry.add("Pow", convertPow);
  registry.add("Mod", convertMod);
  registry.add("And", convertBinary<nn::AndOp>);
  registry.add("Or", convertBinary<nn::OrOp>);
  registry.add("Xor", convertBinary<nn::XorOp>);
  registry.add("BitwiseAnd", convertBinary<nn::AndOp>);
  registry.add("BitwiseOr", convertBinary<nn::OrOp>);
  registry.add("BitwiseXor", convertBinary<nn::XorOp>);
  registry.add("BitShift", convertBitShift);
  registry.add("Equal", convertComparison<nn::Comparison::eq>);
  registry.add("Less", convertOrder<nn::Comparison::lt>);
  registry.add("LessOrEqual", convertOrder<nn::Comparison::le>);
  registry.add("Greater", convertOrder<nn::Comparison::gt>);
  registry.add("GreaterOrEqual", convertOrder<nn::Comparison::ge>);
  registry.add("Max", convertExtreme<nn::MaxOp>);
  registry.add("Min", convertExtreme<nn::MinOp>);
  registry.add("Sum", convertVariadic<nn::AddOp>);
  registry.add("Mean", convertVariadic<nn::AddOp>);
  registry.add("Clip", convertClip);
  registry.add("Where", convertRecognised<chosenMask, convertWhere>);
}
