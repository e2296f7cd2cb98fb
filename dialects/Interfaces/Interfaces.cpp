// Defaults that several ops share for methods of the op interfaces: the sharding
// rule of elementwise ops, and the bytes of operands and results. Also counts the
// elements of tensors.

#include "dialects/Interfaces/Interfaces.h"

#include "planning/KernelClass.h"

using namespace mlir;
using namespace dpc;

KernelClass dpc::classOfFlops(int64_t flops) {
  return flops ? KernelClass::elementwise : KernelClass::copy;
}

#include "dialects/Interfaces/CostOpInterface.cpp.inc"
#include "dialects/Interfaces/DecomposableOpInterface.cpp.inc"
#include "dialects/Interfaces/DifferentiableOpInterface.cpp.inc"
#include "dialects/Interfaces/ElementwiseOpInterface.cpp.inc"
#include "dialects/Interfaces/GradientFormOpInterface.cpp.inc"
#include "dialects/Interfaces/InterpretableOpInterface.cpp.inc"
#include "dialects/Interfaces/KernelOpInterface.cpp.inc"
#include "dialects/Interfaces/PrecisionOpInterface.cpp.inc"
#include "dialects/Interfaces/ShardableOpInterface.cpp.inc"
#include "dialects/Interfaces/TrainingModeOpInterface.cpp.inc"

LogicalResult dpc::failWithoutStages(Operation *op) {
  return op->emitOpError("runs on a device that is no stage of a pipeline");
}

LogicalResult InterpreterContext::send(Operation *op, StringRef, int64_t, int64_t,
                                       const HostTensor &) {
  return failWithoutStages(op);
}

FailureOr<HostTensor> InterpreterContext::receive(Operation *op, StringRef, int64_t, int64_t) {
  return failWithoutStages(op);
}

FailureOr<std::vector<HostTensor>> InterpreterContext::exchangeAmong(Operation *op, StringRef,
                                                                     ArrayRef<int64_t>, int64_t,
                                                                     const HostTensor &) {
  return failWithoutStages(op);
}

std::optional<int64_t> dpc::countElements(ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || extent > kMaxElements / count)
      return std::nullopt;
    count *= extent;
  }
  return count;
}

bool dpc::hasCountableElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && countElements(tensor.getShape());
}

int64_t dpc::tensorBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  unsigned width = tensor.getElementTypeBitWidth();
  return tensor.getNumElements() * (width < 8 ? 1 : width / 8);
}

bool dpc::updatesState(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel && kernel.updatesState();
}

int64_t dpc::operandAndResultBytes(Operation *op) {
  int64_t bytes = 0;
  for (Type type : op->getOperandTypes())
    bytes += tensorBytes(type);
  for (Type type : op->getResultTypes())
    bytes += tensorBytes(type);
  return bytes;
}

ShardingRule dpc::elementwiseShardingRule(Operation *op) {
  ShardingRule rule;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  ShardingRule::ValueLoops whole;
  for (int64_t extent : type.getShape())
    whole.push_back(ShardingRule::dim(rule.addLoop(extent)));
  for (Type operand : op->getOperandTypes())
    rule.operands.push_back(
        cast<RankedTensorType>(operand).getRank() == 0 ? ShardingRule::ValueLoops() : whole);
  rule.results.assign(op->getNumResults(), whole);
  return rule;
}

bool dpc::hasOnlyFloats(Operation *op) {
  auto isFloat = [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); };
  return llvm::all_of(op->getOperandTypes(), isFloat) &&
         llvm::all_of(op->getResultTypes(), isFloat);
}

SmallVector<SmallVector<unsigned, 2>> dpc::additiveIfFloats(Operation *op) {
  if (!hasOnlyFloats(op))
    return {};
  return {{0}};
}
