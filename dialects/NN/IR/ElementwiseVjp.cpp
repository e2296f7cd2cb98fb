// Vector-Jacobian products of the elementwise ops.

#include "dialects/NN/IR/Expressions.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define VJP(OP)                                                                                    \
  LogicalResult OP::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,                      \
                             ArrayRef<bool> wanted, MutableArrayRef<Value> grads)

/// Defines the VJP of a unary op: the gradient of its operand is `EXPRESSION`,
/// which may use g (the gradient of the result), x (the operand) and y (the
/// result).
#define UNARY_VJP(OP, EXPRESSION)                                                                  \
  VJP(OP) {                                                                                        \
    Expressions e{builder, getLoc()};                                                              \
    Value g = resultGrads[0], x = getInput(), y = getResult();                                     \
    (void)e, (void)g, (void)x, (void)y;                                                            \
    if (wanted[0])                                                                                 \
      grads[0] = EXPRESSION;                                                                       \
    return success();                                                                              \
  }

UNARY_VJP(NegOp, e.neg(g))
UNARY_VJP(AbsOp, e.mul(g, e.make<SignOp>(x)))
UNARY_VJP(ReluOp, e.select(e.compare(Comparison::gt, x, 0.0), g, e.splatLike(g, 0)))
UNARY_VJP(ExpOp, e.mul(g, y))
UNARY_VJP(LogOp, e.div(g, x))
UNARY_VJP(Log1pOp, e.div(g, e.add(x, 1.0)))
UNARY_VJP(SqrtOp, e.div(g, e.mul(y, 2.0)))
UNARY_VJP(RsqrtOp, e.mul(g, e.div(y, e.mul(x, -2.0))))
UNARY_VJP(SinOp, e.mul(g, e.make<CosOp>(x)))
UNARY_VJP(CosOp, e.neg(e.mul(g, e.make<SinOp>(x))))
UNARY_VJP(TanOp, e.mul(g, e.add(e.mul(y, y), 1.0)))
UNARY_VJP(AsinOp, e.mul(g, e.rsqrt(e.sub(e.splatLike(x, 1), e.mul(x, x)))))
UNARY_VJP(AcosOp, e.neg(e.mul(g, e.rsqrt(e.sub(e.splatLike(x, 1), e.mul(x, x))))))
UNARY_VJP(AtanOp, e.div(g, e.add(e.mul(x, x), 1.0)))
UNARY_VJP(SinhOp, e.mul(g, e.make<CoshOp>(x)))
UNARY_VJP(CoshOp, e.mul(g, e.make<SinhOp>(x)))
UNARY_VJP(TanhOp, e.mul(g, e.sub(e.splatLike(y, 1), e.mul(y, y))))
UNARY_VJP(AsinhOp, e.mul(g, e.rsqrt(e.add(e.mul(x, x), 1.0))))
UNARY_VJP(AcoshOp, e.mul(g, e.rsqrt(e.add(e.mul(x, x), -1.0))))
UNARY_VJP(AtanhOp, e.div(g, e.sub(e.splatLike(x, 1), e.mul(x, x))))
UNARY_VJP(ErfOp, e.mul(g, e.mul(e.exp(e.neg(e.mul(x, x))), M_2_SQRTPI)))
UNARY_VJP(SigmoidOp, e.mul(g, e.mul(y, e.sub(e.splatLike(y, 1), y))))
UNARY_VJP(SoftplusOp, e.mul(g, e.make<SigmoidOp>(x)))
// These functions are piecewise constant, so their gradient is zero wherever it
// exists.
UNARY_VJP(SignOp, Value())
UNARY_VJP(FloorOp, Value())
UNARY_VJP(CeilOp, Value())
UNARY_VJP(RoundOp, Value())
// The op exists to stop gradients.
UNARY_VJP(StopGradientOp, Value())

VJP(GeluOp) {
  Expressions e{builder, getLoc()};
  Value g = resultGrads[0], x = getInput();
  if (!wanted[0])
    return success();
  if (getApproximation() == GeluApproximation::none) {
    // Phi(x) + x phi(x)
    Value phi = e.mul(e.exp(e.mul(e.mul(x, x), -0.5)), M_2_SQRTPI * M_SQRT1_2 * 0.5);
    Value cdf = e.mul(e.add(e.make<ErfOp>(e.mul(x, M_SQRT1_2)), 1.0), 0.5);
    grads[0] = e.mul(g, e.add(cdf, e.mul(x, phi)));
    return success();
  }
  // With t = tanh(u), u = c (x + a x^3): 0.5 (1 + t) + 0.5 x (1 - t^2) c (1 + 3 a
  // x^2)
  const double c = std::sqrt(M_2_PI), a = 0.044715;
  Value square = e.mul(x, x);
  Value u = e.mul(e.mul(x, e.add(e.mul(square, a), 1.0)), c);
  Value t = e.make<TanhOp>(u);
  Value slope = e.mul(e.add(e.mul(square, 3 * a), 1.0), 0.5 * c);
  Value inner = e.mul(e.mul(x, e.sub(e.splatLike(t, 1), e.mul(t, t))), slope);
  grads[0] = e.mul(g, e.add(e.mul(e.add(t, 1.0), 0.5), inner));
  return success();
}

