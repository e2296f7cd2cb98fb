#include "dialects/NN/IR/Fusion.h"

#include "dialects/NN/IR/NNDialect.h"

using namespace mlir;
using namespace dpc;

FusionKind dpc::getFusionKind(Operation *op) {
  if (isa<ElementwiseOpInterface>(op))
    return FusionKind::elementwise;
  if (auto fusable = dyn_cast<FusableOpInterface>(op))
    return fusable.getFusionKind();
  if (!isa<nn::NNDialect>(op->getDialect()) || op->getNumRegions())
    return FusionKind::outside;
  return FusionKind::alone;
}

/// Whether `value` or a view of it has a reader that does not join the kernel of
/// an op before it, and therefore reads `value` from memory.
static bool isReadFromMemory(Value value) {
  for (Operation *user : value.getUsers()) {
    FusionKind kind = getFusionKind(user);
    if (kind == FusionKind::view ? isReadFromMemory(user->getResult(0))
                                 : kind == FusionKind::alone || kind == FusionKind::outside)
      return true;
  }
  return false;
}

bool dpc::passesThroughMemory(Value value) {
  Operation *maker = value.getDefiningOp();
  if (!maker)
    return true;
  switch (getFusionKind(maker)) {
  case FusionKind::view:
    return passesThroughMemory(maker->getOperand(0));
  case FusionKind::elementwise:
  case FusionKind::repeated:
    return isReadFromMemory(value);
  case FusionKind::reduction:
  case FusionKind::alone:
  case FusionKind::outside:
    return true;
  }
  return true;
}

double dpc::getFusedBytes(Operation *op) {
  if (getFusionKind(op) == FusionKind::view)
    return 0;
  double bytes = 0;
  for (Value operand : op->getOperands())
    if (passesThroughMemory(operand))
      bytes += tensorBytes(operand.getType());
  for (Value result : op->getResults())
    if (passesThroughMemory(result))
      bytes += tensorBytes(result.getType());
  return bytes;
}
