// Computes the remainder of a division of floats exactly, by subtracting
// multiples of the divisor.

#include "targets/Loops/Math/DoubleFunctions.h"

#include "targets/Loops/Math/FloatBuilder.h"

#include <cmath>

using namespace mlir;
using namespace dpc;

namespace {

/// Replaces r by the remainder of r / d, by long division with digits of 50 bits:
///
///   while (r >= d) {
///     t = d; while (t <= r / 2^50) t *= 2^50;
///     r -= trunc(r / t) t;
///   }
///
/// The rounded quotient r / t is below 2^52, so its truncation is wrong by at
/// most 1. Therefore one fused multiply-add, and one addition or subtraction of
/// t, compute the next r exactly.
struct LongDivision : FloatBuilder {
  Value run(Value x, Value y);

private:
  Value subtractMultiple(Value r, Value t) {
    Value quotient = make<LLVM::FTruncOp>(div(r, t));
    Value rest = fma(neg(quotient), t, r);
    rest = select(is(Predicate::OLT, rest, d(0)), add(rest, t), rest);
    return select(is(Predicate::OGE, rest, t), sub(rest, t), rest);
  }

  void branch(Value condition, Block *then, ValueRange thenValues, Block *otherwise,
              ValueRange values) {
    b.create<LLVM::CondBrOp>(loc, condition, then, thenValues, otherwise, values);
  }

  Block *createBlock(Block *before) {
    OpBuilder::InsertionGuard guard(b);
    return b.createBlock(before, {b.getF64Type()}, {loc});
  }
};

} // namespace

Value LongDivision::run(Value x, Value y) {
  Block *entry = b.getInsertionBlock(), *after = entry->splitBlock(b.getInsertionPoint());
  Value remainder = after->addArgument(b.getF64Type(), loc);
  Block *head = createBlock(after), *scale = createBlock(after), *step = createBlock(after);
  b.setInsertionPointToEnd(entry);
  Value size = abs(x), divisor = abs(y);
  Value infinite = d(INFINITY), zero = d(0);
  // For all other operands the result is NaN. The loops would not terminate for an
  // infinite dividend or for a divisor of 0.
  Value isPlain = both(is(Predicate::OLT, size, infinite), is(Predicate::OGT, divisor, zero));
  branch(isPlain, head, ValueRange(size), after, ValueRange(size));

  b.setInsertionPointToEnd(head);
  Value r = head->getArgument(0);
  Value goesOn = is(Predicate::OGE, r, divisor);
  branch(goesOn, scale, ValueRange(divisor), after, ValueRange(r));

  b.setInsertionPointToEnd(scale);
  Value t = scale->getArgument(0);
  Value isSmall = is(Predicate::OLE, t, mul(r, d(0x1p-50)));
  branch(isSmall, scale, ValueRange(mul(t, d(0x1p50))), step, ValueRange(t));

  b.setInsertionPointToEnd(step);
  b.create<LLVM::BrOp>(loc, ValueRange(subtractMultiple(r, step->getArgument(0))), head);

  b.setInsertionPointToStart(after);
  return select(isPlain, withSignOf(remainder, x), d(NAN));
}

Value dpc::emitRemainder(OpBuilder &builder, Operation *op) {
  Type type = op->getResult(0).getType();
  LongDivision division{{builder, op->getLoc(), builder.getF64Type()}};
  if (type.isF64())
    return division.run(op->getOperand(0), op->getOperand(1));
  // The remainder of two f32 is exactly an f32, so it can be computed in f64.
  auto wide = [&](Value x) {
    return builder.create<arith::ExtFOp>(op->getLoc(), builder.getF64Type(), x);
  };
  Value x = wide(op->getOperand(0)), y = wide(op->getOperand(1));
  Value result = division.run(x, y);
  return builder.create<arith::TruncFOp>(op->getLoc(), type, result);
}
