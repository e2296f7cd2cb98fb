// Computes functions of f32 by polynomials from Cephes (Moshier), and erf as in N.
// Juffa's erff. Arguments are reduced with fused multiply-adds. Selects handle
// arguments outside of the range of a polynomial, so that the code has no branches.
// Powers, sines and cosines are computed in f64 by Taylor series, and rounded.

#include "targets/Loops/Math/FloatFunctions.h"

#include "targets/Loops/Math/FloatBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dpc;

namespace {
struct Floats : FloatBuilder {
  Value f(float value) { return constant(b.getF32FloatAttr(value)); }
  Value i(int32_t value) { return constant(b.getI32IntegerAttr(value)); }
  Value bits(Value x) { return make<arith::BitcastOp>(like(b.getI32Type()), x); }
  Value fromBits(Value x) { return make<arith::BitcastOp>(like(b.getF32Type()), x); }
  /// A polynomial in f32. `coefficients` begins with the coefficient of the highest
  /// power.
  Value polynomial(Value x, std::initializer_list<float> coefficients) {
    Value sum;
    for (float coefficient : coefficients)
      sum = sum ? fma(sum, x, f(coefficient)) : f(coefficient);
    return sum;
  }

  Value exp(Value x);
  Value expInside(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value pow(Value x, Value y);
  Value sine(Value x, bool isCosine);

  Value wide(Value x) { return make<arith::ExtFOp>(like(b.getF64Type()), x); }
  Value rounded(Value x) { return make<arith::TruncFOp>(like(b.getF32Type()), x); }
  Value log2Of(Value x);
  Value exp2Of(Value x);
};
} // namespace

static const float infinity = std::numeric_limits<float>::infinity();

// e^x = 2^n e^r with |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to the integer n. An
// integer addition to the bits of e^r adds n to its exponent. Needs: e^x is a
// normal number.
Value Floats::expInside(Value x) {
  Value shifted = fma(x, f(1.44269504f), f(12582912.0f));
  Value n = sub(shifted, f(12582912.0f));
  Value r = fma(n, f(-0.693359375f), x);
  r = fma(n, f(2.12194440e-4f), r);
  Value p = polynomial(r, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                           1.6666665459e-1f, 5.0000001201e-1f});
  p = add(fma(p, mul(r, r), r), f(1));
  Value power = make<arith::ShLIOp>(bits(shifted), i(23));
  return fromBits(make<arith::AddIOp>(bits(p), power));
}

Value Floats::exp(Value x) {
  Value result = expInside(x);
  result = select(is(Predicate::OLT, x, f(-87.3365402f)), f(0), result);
  // For a large x, x + infinity is infinity; for NaN, it is NaN.
  return select(is(Predicate::UGT, x, f(88.7228317f)), add(x, f(infinity)), result);
}

// x = 2^e m with m in [sqrt 1/2, sqrt 2).
Value Floats::log(Value x) {
  Value isSmall = is(Predicate::OLT, x, f(1.17549435e-38f));
  Value scaled = select(isSmall, mul(x, f(8388608.0f)), x);
  Value raw = bits(scaled);
  // The bits of x minus the bits of sqrt 1/2. The upper part of this difference is
  // the exponent.
  Value distance = make<arith::SubIOp>(raw, i(0x3F3504F3));
  Value exponent = make<arith::ShRSIOp>(distance, i(23));
  Value m = fromBits(make<arith::SubIOp>(raw, make<arith::ShLIOp>(exponent, i(23))));
  Value e = make<arith::SIToFPOp>(like(b.getF32Type()), exponent);
  e = add(e, select(isSmall, f(-23), f(0)));
  Value r = sub(m, f(1)), z = mul(r, r);
  Value p = polynomial(r, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f,
                           1.4249322787e-1f, -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f,
                           3.3333331174e-1f});
  Value y = mul(p, mul(r, z));
  y = fma(e, f(-2.12194440e-4f), y);
  y = fma(z, f(-0.5f), y);
  Value result = fma(e, f(0.693359375f), add(r, y));
  result = select(is(Predicate::OEQ, x, f(0)), f(-infinity), result);
  result = select(is(Predicate::OLT, x, f(0)), f(NAN), result);
  // Return infinity and NaN unchanged.
  return select(is(Predicate::OLT, x, f(infinity)), result, x);
}

// ln(1 + x) = ln u + c / u. Here u is 1 + x rounded, and c is the rounding error of
// u.
Value Floats::log1p(Value x) {
  Value u = add(x, f(1)), lost = sub(x, sub(u, f(1)));
  Value isInside =
      make<arith::AndIOp>(is(Predicate::OGT, u, f(0)), is(Predicate::OLT, u, f(infinity)));
  return add(log(u), select(isInside, div(lost, u), f(0)));
}

Value Floats::tanh(Value x) {
  Value z = mul(x, x);
  Value p = polynomial(z, {-5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f,
                           1.33314422036e-1f, -3.33332819422e-1f});
  Value small = fma(mul(p, z), x, x), size = abs(x);
  // For |x| from 9.02 on, tanh |x| is 1 in f32.
  Value cut = select(is(Predicate::OGT, size, f(10)), f(10), size);
  Value large = sub(f(1), div(f(2), add(expInside(add(cut, cut)), f(1))));
  // For NaN the comparison is false, so the result is that of the polynomial: NaN.
  return select(is(Predicate::OGE, size, f(0.625f)), withSignOf(large, x), small);
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
  Value p = polynomial(s, {-5.96761703e-4f, 4.99119423e-3f, -2.67681349e-2f, 1.12819925e-1f,
                           -3.76125336e-1f, 1.28379166e-1f});
  return select(is(Predicate::OGT, t, f(0.921875f)), large, fma(p, x, x));
}

