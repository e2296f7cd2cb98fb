// Interpreter rules of the elementwise ops.

#include "dialects/NN/IR/Elementwise.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Operands = ArrayRef<const HostTensor *>;
using Results = MutableArrayRef<HostTensor>;

template <typename Fn> static void mapFloats(Operands in, Results out, Fn fn) {
  for (size_t i = 0, e = out[0].floats.size(); i < e; ++i)
    out[0].floats[i] = fn(in[0]->floats[i]);
}

template <typename Fn> static void mapInts(Operands in, Results out, Fn fn) {
  for (size_t i = 0, e = out[0].ints.size(); i < e; ++i)
    out[0].ints[i] = fn(in[0]->ints[i]);
}

template <typename Fn> static void zipFloats(Operands in, Results out, Fn fn) {
  for (size_t i = 0, e = out[0].floats.size(); i < e; ++i)
    out[0].floats[i] = fn(in[0]->floats[i], in[1]->floats[i]);
}

template <typename Fn> static void zipInts(Operands in, Results out, Fn fn) {
  for (size_t i = 0, e = out[0].ints.size(); i < e; ++i)
    out[0].ints[i] = fn(in[0]->ints[i], in[1]->ints[i]);
}

#define FLOAT_RULE(OP, EXPRESSION)                                                                 \
  LogicalResult OP::interpret(InterpreterContext &, Operands in, Results out) {                    \
    mapFloats(in, out, [&](double x) -> double { return EXPRESSION; });                            \
    return success();                                                                              \
  }

FLOAT_RULE(ExpOp, std::exp(x))
FLOAT_RULE(LogOp, std::log(x))
FLOAT_RULE(Log1pOp, std::log1p(x))
FLOAT_RULE(SqrtOp, std::sqrt(x))
FLOAT_RULE(RsqrtOp, 1 / std::sqrt(x))
FLOAT_RULE(SinOp, std::sin(x))
FLOAT_RULE(CosOp, std::cos(x))
FLOAT_RULE(TanOp, std::tan(x))
FLOAT_RULE(AsinOp, std::asin(x))
FLOAT_RULE(AcosOp, std::acos(x))
FLOAT_RULE(AtanOp, std::atan(x))
FLOAT_RULE(SinhOp, std::sinh(x))
FLOAT_RULE(CoshOp, std::cosh(x))
FLOAT_RULE(TanhOp, std::tanh(x))
FLOAT_RULE(AsinhOp, std::asinh(x))
FLOAT_RULE(AcoshOp, std::acosh(x))
FLOAT_RULE(AtanhOp, std::atanh(x))
FLOAT_RULE(ErfOp, std::erf(x))
FLOAT_RULE(SigmoidOp, x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)))
FLOAT_RULE(SoftplusOp, std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))))
FLOAT_RULE(StopGradientOp, x)
FLOAT_RULE(FloorOp, std::floor(x))
FLOAT_RULE(CeilOp, std::ceil(x))
FLOAT_RULE(RoundOp, std::nearbyint(x))
FLOAT_RULE(GeluOp, getApproximation() == GeluApproximation::none
                       ? 0.5 * x * (1 + std::erf(x * M_SQRT1_2))
                       : 0.5 * x * (1 + std::tanh(std::sqrt(M_2_PI) * (x + 0.044715 * x * x * x))))
#undef FLOAT_RULE

#define UNARY_RULE(OP, FLOAT, INT)                                                                 \
  LogicalResult OP::interpret(InterpreterContext &, Operands in, Results out) {                    \
    if (out[0].isFloat())                                                                          \
      mapFloats(in, out, [](double x) -> double { return FLOAT; });                                \
    else                                                                                           \
      mapInts(in, out, [](int64_t x) -> int64_t { return INT; });                                  \
    return success();                                                                              \
  }

// Integers are negated as unsigned integers, because negating the least signed
// integer overflows.
UNARY_RULE(NegOp, -x, -static_cast<uint64_t>(x))
UNARY_RULE(AbsOp, std::abs(x), x < 0 ? -static_cast<uint64_t>(x) : x)
UNARY_RULE(SignOp, std::isnan(x) ? x : (x > 0) - (x < 0), (x > 0) - (x < 0))
// `x < 0` is false for NaN, so the result for NaN is NaN.
UNARY_RULE(ReluOp, x < 0 ? 0 : x, x < 0 ? 0 : x)
#undef UNARY_RULE

LogicalResult NotOp::interpret(InterpreterContext &, Operands in, Results out) {
  mapInts(in, out, [](int64_t x) { return ~x; });
  return success();
}

LogicalResult IsNanOp::interpret(InterpreterContext &, Operands in, Results out) {
  for (size_t i = 0, e = out[0].ints.size(); i < e; ++i)
    out[0].ints[i] = std::isnan(in[0]->floats[i]);
  return success();
}

