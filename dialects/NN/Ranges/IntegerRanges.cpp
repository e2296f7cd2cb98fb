#include "dialects/NN/Ranges/Ranges.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

bool dpc::isOrderedUnsigned(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isUnsignedInteger() || element.isInteger(1);
}

ConstantIntRanges dpc::anyInteger(Value value) {
  return ConstantIntRanges::maxRange(
      ConstantIntRanges::getStorageBitwidth(getElementTypeOrSelf(value.getType())));
}

ConstantIntRanges IntegerRanges::get(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second.getValue();
  ConstantIntRanges range = compute(value);
  known.try_emplace(value, range);
  return range;
}

ConstantIntRanges IntegerRanges::compute(Value value) {
  auto model = value.getDefiningOp<InferIntRangeInterface>();
  if (!model || !isa<IntegerType>(getElementTypeOrSelf(value.getType())))
    return anyInteger(value);
  auto operands = llvm::map_to_vector(model->getOperands(), [&](Value v) { return get(v); });
  ConstantIntRanges range = anyInteger(value);
  model.inferResultRanges(operands, [&](Value result, const ConstantIntRanges &inferred) {
    if (result == value)
      range = inferred;
  });
  return range;
}

bool IntegerRanges::isWithin(Value value, int64_t low, int64_t high) {
  ConstantIntRanges range = get(value);
  if (!range.umin().getBitWidth())
    return false;
  if (!isOrderedUnsigned(value.getType()))
    return range.smin().sge(low) && range.smax().sle(high);
  return high >= 0 && range.umin().uge(std::max<int64_t>(low, 0)) && range.umax().ule(high);
}

std::optional<bool> IntegerRanges::getTruth(Value value) {
  std::optional<APInt> constant = get(value).getConstantValue();
  if (!constant || constant->getBitWidth() != 1)
    return std::nullopt;
  return constant->isOne();
}