// log2 of an f64 x > 0 that was converted from f32. x = 2^e m with m in [sqrt 1/2,
// sqrt 2), and ln m = 2 artanh((m-1)/(m+1)).
Value Floats::log2Of(Value x) {
  Value raw = bits64(x);
  // The bits of x minus the bits of sqrt 1/2, of which only the upper half is used.
  Value distance = make<arith::SubIOp>(raw, i64(0x3FE6A09E00000000));
  Value exponent = make<arith::ShRSIOp>(distance, i64(52));
  Value m = fromBits64(make<arith::SubIOp>(raw, make<arith::ShLIOp>(exponent, i64(52))));
  Value e = make<arith::SIToFPOp>(like(b.getF64Type()),
                                  make<arith::TruncIOp>(like(b.getI32Type()), exponent));
  Value s = div(sub(m, d(1)), add(m, d(1))), z = mul(s, s);
  Value p = polynomial64(
      z, {1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0});
  const double twoOverLn2 = 2.8853900817779268;
  return fma(mul(s, p), d(twoOverLn2), e);
}

// 2^x for an f64 x, clamped to [-1000, 1000].
Value Floats::exp2Of(Value x) {
  Value cut = select(is(Predicate::OGT, x, d(1000)), d(1000), x);
  cut = select(is(Predicate::OLT, cut, d(-1000)), d(-1000), cut);
  Value shifted = add(cut, d(0x1.8p52));
  Value r = mul(sub(cut, sub(shifted, d(0x1.8p52))), d(0.6931471805599453));
  Value p = polynomial64(r, {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                             1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1.0, 1.0});
  Value power = make<arith::ShLIOp>(bits64(shifted), i64(52));
  Value result = fromBits64(make<arith::AddIOp>(bits64(p), power));
  return select(is(Predicate::UNO, x, x), x, result);
}

// |x|^y = 2^(y log2 |x|). Selects handle the special cases of pow in IEEE 754.
Value Floats::pow(Value x, Value y) {
  Value size = abs(x), isZero = is(Predicate::OEQ, size, f(0)),
        isInfinite = is(Predicate::OEQ, size, f(infinity));
  Value log = log2Of(wide(size));
  log = select(isZero, d(-infinity), log);
  log = select(isInfinite, d(infinity), log);
  log = select(is(Predicate::UNO, x, x), d(NAN), log);
  Value result = rounded(exp2Of(mul(wide(y), log)));
  Value half = mul(y, f(0.5f));
  Value isInteger = is(Predicate::OEQ, make<LLVM::FFloorOp>(y), y),
        isEven = is(Predicate::OEQ, make<LLVM::FFloorOp>(half), half);
  Value isNegative = make<arith::CmpIOp>(arith::CmpIPredicate::slt, bits(x), i(0));
  // If y is odd, the power has the sign of x.
  Value isOdd = both(isInteger, negated(isEven));
  result = select(both(isNegative, isOdd), make<arith::NegFOp>(result), result);
  Value isBelow = both(is(Predicate::OLT, x, f(0)), negated(isInfinite));
  result = select(both(isBelow, negated(isInteger)), f(NAN), result);
  Value isOne = is(Predicate::OEQ, x, f(1)),
        isPlain = both(is(Predicate::OEQ, size, f(1)), is(Predicate::OEQ, abs(y), f(infinity)));
  result = select(isOne, f(1), result);
  result = select(isPlain, f(1), result);
  return select(is(Predicate::OEQ, y, f(0)), f(1), result);
}

// x = n pi/2 + r with |r| <= pi/4, where pi/2 is a sum of two f64 (Cody and Waite).
// For |x| from 2^50 on, neighbouring f32 differ by many periods, so the result is
// NaN.
Value Floats::sine(Value argument, bool isCosine) {
  Value x = wide(argument);
  Value shifted = fma(x, d(0.63661977236758134), d(0x1.8p52));
  Value n = sub(shifted, d(0x1.8p52));
  Value r = fma(n, d(-1.5707963267948966), x);
  r = fma(n, d(-6.123233995736766e-17), r);
  Value z = mul(r, r);
  Value sinR = polynomial64(z, {1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6});
  sinR = fma(mul(sinR, z), r, r);
  Value cosR = polynomial64(z, {-1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -1.0 / 2, 1.0});
  Value quadrant = bits64(shifted);
  if (isCosine)
    quadrant = make<arith::AddIOp>(quadrant, i64(1));
  Value result = select(has(quadrant, 1), cosR, sinR);
  result = select(has(quadrant, 2), make<arith::NegFOp>(result), result);
  if (!isCosine) // sin(-0) is -0
    result = select(is(Predicate::OEQ, x, d(0)), x, result);
  Value isSmall = is(Predicate::OLT, make<LLVM::FAbsOp>(x), d(0x1p50));
  return rounded(select(isSmall, result, d(NAN)));
}

Value dpc::emitFloatFunction(OpBuilder &builder, Operation *op) {
  Floats e{{builder, op->getLoc(), op->getResult(0).getType()}};
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
  if (isa<math::PowFOp>(op))
    return e.pow(x, op->getOperand(1));
  if (isa<math::SinOp, math::CosOp>(op))
    return e.sine(x, isa<math::CosOp>(op));
  return Value();
}
