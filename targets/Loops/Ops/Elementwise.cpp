// The formulas of elementwise ops: ops of the arith and math dialects for one
// element, or for a vector of elements. A later pass (targets/Loops/Math) replaces
// math ops by arithmetic.

#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

#include "dialects/NN/IR/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

namespace {
/// Builds arith ops on scalars, or on vectors of one length.
struct Emitter {
  OpBuilder &b;
  Location loc;

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return b.create<Op>(loc, std::forward<Args>(args)...);
  }
  Value constant(Type type, double value) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr attr = isa<FloatType>(element)
                         ? TypedAttr(b.getFloatAttr(element, value))
                         : TypedAttr(b.getIntegerAttr(element, static_cast<int64_t>(value)));
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, attr);
    return make<arith::ConstantOp>(attr);
  }
  Value like(Value x, double value) { return constant(x.getType(), value); }
  Value add(Value x, Value y) { return make<arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return make<arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return make<arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return make<arith::DivFOp>(x, y); }
  Value cmp(arith::CmpFPredicate predicate, Value x, Value y) {
    return make<arith::CmpFOp>(predicate, x, y);
  }
  Value select(Value c, Value x, Value y) { return make<arith::SelectOp>(c, x, y); }
};
} // namespace

static bool isFloat(Value x) { return isa<FloatType>(getElementTypeOrSelf(x.getType())); }
/// Whether the elements of `tensor` are unsigned. The types of arith are signless,
/// so only the tensor type of the nn op says it.
static bool isUnsigned(Value tensor) {
  Type element = typeOf(tensor).getElementType();
  return element.isUnsignedInteger() || element.isInteger(1);
}

/// Begins the formula of the op `op` of class OP. `in` holds the elements of the
/// operands.
#define EMIT(OP)                                                                                   \
  static Value emitFormulaOf([[maybe_unused]] OP op, OpBuilder &b, Location loc, ValueRange in)
#define MATH_EMIT(OP, MATH)                                                                        \
  EMIT(OP) { return b.create<math::MATH>(loc, in[0]); }

MATH_EMIT(ExpOp, ExpOp)
MATH_EMIT(LogOp, LogOp)
MATH_EMIT(Log1pOp, Log1pOp)
MATH_EMIT(SqrtOp, SqrtOp)
MATH_EMIT(SinOp, SinOp)
MATH_EMIT(CosOp, CosOp)
MATH_EMIT(TanOp, TanOp)
MATH_EMIT(AsinOp, AsinOp)
MATH_EMIT(AcosOp, AcosOp)
MATH_EMIT(AtanOp, AtanOp)
MATH_EMIT(SinhOp, SinhOp)
MATH_EMIT(CoshOp, CoshOp)
MATH_EMIT(TanhOp, TanhOp)
MATH_EMIT(AsinhOp, AsinhOp)
MATH_EMIT(AcoshOp, AcoshOp)
MATH_EMIT(AtanhOp, AtanhOp)
MATH_EMIT(ErfOp, ErfOp)
MATH_EMIT(FloorOp, FloorOp)
MATH_EMIT(CeilOp, CeilOp)
MATH_EMIT(RoundOp, RoundEvenOp)

EMIT(RsqrtOp) {
  Emitter e{b, loc};
  return e.div(e.like(in[0], 1), e.make<math::SqrtOp>(in[0]));
}

EMIT(SigmoidOp) {
  // e^-x may overflow to infinity. Then 1 / infinity = 0 is the right result.
  Emitter e{b, loc};
  Value decay = e.make<math::ExpOp>(e.make<arith::NegFOp>(in[0]));
  return e.div(e.like(in[0], 1), e.add(e.like(in[0], 1), decay));
}

EMIT(SoftplusOp) {
  Emitter e{b, loc};
  Value decay = e.make<math::ExpOp>(e.make<arith::NegFOp>(e.make<math::AbsFOp>(in[0])));
  Value positive =
      e.select(e.cmp(arith::CmpFPredicate::OLT, in[0], e.like(in[0], 0)), e.like(in[0], 0), in[0]);
  return e.add(positive, e.make<math::Log1pOp>(decay));
}