VJP(AddOp) {
  grads[0] = grads[1] = resultGrads[0];
  return success();
}

VJP(SubOp) {
  Expressions e{builder, getLoc()};
  grads[0] = resultGrads[0];
  if (wanted[1])
    grads[1] = e.neg(resultGrads[0]);
  return success();
}

VJP(MulOp) {
  Expressions e{builder, getLoc()};
  if (wanted[0])
    grads[0] = e.mul(resultGrads[0], getRhs());
  if (wanted[1])
    grads[1] = e.mul(resultGrads[0], getLhs());
  return success();
}

VJP(DivOp) {
  Expressions e{builder, getLoc()};
  Value quotient = e.div(resultGrads[0], getRhs());
  if (wanted[0])
    grads[0] = quotient;
  if (wanted[1])
    grads[1] = e.neg(e.mul(quotient, getResult()));
  return success();
}

VJP(PowOp) {
  Expressions e{builder, getLoc()};
  Value g = resultGrads[0], x = getLhs(), y = getRhs();
  if (wanted[0]) {
    Value slope = e.mul(y, e.make<PowOp>(x, e.add(y, -1.0)));
    grads[0] = e.mul(g, e.select(e.compare(Comparison::eq, y, 0.0), e.splatLike(y, 0), slope));
  }
  if (wanted[1]) {
    // For x = 0 and y >= 0 the slope in y is defined as 0, because x^y ln x would
    // be NaN or infinite.
    Value flat =
        e.make<AndOp>(e.compare(Comparison::eq, x, 0.0), e.compare(Comparison::ge, y, 0.0));
    Value slope = e.mul(getResult(), e.log(x));
    grads[1] = e.mul(g, e.select(flat, e.splatLike(y, 0), slope));
  }
  return success();
}

/// Gradients of max or min: g goes to the operand for which `wins` holds. If the
/// operands are equal, each gets half of g.
static void splitBetween(Expressions e, Value g, Value x, Value y, Comparison wins,
                         ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  Value zero = e.splatLike(g, 0), half = e.mul(g, 0.5);
  Value equal = e.compare(Comparison::eq, x, y);
  if (wanted[0])
    grads[0] = e.select(equal, half, e.select(e.compare(wins, x, y), g, zero));
  if (wanted[1])
    grads[1] = e.select(equal, half, e.select(e.compare(wins, y, x), g, zero));
}

VJP(MaxOp) {
  splitBetween({builder, getLoc()}, resultGrads[0], getLhs(), getRhs(), Comparison::gt, wanted,
               grads);
  return success();
}

VJP(MinOp) {
  splitBetween({builder, getLoc()}, resultGrads[0], getLhs(), getRhs(), Comparison::lt, wanted,
               grads);
  return success();
}

/// The gradient of a remainder r = x - y q with respect to y is -q g, with the
/// integer quotient q = (x - r) / y.
static Value remainderSlope(Expressions e, Value g, Value x, Value y, Value remainder) {
  Value quotient = e.make<RoundOp>(e.div(e.sub(x, remainder), y));
  return e.neg(e.mul(g, quotient));
}

VJP(RemOp) {
  grads[0] = resultGrads[0];
  if (wanted[1])
    grads[1] = remainderSlope({builder, getLoc()}, resultGrads[0], getLhs(), getRhs(), getResult());
  return success();
}

VJP(ModOp) {
  grads[0] = resultGrads[0];
  if (wanted[1])
    grads[1] = remainderSlope({builder, getLoc()}, resultGrads[0], getLhs(), getRhs(), getResult());
  return success();
}

VJP(SelectOp) {
  Expressions e{builder, getLoc()};
  Value g = resultGrads[0], zero = e.splatLike(g, 0);
  if (wanted[1])
    grads[1] = e.select(getCondition(), g, zero);
  if (wanted[2])
    grads[2] = e.select(getCondition(), zero, g);
  return success();
}

VJP(ClampOp) {
  Expressions e{builder, getLoc()};
  Value g = resultGrads[0];
  if (!wanted[0])
    return success();
  Value inside = e.make<AndOp>(e.compare(Comparison::gt, getInput(), getLow()),
                               e.compare(Comparison::lt, getInput(), getHigh()));
  grads[0] = e.select(inside, g, e.splatLike(g, 0));
  return success();
}

VJP(ConvertOp) {
  Expressions e{builder, getLoc()};
  if (wanted[0] && hasOnlyFloats(*this))
    grads[0] = e.convert(resultGrads[0], typeOf(getInput()).getElementType());
  return success();
}
