// Computes functions of f64. Exponentials, logarithms and sines are Taylor series
// of reduced arguments; the omitted terms are below half a unit in the last place.
// erf and the arctangent are rational functions from Cephes (Moshier: ndtr.c,
// atan.c). Selects handle arguments outside of the range of a formula, so that the
// code has no branches.

#include "targets/Loops/Math/DoubleFunctions.h"

#include "targets/Loops/Math/FloatBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dpc;

namespace {

const double infinity = std::numeric_limits<double>::infinity();
// ln 2 and pi / 2 as sums of several f64 (Cody and Waite). The first part of ln 2
// ends with zero bits, so that its product with an exponent is exact.
const double ln2High = 0x1.62e42feep-1, ln2Low = 0x1.a39ef35793c76p-33;
const double halfPi[] = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

struct Doubles : FloatBuilder {
  /// A number that is the sum high + low of two f64.
  struct Pair {
    Value high, low;
  };
  struct Reduced {
    Value rest, quadrant;
  };

  Value exp(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value tanh(Value x);
  Value sinh(Value x);
  Value cosh(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);
  Value erf(Value x);
  Value pow(Value x, Value y);
  Value sine(Value x, bool isCosine);
  Value tan(Value x);
  Value atan(Value x);
  Value asin(Value x);
  Value acos(Value x);

private:
  /// Computes an integer n and r with x = n ln 2 + r and |r| <= ln 2 / 2. Returns r, and
  /// n as the sum n + 1.5 * 2^52: the last bits of this f64 are n.
  std::pair<Value, Value> reduceExponent(Value x);
  /// e^r - 1 for an r that reduceExponent returned.
  Value expm1Inside(Value r);
  /// 2^n for an i64 n in [-1022, 1023].
  Value power(Value n) {
    return fromBits64(make<arith::ShLIOp>(make<arith::AddIOp>(n, i64(1023)), i64(52)));
  }
  /// The integer n in the last bits of n + 1.5 * 2^52 (reduceExponent).
  Value integer(Value shifted) { return make<arith::SubIOp>(bits64(shifted), bits64(d(0x1.8p52))); }
  /// Splits x > 0 into x = 2^e m with m in [sqrt 1/2, sqrt 2). Returns e and m,
  /// both as f64.
  std::pair<Value, Value> split(Value x);
  Pair logOf(Value x);
  Reduced reduceAngle(Value x);
  Value sineOf(Value r);
  Value cosineOf(Value r);
  Value angleIsSmall(Value x) { return is(Predicate::OLT, abs(x), d(0x1p50)); }
  Value clamp(Value x, double low, double high) {
    x = select(is(Predicate::OGT, x, d(high)), d(high), x);
    return select(is(Predicate::OLT, x, d(low)), d(low), x);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

std::pair<Value, Value> Doubles::reduceExponent(Value x) {
  Value shifted = fma(x, d(1.4426950408889634), d(0x1.8p52));
  Value n = sub(shifted, d(0x1.8p52));
  Value r = fma(n, d(-ln2High), x);
  return {shifted, fma(n, d(-ln2Low), r)};
}

Value Doubles::expm1Inside(Value r) {
  Value p = polynomial64(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                             1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                             1.0 / 6, 1.0 / 2});
  return fma(mul(r, r), p, r);
}

// e^x = 2^n e^r. The code multiplies by two powers of two, because 2^n alone may
// overflow or underflow.
Value Doubles::exp(Value x) {
  auto [shifted, r] = reduceExponent(clamp(x, -746, 710));
  Value n = integer(shifted), half = make<arith::ShRSIOp>(n, i64(1));
  Value rest = make<arith::SubIOp>(n, half);
  Value result = mul(mul(add(expm1Inside(r), d(1)), power(half)), power(rest));
  return select(is(Predicate::UNO, x, x), x, result);
}

// e^x - 1 = 2^n (e^r - 1) + (2^n - 1), for x up to 700.
Value Doubles::expm1(Value x) {
  auto [shifted, r] = reduceExponent(clamp(x, -40, 700));
  Value scale = power(integer(shifted));
  return fma(scale, expm1Inside(r), sub(scale, d(1)));
}

// With m = e^(2|x|) - 1, tanh |x| = m / (m + 2). For |x| from 19.1 on, tanh |x|
// rounds to 1.
Value Doubles::tanh(Value x) {
  Value size = clamp(abs(x), 0, 22), m = expm1(add(size, size));
  Value result = withSignOf(div(m, add(m, d(2))), x);
  return select(is(Predicate::UNO, x, x), x, result);
}

// With m = e^|x| - 1, sinh |x| = (m + m / (m + 1)) / 2. For |x| from 40 on, sinh
// |x| is e^|x| / 2. The code computes it as (e^(|x|/2))^2 / 2, because e^|x| may
// overflow.
Value Doubles::sinh(Value x) {
  Value size = abs(x), m = expm1(size);
  Value small = mul(d(0.5), add(m, div(m, add(m, d(1)))));
  Value root = exp(mul(d(0.5), size)), large = mul(mul(d(0.5), root), root);
  Value result = select(is(Predicate::OLT, size, d(40)), small, large);
  return select(is(Predicate::UNO, x, x), x, withSignOf(result, x));
}

Value Doubles::cosh(Value x) {
  Value size = abs(x), e = exp(size);
  Value small = mul(d(0.5), add(e, div(d(1), e)));
  Value root = exp(mul(d(0.5), size)), large = mul(mul(d(0.5), root), root);
  return select(is(Predicate::OLT, size, d(40)), small, large);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

std::pair<Value, Value> Doubles::split(Value x) {
  Value isSmall = is(Predicate::OLT, x, d(0x1p-1022));
  Value raw = bits64(select(isSmall, mul(x, d(0x1p54)), x));
  // The bits of x minus the bits of sqrt 1/2. The upper part of this difference is
  // the exponent.
  Value distance = make<arith::SubIOp>(raw, i64(0x3FE6A09E667F3BCD));
  Value exponent = make<arith::ShRSIOp>(distance, i64(52));
  Value m = fromBits64(make<arith::SubIOp>(raw, make<arith::ShLIOp>(exponent, i64(52))));
  Value e = make<arith::SIToFPOp>(like(b.getF64Type()), exponent);
  return {sub(e, select(isSmall, d(54), d(0))), m};
}

/// Coefficients of R as a polynomial in s^2, where s R = 2 s^3 / 3 + 2 s^5 / 5 + ..
/// is the series of 2 artanh s without its first term. ln m = 2 artanh s.
static const double artanh[] = {2.0 / 25, 2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15,
                                2.0 / 13, 2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3};

// ln x = e ln 2 + ln m, and with f = m - 1, s = f / (2 + f):
// ln m = f - (f^2 / 2 - s (f^2 / 2 + R)).
Value Doubles::log(Value x) {
  auto [e, m] = split(x);
  Value f = sub(m, d(1)), s = div(f, add(f, d(2))), z = mul(s, s);
  Value r = mul(z, polynomial64(z, artanh)), half = mul(mul(d(0.5), f), f);
  Value low = fma(s, add(half, r), mul(e, d(ln2Low)));
  Value result = sub(mul(e, d(ln2High)), sub(sub(half, low), f));
  result = select(is(Predicate::OEQ, x, d(0)), d(-infinity), result);
  result = select(is(Predicate::OLT, x, d(0)), d(NAN), result);
  // Return infinity and NaN unchanged.
  return select(is(Predicate::OLT, x, d(infinity)), result, x);
}

// ln(1 + x) = ln u + c / u. Here u is 1 + x rounded, and c is the rounding error of
// u.
Value Doubles::log1p(Value x) {
  Value u = add(x, d(1)), one = sub(u, x), rounded = sub(u, d(1));
  // Subtract the larger of 1 and x from u first. Then the differences are exact.
  Value lost = select(is(Predicate::OLT, abs(x), d(1)), sub(x, rounded), sub(d(1), one));
  Value isInside = both(is(Predicate::OGT, u, d(0)), is(Predicate::OLT, u, d(infinity)));
  Value result = add(log(u), select(isInside, div(lost, u), d(0)));
  // Return -0 for -0.
  return select(is(Predicate::OEQ, x, d(0)), x, result);
}

// With a = |x|, asinh a = ln(a + sqrt(a^2 + 1)). For a from 2^28 on, it is ln 2a.
Value Doubles::asinh(Value x) {
  Value a = abs(x), square = mul(a, a), root = sqrt(add(square, d(1)));
  Value small = log1p(add(a, div(square, add(root, d(1)))));
  Value large = add(log(a), d(0.6931471805599453));
  return withSignOf(select(is(Predicate::OLT, a, d(0x1p28)), small, large), x);
}

// With t = x - 1, acosh x = ln(1 + t + sqrt(2 t + t^2)).
Value Doubles::acosh(Value x) {
  Value t = sub(x, d(1)), root = sqrt(fma(t, t, add(t, t)));
  Value small = log1p(add(t, root)), large = add(log(x), d(0.6931471805599453));
  Value result = select(is(Predicate::OLT, x, d(0x1p28)), small, large);
  return select(is(Predicate::OLT, x, d(1)), d(NAN), result);
}

Value Doubles::atanh(Value x) {
  Value a = abs(x);
  Value result = mul(d(0.5), log1p(div(add(a, a), sub(d(1), a))));
  return withSignOf(result, x);
}

// ln x with a relative error of 2^-58. ln m = 2 s + s R, where s is a pair of two
// f64.
Doubles::Pair Doubles::logOf(Value x) {
  auto [e, m] = split(x);
  Value f = sub(m, d(1));
  Value below = add(m, d(1)), lost = sub(m, sub(below, d(1)));
  Value s = div(f, below);
  Value sLow = div(sub(fma(neg(s), below, f), mul(s, lost)), below);
  Value z = mul(s, s), r = mul(mul(s, z), polynomial64(z, artanh));
  Value whole = mul(e, d(ln2High)), twice = add(s, s);
  // Subtract the larger of `whole` and `twice` from the sum first. If e is 0,
  // `whole` is 0 and the sum is exact.
  Value high = add(whole, twice);
  Value isWhole = is(Predicate::OGT, abs(whole), abs(twice));
  Value error = select(isWhole, sub(twice, sub(high, whole)), sub(whole, sub(high, twice)));
  Value low = add(error, add(fma(e, d(ln2Low), add(sLow, sLow)), r));
  Value sum = add(high, low);
  return {sum, sub(low, sub(sum, high))};
}

// |x|^y = e^(y ln |x|). Selects handle the special cases of pow in IEEE 754.
Value Doubles::pow(Value x, Value y) {
  Value size = abs(x), isZero = is(Predicate::OEQ, size, d(0)),
        isInfinite = is(Predicate::OEQ, size, d(infinity));
  Pair log = logOf(size);
  Value high = mul(y, log.high);
  Value low = fma(y, log.low, fma(y, log.high, neg(high)));
  Value e = exp(high), result = fma(e, low, e);
  // Correct the power only if it is neither 0 nor infinite.
  Value isPlain = both(is(Predicate::OLT, abs(high), d(745)), is(Predicate::OLT, e, d(infinity)));
  result = select(isPlain, result, e);
  Value edge = select(is(Predicate::OGT, y, d(0)), d(0), d(infinity));
  result = select(isZero, edge, result);
  Value other = select(is(Predicate::OGT, y, d(0)), d(infinity), d(0));
  result = select(isInfinite, other, result);
  // If y is infinite and |x| is 1, y ln |x| would be NaN. Therefore selects handle
  // all infinite y.
  Value grows = is(Predicate::OGT, size, d(1));
  Value rises = make<arith::XOrIOp>(grows, is(Predicate::OLT, y, d(0)));
  Value isEndless = is(Predicate::OEQ, abs(y), d(infinity));
  result = select(isEndless, select(rises, d(infinity), d(0)), result);
  Value half = mul(y, d(0.5));
  Value isInteger = is(Predicate::OEQ, make<LLVM::FFloorOp>(y), y),
        isEven = is(Predicate::OEQ, make<LLVM::FFloorOp>(half), half);
  Value isNegative = make<arith::CmpIOp>(arith::CmpIPredicate::slt, bits64(x), i64(0));
  // If y is odd, the power has the sign of x.
  Value isOdd = both(isInteger, negated(isEven));
  result = select(both(isNegative, isOdd), neg(result), result);
  Value isBelow = both(is(Predicate::OLT, x, d(0)), negated(isInfinite));
  result = select(both(isBelow, negated(isInteger)), d(NAN), result);
  Value isOne = is(Predicate::OEQ, size, d(1));
  result = select(both(isOne, isEndless), d(1), result);
  result = select(is(Predicate::UNO, x, y), d(NAN), result);
  result = select(is(Predicate::OEQ, x, d(1)), d(1), result);
  return select(is(Predicate::OEQ, y, d(0)), d(1), result);
}

//===----------------------------------------------------------------------===//
// The error function
//===----------------------------------------------------------------------===//

// For |x| up to 1, erf x = x T(x^2) / U(x^2). For larger |x|, erf |x| = 1 -
// e^(-x^2) P(|x|) / Q(|x|), which rounds to 1 for |x| from 6 on.
Value Doubles::erf(Value x) {
  Value size = clamp(abs(x), 0, 6.5), square = mul(x, x);
  Value t =
      polynomial64(square, {9.60497373987051638749, 90.0260197203842689217, 2232.00534594684319226,
                            7003.32514112805075473, 55592.3013010394962768});
  Value u = polynomial64(square,
                         {1, 33.5617141647503099647, 521.357949780152679795, 4594.32382970980127987,
                          22629.0000613890934246, 49267.3942608635921086});
  Value p = polynomial64(
      size, {2.46196981473530512524e-10, 0.564189564831068821977, 7.46321056442269912687,
             48.6371970985681366614, 196.520832956077098242, 526.445194995477358631,
             934.528527171957607540, 1027.55188689515710272, 557.535335369399327526});
  Value q =
      polynomial64(size, {1, 13.2281951154744992508, 86.7072140885989742329, 354.937778887819891062,
                          975.708501743205489753, 1823.90916687909736289, 2246.33760818710981792,
                          1656.66309194161350182, 557.535340817727675546});
  Value large = sub(d(1), mul(exp(neg(mul(size, size))), div(p, q)));
  Value result = select(is(Predicate::OLE, size, d(1)), mul(x, div(t, u)), withSignOf(large, x));
  return select(is(Predicate::UNO, x, x), x, result);
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

// x = n pi/2 + r with |r| <= pi/4, for |x| below 2^50. For such x, the f64
// n + 1.5 * 2^52 is exact, and its last bits are n.
Doubles::Reduced Doubles::reduceAngle(Value x) {
  Value shifted = fma(x, d(0.63661977236758134), d(0x1.8p52));
  Value n = sub(shifted, d(0x1.8p52)), r = x;
  for (double part : halfPi)
    r = fma(n, d(-part), r);
  return {r, bits64(shifted)};
}

Value Doubles::sineOf(Value r) {
  Value z = mul(r, r);
  Value p = polynomial64(z, {1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800,
                             -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6});
  return fma(mul(p, z), r, r);
}

Value Doubles::cosineOf(Value r) {
  Value z = mul(r, r);
  Value p = polynomial64(z, {1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
                             -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -1.0 / 2});
  return fma(p, z, d(1));
}

Value Doubles::sine(Value x, bool isCosine) {
  Reduced angle = reduceAngle(x);
  Value quadrant = angle.quadrant;
  if (isCosine)
    quadrant = make<arith::AddIOp>(quadrant, i64(1));
  Value result = select(has(quadrant, 1), cosineOf(angle.rest), sineOf(angle.rest));
  result = select(has(quadrant, 2), neg(result), result);
  if (!isCosine) // sin(-0) is -0
    result = select(is(Predicate::OEQ, x, d(0)), x, result);
  return select(angleIsSmall(x), result, d(NAN));
}

Value Doubles::tan(Value x) {
  Reduced angle = reduceAngle(x);
  Value s = sineOf(angle.rest), c = cosineOf(angle.rest), isTurned = has(angle.quadrant, 1);
  Value result = div(select(isTurned, neg(c), s), select(isTurned, s, c));
  result = select(is(Predicate::OEQ, x, d(0)), x, result);
  return select(angleIsSmall(x), result, d(NAN));
}

// For |x| above tan 3pi/8, atan |x| = pi/2 - atan(1/|x|). For smaller |x| above
// 0.66, atan |x| = pi/4 + atan((|x| - 1) / (|x| + 1)).
Value Doubles::atan(Value x) {
  Value size = abs(x), isLarge = is(Predicate::OGT, size, d(2.414213562373095)),
        isMiddle = both(is(Predicate::OGT, size, d(0.66)), negated(isLarge));
  Value r = select(isMiddle, div(sub(size, d(1)), add(size, d(1))), size);
  r = select(isLarge, div(d(-1), size), r);
  Value start = select(isMiddle, d(halfPi[0] / 2), d(0)),
        more = select(isMiddle, d(halfPi[1] / 2), d(0));
  start = select(isLarge, d(halfPi[0]), start);
  more = select(isLarge, d(halfPi[1]), more);
  Value z = mul(r, r);
  Value p = polynomial64(z, {-0.8750608600031904122785, -16.15753718733365076637,
                             -75.00855792314704667340, -122.8866684490136173410,
                             -64.85021904942025371773});
  Value q =
      polynomial64(z, {1, 24.85846490142306297962, 165.0270098316988542046, 432.8810604912902668951,
                       485.3903996359136964868, 194.5506571482613964425});
  Value rest = fma(mul(z, div(p, q)), r, r);
  return withSignOf(add(start, add(rest, more)), x);
}

Value Doubles::asin(Value x) {
  Value below = sqrt(mul(sub(d(1), x), add(d(1), x)));
  return select(is(Predicate::OEQ, x, d(0)), x, atan(div(x, below)));
}

Value Doubles::acos(Value x) {
  Value half = atan(sqrt(div(sub(d(1), x), add(d(1), x))));
  return add(half, half);
}

//===----------------------------------------------------------------------===//

Value dpc::emitDoubleFunction(OpBuilder &builder, Operation *op, ValueRange operands) {
  Value x = operands[0];
  Doubles e{{builder, op->getLoc(), x.getType()}};
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return e.exp(x); })
      .Case([&](math::LogOp) { return e.log(x); })
      .Case([&](math::Log1pOp) { return e.log1p(x); })
      .Case([&](math::TanhOp) { return e.tanh(x); })
      .Case([&](math::SinhOp) { return e.sinh(x); })
      .Case([&](math::CoshOp) { return e.cosh(x); })
      .Case([&](math::AsinhOp) { return e.asinh(x); })
      .Case([&](math::AcoshOp) { return e.acosh(x); })
      .Case([&](math::AtanhOp) { return e.atanh(x); })
      .Case([&](math::ErfOp) { return e.erf(x); })
      .Case([&](math::PowFOp) { return e.pow(x, operands[1]); })
      .Case([&](math::SinOp) { return e.sine(x, false); })
      .Case([&](math::CosOp) { return e.sine(x, true); })
      .Case([&](math::TanOp) { return e.tan(x); })
      .Case([&](math::AtanOp) { return e.atan(x); })
      .Case([&](math::AsinOp) { return e.asin(x); })
      .Case([&](math::AcosOp) { return e.acos(x); })
      .Default([](Operation *) { return Value(); });
}

Value dpc::emitDoubleFunction(OpBuilder &builder, Operation *op) {
  return emitDoubleFunction(builder, op, op->getOperands());
}
