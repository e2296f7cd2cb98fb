// Combines elements in reductions and scatters, for every ReduceKind and element
// type.

#include "targets/Loops/Combiner.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

Combiner::Combiner(LoopEmitter &emitter, ReduceKind kind, Type elementType, Type resultType)
    : e(emitter), kind(kind), elementType(registerType(elementType)),
      resultType(resultType ? registerType(resultType) : this->elementType),
      type(accumulatorType(this->resultType)), isFloat(isa<FloatType>(elementType)),
      isUnsigned(elementType.isUnsignedInteger() || elementType.isInteger(1)),
      isOrdered(emitter.orderedSums) {}

Value Combiner::identity() {
  switch (kind) {
  case ReduceKind::sum:
    return e.constantLike(type, 0);
  case ReduceKind::prod:
    return e.constantLike(type, 1);
  default:
    break;
  }
  bool isMax = kind == ReduceKind::max;
  if (isFloat)
    return e.constantLike(type, isMax ? -INFINITY : INFINITY);
  unsigned width = type.getIntOrFloatBitWidth();
  if (isUnsigned)
    return e.constantInt(type, isMax ? APInt::getMinValue(width) : APInt::getMaxValue(width));
  return e.constantInt(type,
                       isMax ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
}

// Only the additions and multiplications of a Combiner get the flag `contract`, so LLVM
// never contracts other ops.
arith::FastMathFlags Combiner::getSumFlags() const {
  if (isOrdered)
    return arith::FastMathFlags::none;
  return arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
}

Value Combiner::combine(Value x, Value y) {
  // The flag nsz allows either zero as the result. Without it, the code would
  // also have to compare 0 and -0.
  auto anyZero = arith::FastMathFlags::nsz;
  switch (kind) {
  case ReduceKind::sum:
    if (isFloat)
      return e.make<arith::AddFOp>(x, y, getSumFlags());
    return e.make<arith::AddIOp>(x, y);
  case ReduceKind::prod:
    if (isFloat)
      return e.make<arith::MulFOp>(x, y, getSumFlags());
    return e.make<arith::MulIOp>(x, y);
  case ReduceKind::max:
    if (isFloat)
      return e.make<arith::MaximumFOp>(x, y, anyZero);
    return isUnsigned ? Value(e.make<arith::MaxUIOp>(x, y)) : Value(e.make<arith::MaxSIOp>(x, y));
  case ReduceKind::min:
    if (isFloat)
      return e.make<arith::MinimumFOp>(x, y, anyZero);
    return isUnsigned ? Value(e.make<arith::MinUIOp>(x, y)) : Value(e.make<arith::MinSIOp>(x, y));
  }
  return x;
}

Value Combiner::accumulateProduct(Value x, Value y, Value z) {
  if (!isFloat)
    return e.make<arith::AddIOp>(x, e.make<arith::MulIOp>(y, z));
  if (isOrdered)
    return e.make<LLVM::FMAOp>(y, z, x);
  arith::FastMathFlags fast = getSumFlags();
  return e.make<arith::AddFOp>(x, e.make<arith::MulFOp>(y, z, fast), fast);
}

Value Combiner::reduce(
    ArrayRef<int64_t> extents,
    function_ref<LoopEmitter::Values(ArrayRef<LoopEmitter::Index>, ValueRange)> accumulate) {
  return reduce(extents, /*count=*/1, accumulate)[0];
}

LoopEmitter::Values Combiner::reduce(
    ArrayRef<int64_t> extents, size_t count,
    function_ref<LoopEmitter::Values(ArrayRef<LoopEmitter::Index>, ValueRange)> accumulate) {
  const LoopEmitter::Values initial(count, identity());
  return e.reduce(extents, initial, accumulate, [&](ValueRange x, ValueRange y) {
    LoopEmitter::Values combined;
    for (auto [one, other] : llvm::zip_equal(x, y))
      combined.push_back(combine(one, other));
    return combined;
  });
}

Value Combiner::widen(Value element) {
  return type == elementType ? element : e.make<arith::ExtFOp>(type, element);
}

Value Combiner::narrow(Value sum) {
  return type == resultType ? sum : e.make<arith::TruncFOp>(resultType, sum);
}

Ordering::Ordering(LoopEmitter &emitter, Type elementType)
    : e(emitter), isFloat(isa<FloatType>(elementType)),
      isUnsigned(elementType.isUnsignedInteger() || elementType.isInteger(1)) {}

Value Ordering::less(Value x, Value y) {
  if (isFloat)
    return e.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, y);
  return e.make<arith::CmpIOp>(isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt,
                               x, y);
}

Value Ordering::equal(Value x, Value y) {
  if (isFloat)
    return e.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, y);
  return e.make<arith::CmpIOp>(arith::CmpIPredicate::eq, x, y);
}

Value Ordering::either(Value a, Value b) { return e.make<arith::OrIOp>(a, b); }
Value Ordering::all(Value a, Value b) { return e.make<arith::AndIOp>(a, b); }

Value Ordering::isNan(Value x) { return e.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x); }

Value Ordering::invert(Value condition) {
  return e.make<arith::XOrIOp>(condition, e.constantInt(condition.getType(), APInt(1, 1)));
}

Value Ordering::unlessNan(Value better, Value old, Value now) {
  if (!isFloat)
    return better;
  return all(invert(isNan(old)), either(isNan(now), better));
}

Value Ordering::areNan(Value x, Value y) {
  if (!isFloat)
    return e.constantInt(e.builder.getI1Type(), APInt(1, 0));
  return all(isNan(x), isNan(y));
}

Value Ordering::lessNanLast(Value x, Value y) {
  if (!isFloat)
    return less(x, y);
  return either(less(x, y), all(isNan(y), invert(isNan(x))));
}
