// Replaces math ops by arithmetic, and conversions to and from bf16 by integer
// arithmetic.

#include "targets/Loops/Math/MathExpansion.h"

#include "targets/Loops/Math/DoubleFunctions.h"
#include "targets/Loops/Math/FloatBuilder.h"
#include "targets/Loops/Math/FloatFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dpc;

/// Computes a function of f32 in f64 and rounds the result. Used for functions
/// that have no code for f32.
static Value emitWide(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(b.create<arith::ExtFOp>(loc, b.getF64Type(), operand));
  Value value = emitDoubleFunction(b, op, operands);
  return value ? b.create<arith::TruncFOp>(loc, op->getResult(0).getType(), value) : Value();
}

/// Computes x^y of integers by repeated squaring. As in the interpreter, a
/// negative exponent gives 0, except for the bases 1 and -1.
static Value emitIntegerPower(OpBuilder &b, math::IPowIOp op) {
  Location loc = op.getLoc();
  Value x = op.getLhs(), y = op.getRhs();
  Type type = x.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  auto number = [&](int64_t value) -> Value {
    return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(type, APInt(width, value, true)));
  };
  Value zero = number(0), one = number(1), minusOne = number(-1);
  auto is = [&](arith::CmpIPredicate predicate, Value l, Value r) -> Value {
    return b.create<arith::CmpIOp>(loc, predicate, l, r);
  };
  auto pick = [&](Value condition, Value l, Value r) -> Value {
    return b.create<arith::SelectOp>(loc, condition, l, r);
  };
  Value power = one, base = x;
  for (unsigned bit = 0; bit < width; ++bit) {
    Value set = b.create<arith::AndIOp>(loc, b.create<arith::ShRUIOp>(loc, y, number(bit)), one);
    Value isSet = is(arith::CmpIPredicate::ne, set, zero);
    power = pick(isSet, b.create<arith::MulIOp>(loc, power, base), power);
    base = b.create<arith::MulIOp>(loc, base, base);
  }
  Value isOdd = is(arith::CmpIPredicate::ne, b.create<arith::AndIOp>(loc, y, one), zero);
  Value inverse =
      pick(is(arith::CmpIPredicate::eq, x, one), one,
           pick(is(arith::CmpIPredicate::eq, x, minusOne), pick(isOdd, minusOne, one), zero));
  return pick(is(arith::CmpIPredicate::slt, y, zero), inverse, power);
}

/// Converts to bf16. An addition to the bits of the f32 rounds to nearest even; the
/// upper half is then the bf16. The instruction VCVTNEPS2BF16 would not be faster,
/// because the time of conversions is bound by memory. It would also replace
/// denormals by 0.
static Value truncateToBf16(OpBuilder &b, Location loc, Value x) {
  FloatBuilder f{b, loc, x.getType()};
  if (!getElementTypeOrSelf(x).isF32())
    x = f.make<arith::TruncFOp>(f.like(b.getF32Type()), x);
  auto number = [&](int64_t value) { return f.constant(b.getI32IntegerAttr(value)); };
  Value bits = f.make<arith::BitcastOp>(f.like(b.getI32Type()), x);
  Value odd = f.both(f.make<arith::ShRUIOp>(bits, number(16)), number(1));
  Value rounded = f.make<arith::AddIOp>(bits, f.make<arith::AddIOp>(odd, number(0x7FFF)));
  Value quiet = f.make<arith::OrIOp>(bits, number(0x400000));
  Value chosen = f.select(f.is(arith::CmpFPredicate::UNO, x, x), quiet, rounded);
  Value high =
      f.make<arith::TruncIOp>(f.like(b.getI16Type()), f.make<arith::ShRUIOp>(chosen, number(16)));
  return f.make<arith::BitcastOp>(f.like(b.getBF16Type()), high);
}

static Value extendBf16(OpBuilder &b, arith::ExtFOp op) {
  FloatBuilder f{b, op.getLoc(), op.getType()};
  Value bits = f.make<arith::BitcastOp>(f.like(b.getI16Type()), op.getIn());
  Value wide = f.make<arith::ExtUIOp>(f.like(b.getI32Type()), bits);
  Value shifted = f.make<arith::ShLIOp>(wide, f.constant(b.getI32IntegerAttr(16)));
  Value value = f.make<arith::BitcastOp>(f.like(b.getF32Type()), shifted);
  return value.getType() == op.getType() ? value : f.make<arith::ExtFOp>(op.getType(), value);
}

static Value expand(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  if (auto truncate = dyn_cast<arith::TruncFOp>(op))
    return getElementTypeOrSelf(type).isBF16() ? truncateToBf16(b, loc, truncate.getIn()) : Value();
  if (auto extend = dyn_cast<arith::ExtFOp>(op))
    return getElementTypeOrSelf(extend.getIn()).isBF16() ? extendBf16(b, extend) : Value();
  if (isa<arith::RemFOp>(op))
    return emitRemainder(b, op);
  if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
    return Value();
  Value x = op->getOperand(0);
  if (isa<math::AbsFOp>(op))
    return b.create<LLVM::FAbsOp>(loc, x);
  if (isa<math::AbsIOp>(op))
    return b.create<LLVM::AbsOp>(loc, type, x, /*is_int_min_poison=*/false);
  if (isa<math::SqrtOp>(op))
    return b.create<LLVM::SqrtOp>(loc, x);
  if (isa<math::FloorOp>(op))
    return b.create<LLVM::FFloorOp>(loc, x);
  if (isa<math::CeilOp>(op))
    return b.create<LLVM::FCeilOp>(loc, x);
  if (isa<math::RoundEvenOp>(op))
    return b.create<LLVM::RoundEvenOp>(loc, x);
  if (auto power = dyn_cast<math::IPowIOp>(op))
    return emitIntegerPower(b, power);
  if (type.isF64())
    return emitDoubleFunction(b, op);
  Value value = emitFloatFunction(b, op);
  return value ? value : emitWide(b, op);
}

void dpc::expandMath(ModuleOp module) {
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    if (op->getNumResults() == 1)
      found.push_back(op);
  });
  for (Operation *op : found) {
    OpBuilder builder(op);
    if (Value value = expand(builder, op)) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  }
}