EMIT(GeluOp) {
  Emitter e{b, loc};
  Value x = in[0], half = e.mul(e.like(x, 0.5), x);
  if (op.getApproximation() == GeluApproximation::none)
    return e.mul(half, e.add(e.like(x, 1), e.make<math::ErfOp>(e.mul(x, e.like(x, M_SQRT1_2)))));
  Value cubic = e.add(e.like(x, 1), e.mul(e.like(x, 0.044715), e.mul(x, x)));
  Value u = e.mul(e.like(x, std::sqrt(M_2_PI)), e.mul(x, cubic));
  return e.mul(half, e.add(e.like(x, 1), e.make<math::TanhOp>(u)));
}

EMIT(NegOp) {
  Emitter e{b, loc};
  return isFloat(in[0]) ? e.make<arith::NegFOp>(in[0])
                        : e.make<arith::SubIOp>(e.like(in[0], 0), in[0]);
}

EMIT(AbsOp) {
  Emitter e{b, loc};
  if (isFloat(in[0]))
    return e.make<math::AbsFOp>(in[0]);
  return isUnsigned(op.getInput()) ? in[0] : e.make<math::AbsIOp>(in[0]);
}

EMIT(SignOp) {
  Emitter e{b, loc};
  Value zero = e.like(in[0], 0), one = e.like(in[0], 1);
  if (isFloat(in[0])) {
    // Ordered comparisons with NaN are false, so the result for NaN is NaN.
    Value low = e.select(e.cmp(arith::CmpFPredicate::OLT, in[0], zero), e.like(in[0], -1), in[0]);
    return e.select(e.cmp(arith::CmpFPredicate::OGT, in[0], zero), one, low);
  }
  Value positive = e.make<arith::CmpIOp>(isUnsigned(op.getInput()) ? arith::CmpIPredicate::ugt
                                                                   : arith::CmpIPredicate::sgt,
                                         in[0], zero);
  Value other = isUnsigned(op.getInput())
                    ? zero
                    : e.select(e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, in[0], zero),
                               e.like(in[0], -1), zero);
  return e.select(positive, one, other);
}

EMIT(StopGradientOp) { return in[0]; }

EMIT(ReluOp) {
  Emitter e{b, loc};
  Value zero = e.like(in[0], 0);
  Value negative =
      isFloat(in[0]) ? e.cmp(arith::CmpFPredicate::OLT, in[0], zero)
                     : e.make<arith::CmpIOp>(isUnsigned(op.getInput()) ? arith::CmpIPredicate::ult
                                                                       : arith::CmpIPredicate::slt,
                                             in[0], zero);
  return e.select(negative, zero, in[0]);
}

EMIT(NotOp) {
  Emitter e{b, loc};
  return e.make<arith::XOrIOp>(in[0], e.like(in[0], -1));
}

EMIT(IsNanOp) { return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, in[0], in[0]); }

EMIT(IsInfOp) {
  Emitter e{b, loc};
  return e.cmp(arith::CmpFPredicate::OEQ, e.make<math::AbsFOp>(in[0]), e.like(in[0], INFINITY));
}

#define ARITH_EMIT(OP, FLOAT, INT)                                                                 \
  EMIT(OP) {                                                                                       \
    if (isFloat(in[0]))                                                                            \
      return b.create<arith::FLOAT>(loc, in[0], in[1]);                                            \
    return b.create<arith::INT>(loc, in[0], in[1]);                                                \
  }
ARITH_EMIT(AddOp, AddFOp, AddIOp)
ARITH_EMIT(SubOp, SubFOp, SubIOp)
ARITH_EMIT(MulOp, MulFOp, MulIOp)

/// Replaces a divisor that may trap by 1. The divisor 0 occurs only in padding. The
/// divisor -1 traps for the least integer. A division by -1 must be emitted separately
/// (as a negation); a remainder need not, because x mod -1 and x mod 1 are both 0.
static Value divisorOf(Emitter e, Value y, bool isUnsigned) {
  auto is = [&](double value) {
    return e.make<arith::CmpIOp>(arith::CmpIPredicate::eq, y, e.like(y, value));
  };
  Value one = e.like(y, 1);
  if (!isUnsigned)
    y = e.select(is(-1), one, y);
  return e.select(is(0), one, y);
}

