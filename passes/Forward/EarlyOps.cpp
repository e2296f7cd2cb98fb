// Finds the ops of a backward pass that can run earlier than at their position in the program.

#include "passes/Forward/EarlyOps.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/NN/IR/Fusion.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

bool dpc::isFree(Operation *op) {
  const FusionKind kind = getFusionKind(op);
  return kind == FusionKind::view || kind == FusionKind::repeated;
}

bool dpc::hasRank(Type type) { return cast<RankedTensorType>(type).getRank() > 0; }

bool dpc::runsAtOnce(Operation *op, llvm::function_ref<bool(Operation *)> isBackward) {
  const FusionKind kind = getFusionKind(op);
  if (!isFree(op) && kind != FusionKind::elementwise && kind != FusionKind::reduction &&
      !dist::isCollective(op))
    return false;
  return llvm::none_of(op->getOperands(), [&](Value operand) {
    Operation *maker = operand.getDefiningOp();
    return maker && !isBackward(maker) && getFusionKind(maker) != FusionKind::repeated &&
           hasRank(operand.getType());
  });
}
