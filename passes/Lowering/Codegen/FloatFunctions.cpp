// Polynomials from Cephes (Moshier), erf from N. Juffa's erff. Arguments are
// reduced with fused multiply-adds; whatever lies outside of a polynomial's
// range is chosen by selects, so that the code has no branches.

#include "passes/Lowering/Codegen/FloatFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dpc;

namespace {
using Predicate = arith::CmpFPredicate;

struct Floats {
  OpBuilder &b;
  Location loc;

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return b.create<Op>(loc, std::forward<Args>(args)...);
  }
  Value f(float value) {
    return make<arith::ConstantOp>(b.getF32FloatAttr(value));
  }
  Value i(int32_t value) {
    return make<arith::ConstantOp>(b.getI32IntegerAttr(value));
  }
  Value add(Value x, Value y) { return make<arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return make<arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return make<arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return make<arith::DivFOp>(x, y); }
  Value fma(Value x, Value y, Value z) { return make<LLVM::FMAOp>(x, y, z); }
  Value abs(Value x) { return make<LLVM::FAbsOp>(x); }
  Value is(Predicate predicate, Value x, Value y) {
    return make<arith::CmpFOp>(predicate, x, y);
  }
  Value select(Value c, Value x, Value y) {
    return make<arith::SelectOp>(c, x, y);
  }
  Value bits(Value x) { return make<arith::BitcastOp>(b.getI32Type(), x); }
  Value fromBits(Value x) { return make<arith::BitcastOp>(b.getF32Type(), x); }
  /// Coefficients from the highest power on.
  Value polynomial(Value x, std::initializer_list<float> coefficients) {
    Value sum;
    for (float coefficient : coefficients)
      sum = sum ? fma(sum, x, f(coefficient)) : f(coefficient);
    return sum;
  }
  Value withSignOf(Value magnitude, Value x) {
    return make<LLVM::CopySignOp>(magnitude, x);
  }

  Value exp(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value tanh(Value x);
  Value erf(Value x);
};
} // namespace

static const float infinity = std::numeric_limits<float>::infinity();

// e^x = 2^n e^r with |r| <= ln 2 / 2; adding 1.5 * 2^23 rounds to n. The
// exponent of e^r is raised by n in the integers.
Value Floats::exp(Value x) {
  Value shifted = fma(x, f(1.44269504f), f(12582912.0f));
  Value n = sub(shifted, f(12582912.0f));
  Value r = fma(n, f(-0.693359375f), x);
  r = fma(n, f(2.12194440e-4f), r);
  Value p =
      polynomial(r, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                     4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f});
  p = add(fma(p, mul(r, r), r), f(1));
  Value power = make<arith::ShLIOp>(bits(shifted), i(23));
  Value result = fromBits(make<arith::AddIOp>(bits(p), power));
  result = select(is(Predicate::OGT, x, f(88.7228317f)), f(infinity), result);
  result = select(is(Predicate::OLT, x, f(-87.3365402f)), f(0), result);
  return select(is(Predicate::UNO, x, x), x, result);
}

// x = 2^e m with m in [sqrt 1/2, sqrt 2).
Value Floats::log(Value x) {
  Value isSmall = is(Predicate::OLT, x, f(1.17549435e-38f));
  Value scaled = select(isSmall, mul(x, f(8388608.0f)), x);
  Value raw = bits(scaled);
  // Counted from sqrt 1/2, whose bits these are.
  Value distance = make<arith::SubIOp>(raw, i(0x3F3504F3));
  Value exponent = make<arith::ShRSIOp>(distance, i(23));
  Value m =
      fromBits(make<arith::SubIOp>(raw, make<arith::ShLIOp>(exponent, i(23))));
  Value e = make<arith::SIToFPOp>(b.getF32Type(), exponent);
  e = add(e, select(isSmall, f(-23), f(0)));
  Value r = sub(m, f(1)), z = mul(r, r);
  Value p =
      polynomial(r, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
                     -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                     2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
  Value y = mul(p, mul(r, z));
  y = fma(e, f(-2.12194440e-4f), y);
  y = fma(z, f(-0.5f), y);
  Value result = fma(e, f(0.693359375f), add(r, y));
  result = select(is(Predicate::OEQ, x, f(0)), f(-infinity), result);
  result = select(is(Predicate::OLT, x, f(0)), f(NAN), result);
  // Infinity and NaN as they are.
  return select(is(Predicate::OLT, x, f(infinity)), result, x);
}

// ln(1 + x) = ln u + c / u, with u = 1 + x rounded and c what rounding lost.
Value Floats::log1p(Value x) {
  Value u = add(x, f(1)), lost = sub(x, sub(u, f(1)));
  Value isInside = make<arith::AndIOp>(is(Predicate::OGT, u, f(0)),
                                       is(Predicate::OLT, u, f(infinity)));
  return add(log(u), select(isInside, div(lost, u), f(0)));
}

Value Floats::tanh(Value x) {
  Value z = mul(x, x);
  Value p =
      polynomial(z, {-5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f,
                     1.33314422036e-1f, -3.33332819422e-1f});
  Value small = fma(mul(p, z), x, x), size = abs(x);
  Value large = sub(f(1), div(f(2), add(exp(add(size, size)), f(1))));
  return select(is(Predicate::OLT, size, f(0.625f)), small,
                withSignOf(large, x));
}

Value Floats::erf(Value x) {
  Value t = abs(x), s = mul(x, x);
  Value high = fma(f(-1.72853470e-5f), t, f(3.83197126e-4f)),
        low = fma(f(-3.88396438e-3f), t, f(2.42546219e-2f));
  Value r = fma(high, s, low);
  for (float coefficient : {-1.06777877e-1f, -6.34846687e-1f, -1.28717512e-1f})
    r = fma(r, t, f(coefficient));
  r = fma(r, t, make<arith::NegFOp>(t));
  Value large = withSignOf(sub(f(1), exp(r)), x);
  Value p = polynomial(s, {-5.96761703e-4f, 4.99119423e-3f, -2.67681349e-2f,
                           1.12819925e-1f, -3.76125336e-1f, 1.28379166e-1f});
  return select(is(Predicate::OGT, t, f(0.921875f)), large, fma(p, x, x));
}

Value dpc::emitFloatFunction(OpBuilder &builder, Operation *op) {
  Floats e{builder, op->getLoc()};
  Value x = op->getOperand(0);
  if (isa<math::ExpOp>(op))
    return e.exp(x);
  if (isa<math::LogOp>(op))
    return e.log(x);
  if (isa<math::Log1pOp>(op))
    return e.log1p(x);
  if (isa<math::TanhOp>(op))
    return e.tanh(x);
  if (isa<math::ErfOp>(op))
    return e.erf(x);
  return Value();
}