EMIT(DivOp) {
  Emitter e{b, loc};
  if (isFloat(in[0]))
    return e.div(in[0], in[1]);
  Value divisor = divisorOf(e, in[1], isUnsigned(op.getLhs()));
  if (isUnsigned(op.getLhs()))
    return e.make<arith::DivUIOp>(in[0], divisor);
  Value isMinusOne = e.make<arith::CmpIOp>(arith::CmpIPredicate::eq, in[1], e.like(in[1], -1));
  return e.select(isMinusOne, e.make<arith::SubIOp>(e.like(in[0], 0), in[0]),
                  e.make<arith::DivSIOp>(in[0], divisor));
}

EMIT(PowOp) {
  Emitter e{b, loc};
  if (isFloat(in[0]))
    return e.make<math::PowFOp>(in[0], in[1]);
  return e.make<math::IPowIOp>(in[0], in[1]);
}

/// Selects x if the comparison `takeX` of x and y holds, otherwise y. If an
/// operand is NaN, the result is NaN.
static Value emitExtreme(Emitter e, Value x, Value y, arith::CmpFPredicate takeX) {
  Value pick = e.select(e.cmp(takeX, x, y), x, y);
  Value xIsNan = e.cmp(arith::CmpFPredicate::UNO, x, x);
  return e.select(xIsNan, x, pick); // if y is NaN, the comparison is false and `pick` is y
}

EMIT(MaxOp) {
  Emitter e{b, loc};
  if (isFloat(in[0]))
    return emitExtreme(e, in[0], in[1], arith::CmpFPredicate::OGT);
  if (isUnsigned(op.getLhs()))
    return e.make<arith::MaxUIOp>(in[0], in[1]);
  return e.make<arith::MaxSIOp>(in[0], in[1]);
}

EMIT(MinOp) {
  Emitter e{b, loc};
  if (isFloat(in[0]))
    return emitExtreme(e, in[0], in[1], arith::CmpFPredicate::OLT);
  if (isUnsigned(op.getLhs()))
    return e.make<arith::MinUIOp>(in[0], in[1]);
  return e.make<arith::MinSIOp>(in[0], in[1]);
}

EMIT(RemOp) {
  Emitter e{b, loc};
  if (isFloat(in[0]))
    return e.make<arith::RemFOp>(in[0], in[1]);
  Value divisor = divisorOf(e, in[1], isUnsigned(op.getLhs()));
  if (isUnsigned(op.getLhs()))
    return e.make<arith::RemUIOp>(in[0], divisor);
  return e.make<arith::RemSIOp>(in[0], divisor);
}

EMIT(ModOp) {
  Emitter e{b, loc};
  Value x = in[0], y = in[1];
  if (isFloat(x)) {
    Value rest = e.make<arith::RemFOp>(x, y), zero = e.like(x, 0);
    Value restNegative = e.cmp(arith::CmpFPredicate::OLT, rest, zero);
    Value divisorNegative = e.cmp(arith::CmpFPredicate::OLT, y, zero);
    Value differ = e.make<arith::XOrIOp>(restNegative, divisorNegative);
    Value nonZero = e.cmp(arith::CmpFPredicate::ONE, rest, zero);
    return e.select(e.make<arith::AndIOp>(differ, nonZero), e.add(rest, y), rest);
  }
  Value divisor = divisorOf(e, y, isUnsigned(op.getLhs()));
  if (isUnsigned(op.getLhs()))
    return e.make<arith::RemUIOp>(x, divisor);
  Value rest = e.make<arith::RemSIOp>(x, divisor), zero = e.like(x, 0);
  Value differ = e.make<arith::XOrIOp>(e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, rest, zero),
                                       e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, y, zero));
  Value nonZero = e.make<arith::CmpIOp>(arith::CmpIPredicate::ne, rest, zero);
  return e.select(e.make<arith::AndIOp>(differ, nonZero), e.make<arith::AddIOp>(rest, y), rest);
}

#define BITS_EMIT(OP, ARITH)                                                                       \
  EMIT(OP) { return b.create<arith::ARITH>(loc, in[0], in[1]); }
BITS_EMIT(AndOp, AndIOp)
BITS_EMIT(OrOp, OrIOp)
BITS_EMIT(XorOp, XOrIOp)

/// Emits a shift that gives 0 if y is at least the bit width. The ops of arith
/// would give poison.
template <typename Shift> static Value emitShift(Emitter e, Value x, Value y) {
  double width = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  Value inRange = e.make<arith::CmpIOp>(arith::CmpIPredicate::ult, y, e.like(y, width));
  return e.select(inRange, e.make<Shift>(x, y), e.like(x, 0));
}
EMIT(ShiftLeftOp) { return emitShift<arith::ShLIOp>({b, loc}, in[0], in[1]); }
EMIT(ShiftRightOp) { return emitShift<arith::ShRUIOp>({b, loc}, in[0], in[1]); }

