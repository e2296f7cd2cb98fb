#include "passes/Lowering/InPlace.h"

#include "dialects/NN/IR/Program.h"

using namespace mlir;
using namespace dpc;

/// One loop over all elements: elementwise ops and constants of one shape, with
/// one result (several may get loops of their own).
static bool isOneElementwiseLoop(nn::KernelOp kernel) {
  if (kernel.getNumResults() != 1)
    return false;
  ArrayRef<int64_t> shape = nn::typeOf(kernel.getResult(0)).getShape();
  return llvm::all_of(
      kernel.getBodyBlock().without_terminator(), [&](Operation &op) {
        return isa<ElementwiseOpInterface, nn::ConstantOp>(op) &&
               nn::typeOf(op.getResult(0)).getShape() == shape;
      });
}

bool dpc::mayComputeInPlace(Operation *op, unsigned operand, unsigned result) {
  if (op->getOperand(operand).getType() != op->getResult(result).getType())
    return false;
  if (auto update = dyn_cast<nn::UpdateOp>(op))
    return operand < update.getTensors().size();
  auto kernel = dyn_cast<nn::KernelOp>(op);
  return kernel && isOneElementwiseLoop(kernel);
}