LogicalResult IsInfOp::interpret(InterpreterContext &, Operands in, Results out) {
  for (size_t i = 0, e = out[0].ints.size(); i < e; ++i)
    out[0].ints[i] = std::isinf(in[0]->floats[i]);
  return success();
}

#define BINARY_RULE(OP, FLOAT, INT)                                                                \
  LogicalResult OP::interpret(InterpreterContext &, Operands in, Results out) {                    \
    if (out[0].isFloat())                                                                          \
      zipFloats(in, out, [](double x, double y) -> double { return FLOAT; });                      \
    else                                                                                           \
      zipInts(in, out, [](uint64_t x, uint64_t y) -> int64_t { return INT; });                     \
    return success();                                                                              \
  }

static double maxOf(double x, double y) {
  return std::isnan(x) ? x : std::isnan(y) ? y : std::max(x, y);
}
static double minOf(double x, double y) {
  return std::isnan(x) ? x : std::isnan(y) ? y : std::min(x, y);
}
static double floorMod(double x, double y) {
  double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

BINARY_RULE(AddOp, x + y, x + y)
BINARY_RULE(SubOp, x - y, x - y)
BINARY_RULE(MulOp, x *y, x *y)
#undef BINARY_RULE

/// Computes each element as `fn(x, y, isUnsigned)`, where `isUnsigned` says
/// whether the element type is unsigned. If `fn` returns null for a pair of
/// elements, fails with an error on `op`.
template <typename Fn>
static LogicalResult zipSigned(Operation *op, Operands in, Results out, Fn fn) {
  bool isUnsigned = out[0].getType().getElementType().isUnsignedInteger();
  for (size_t i = 0, e = out[0].ints.size(); i < e; ++i) {
    std::optional<int64_t> value = fn(in[0]->ints[i], in[1]->ints[i], isUnsigned);
    if (!value)
      return op->emitOpError("divides ") << in[0]->ints[i] << " by zero";
    out[0].ints[i] = *value;
  }
  return success();
}

LogicalResult DivOp::interpret(InterpreterContext &, Operands in, Results out) {
  if (out[0].isFloat()) {
    zipFloats(in, out, [](double x, double y) { return x / y; });
    return success();
  }
  return zipSigned(*this, in, out, [](int64_t x, int64_t y, bool isUnsigned) {
    if (y == 0)
      return std::optional<int64_t>();
    if (isUnsigned)
      return std::optional<int64_t>(uint64_t(x) / uint64_t(y));
    return std::optional<int64_t>(y == -1 ? -static_cast<uint64_t>(x) : x / y);
  });
}

LogicalResult RemOp::interpret(InterpreterContext &, Operands in, Results out) {
  if (out[0].isFloat()) {
    zipFloats(in, out, [](double x, double y) { return std::fmod(x, y); });
    return success();
  }
  return zipSigned(*this, in, out, [](int64_t x, int64_t y, bool isUnsigned) {
    if (y == 0)
      return std::optional<int64_t>();
    if (isUnsigned)
      return std::optional<int64_t>(uint64_t(x) % uint64_t(y));
    return std::optional<int64_t>(y == -1 ? 0 : x % y);
  });
}

LogicalResult ModOp::interpret(InterpreterContext &, Operands in, Results out) {
  if (out[0].isFloat()) {
    zipFloats(in, out, floorMod);
    return success();
  }
  return zipSigned(*this, in, out, [](int64_t x, int64_t y, bool isUnsigned) {
    if (y == 0)
      return std::optional<int64_t>();
    if (isUnsigned)
      return std::optional<int64_t>(uint64_t(x) % uint64_t(y));
    int64_t rest = y == -1 ? 0 : x % y;
    return std::optional<int64_t>(rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
  });
}

/// Computes x^y for integers by repeated squaring. A negative exponent gives 0,
/// except for the bases 1 and -1.
static int64_t powInt(int64_t x, int64_t y) {
  if (y < 0)
    return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  uint64_t base = x, result = 1;
  for (uint64_t e = y; e; e >>= 1, base *= base)
    if (e & 1)
      result *= base;
  return result;
}

LogicalResult PowOp::interpret(InterpreterContext &, Operands in, Results out) {
  if (out[0].isFloat())
    zipFloats(in, out, [](double x, double y) { return std::pow(x, y); });
  else
    zipInts(in, out, powInt);
  return success();
}

LogicalResult MaxOp::interpret(InterpreterContext &, Operands in, Results out) {
  if (out[0].isFloat()) {
    zipFloats(in, out, maxOf);
    return success();
  }
  return zipSigned(*this, in, out, [](int64_t x, int64_t y, bool isUnsigned) {
    bool less = isUnsigned ? uint64_t(x) < uint64_t(y) : x < y;
    return std::optional<int64_t>(less ? y : x);
  });
}

LogicalResult MinOp::interpret(InterpreterContext &, Operands in, Results out) {
  if (out[0].isFloat()) {
    zipFloats(in, out, minOf);
    return success();
  }
  return zipSigned(*this, in, out, [](int64_t x, int64_t y, bool isUnsigned) {
    bool less = isUnsigned ? uint64_t(x) < uint64_t(y) : x < y;
    return std::optional<int64_t>(less ? x : y);
  });
}

#define BITS_RULE(OP, EXPRESSION)                                                                  \
  LogicalResult OP::interpret(InterpreterContext &, Operands in, Results out) {                    \
    zipInts(in, out, [](uint64_t x, uint64_t y) -> int64_t { return EXPRESSION; });                \
    return success();                                                                              \
  }

BITS_RULE(AndOp, x &y)
BITS_RULE(OrOp, x | y)
BITS_RULE(XorOp, x ^ y)
BITS_RULE(ShiftLeftOp, y > 63 ? 0 : x << y)
#undef BITS_RULE

LogicalResult ShiftRightOp::interpret(InterpreterContext &, Operands in, Results out) {
  unsigned width = out[0].getType().getElementTypeBitWidth();
  uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;
  zipInts(in, out, [&](uint64_t x, uint64_t y) -> int64_t { return y > 63 ? 0 : (x & mask) >> y; });
  return success();
}

template <typename T> static bool compareValues(Comparison comparison, T x, T y) {
  switch (comparison) {
  case Comparison::eq:
    return x == y;
  case Comparison::ne:
    return x != y;
  case Comparison::lt:
    return x < y;
  case Comparison::le:
    return x <= y;
  case Comparison::gt:
    return x > y;
  case Comparison::ge:
    return x >= y;
  }
  return false;
}

LogicalResult CompareOp::interpret(InterpreterContext &, Operands in, Results out) {
  bool isUnsigned = in[0]->getType().getElementType().isUnsignedInteger();
  for (size_t i = 0, e = out[0].ints.size(); i < e; ++i) {
    if (in[0]->isFloat())
      out[0].ints[i] = compareValues(getComparison(), in[0]->floats[i], in[1]->floats[i]);
    else if (isUnsigned)
      out[0].ints[i] = compareValues<uint64_t>(getComparison(), in[0]->ints[i], in[1]->ints[i]);
    else
      out[0].ints[i] = compareValues(getComparison(), in[0]->ints[i], in[1]->ints[i]);
  }
  return success();
}

LogicalResult SelectOp::interpret(InterpreterContext &, Operands in, Results out) {
  for (int64_t i = 0, e = out[0].size(); i < e; ++i) {
    const HostTensor *from = in[0]->ints[i] ? in[1] : in[2];
    if (out[0].isFloat())
      out[0].floats[i] = from->floats[i];
    else
      out[0].ints[i] = from->ints[i];
  }
  return success();
}

LogicalResult ClampOp::interpret(InterpreterContext &, Operands in, Results out) {
  const bool isUnsigned = out[0].getType().getElementType().isUnsignedInteger();
  for (int64_t i = 0, e = out[0].size(); i < e; ++i) {
    if (out[0].isFloat())
      out[0].floats[i] = minOf(maxOf(in[0]->floats[i], in[1]->floats[i]), in[2]->floats[i]);
    else if (isUnsigned)
      out[0].ints[i] = std::min(std::max<uint64_t>(in[0]->ints[i], in[1]->ints[i]),
                                static_cast<uint64_t>(in[2]->ints[i]));
    else
      out[0].ints[i] = std::min(std::max(in[0]->ints[i], in[1]->ints[i]), in[2]->ints[i]);
  }
  return success();
}

LogicalResult ConvertOp::interpret(InterpreterContext &, Operands in, Results out) {
  bool toBool = out[0].getType().getElementType().isInteger(1);
  bool fromUnsigned = in[0]->getType().getElementType().isUnsignedInteger();
  for (int64_t i = 0, e = out[0].size(); i < e; ++i) {
    if (in[0]->isFloat()) {
      double x = in[0]->floats[i];
      if (out[0].isFloat())
        out[0].floats[i] = x;
      else if (toBool)
        out[0].ints[i] = x != 0;
      else // if int64_t cannot represent x, gives INT64_MIN, as x86's cvttsd2si
        out[0].ints[i] = std::abs(x) < 0x1p63 ? static_cast<int64_t>(x) : INT64_MIN;
      continue;
    }
    int64_t x = in[0]->ints[i];
    if (out[0].isFloat())
      out[0].floats[i] = fromUnsigned ? double(uint64_t(x)) : double(x);
    else
      out[0].ints[i] = toBool ? x != 0 : x;
  }
  return success();
}