EMIT(CompareOp) {
  Emitter e{b, loc};
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static const F floats[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
  static const I signedInts[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  static const I unsignedInts[] = {I::eq, I::ne, I::ult, I::ule, I::ugt, I::uge};
  unsigned index = static_cast<unsigned>(op.getComparison());
  if (isFloat(in[0]))
    return e.cmp(floats[index], in[0], in[1]);
  return e.make<arith::CmpIOp>((isUnsigned(op.getLhs()) ? unsignedInts : signedInts)[index], in[0],
                               in[1]);
}

EMIT(SelectOp) { return b.create<arith::SelectOp>(loc, in[0], in[1], in[2]); }

EMIT(ClampOp) {
  Emitter e{b, loc};
  if (isFloat(in[0]))
    return emitExtreme(e, emitExtreme(e, in[0], in[1], arith::CmpFPredicate::OGT), in[2],
                       arith::CmpFPredicate::OLT);
  if (isUnsigned(op.getInput()))
    return e.make<arith::MinUIOp>(e.make<arith::MaxUIOp>(in[0], in[1]), in[2]);
  return e.make<arith::MinSIOp>(e.make<arith::MaxSIOp>(in[0], in[1]), in[2]);
}

EMIT(ConvertOp) {
  Emitter e{b, loc};
  // The tensor type may be signed or unsigned, but the types of arith are
  // signless.
  Type element = typeOf(op.getResult()).getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    element = IntegerType::get(op.getContext(), integer.getWidth());
  Type to = element;
  if (auto vector = dyn_cast<VectorType>(in[0].getType()))
    to = VectorType::get(vector.getShape(), element);
  Value x = in[0];
  if (x.getType() == to)
    return x;
  unsigned fromWidth = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  unsigned toWidth = element.getIntOrFloatBitWidth();
  if (isFloat(x)) {
    if (isa<FloatType>(element)) {
      if (fromWidth < toWidth)
        return e.make<arith::ExtFOp>(to, x);
      // If the widths are equal, the types are f16 and bf16. Neither can represent all
      // numbers of the other, but f32 can represent those of both.
      if (fromWidth == toWidth) {
        Type wide = b.getF32Type();
        if (auto vector = dyn_cast<VectorType>(to))
          wide = vector.clone(wide);
        x = e.make<arith::ExtFOp>(wide, x);
      }
      return e.make<arith::TruncFOp>(to, x);
    }
    if (toWidth == 1)
      return e.cmp(arith::CmpFPredicate::UNE, x, e.like(x, 0));
    return isUnsigned(op.getResult()) ? e.make<arith::FPToUIOp>(to, x)
                                      : e.make<arith::FPToSIOp>(to, x);
  }
  bool fromUnsigned = isUnsigned(op.getInput());
  if (isa<FloatType>(element))
    return fromUnsigned ? e.make<arith::UIToFPOp>(to, x) : e.make<arith::SIToFPOp>(to, x);
  if (toWidth == 1)
    return e.make<arith::CmpIOp>(arith::CmpIPredicate::ne, x, e.like(x, 0));
  if (toWidth < fromWidth)
    return e.make<arith::TruncIOp>(to, x);
  return fromUnsigned ? e.make<arith::ExtUIOp>(to, x) : e.make<arith::ExtSIOp>(to, x);
}

namespace {
template <typename Op> struct FormulaRule : FormulaOpInterface::ExternalModel<FormulaRule<Op>, Op> {
  Value emitFormula(Operation *op, OpBuilder &builder, Location loc, ValueRange operands) const {
    return emitFormulaOf(cast<Op>(op), builder, loc, operands);
  }
};
} // namespace

/// Attaches the formulas of `Ops`. An op without a formula does not compile.
template <typename... Ops> static void attachFormulas(MLIRContext &context) {
  (Ops::template attachInterface<FormulaRule<Ops>>(context), ...);
}

void dpc::attachElementwiseRules(MLIRContext &context) {
  attachFormulas<
#define GET_OP_LIST
#include "dialects/NN/IR/Elementwise.cpp.inc"
      >(context);
}
