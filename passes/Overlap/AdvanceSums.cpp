// Moves the terms of gradient norms to directly after the gradients they are computed from, so that
// these gradients need not be kept until the end of the backward pass.

#include "passes/Forward/EarlyOps.h"
#include "passes/Forward/ForwardPass.h"
#include "passes/Overlap/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_ADVANCESUMS
#include "passes/Overlap/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {

struct AdvanceSumsPass : dpc::impl::AdvanceSumsBase<AdvanceSumsPass> {
  void runOnOperation() override {
    func::FuncOp step = getOperation();
    if (step.isExternal() || step.getName() != "step")
      return;
    const Ancestors forward = findForwardPass(step), updates = findUpdates(step);
    auto isBackward = [&](Operation *op) {
      return op->getBlock() == &step.front() && updates.ops.contains(op) &&
             !forward.ops.contains(op);
    };
    // Several ops may move to after the same op, the maker of their last operand. This map has, by
    // maker, the last op that has moved there. The next op with the same maker goes after that op,
    // so that the moved ops keep their order.
    llvm::DenseMap<Operation *, Operation *> lastBehind;
    for (Operation &op : llvm::make_early_inc_range(step.front().without_terminator())) {
      if (!isBackward(&op) || !runsAtOnce(&op, isBackward) || !readsGradient(&op, isBackward))
        continue;
      Operation *maker = nullptr;
      for (Value operand : op.getOperands())
        if (Operation *other = operand.getDefiningOp();
            other && (!maker || maker->isBeforeInBlock(other)))
          maker = other;
      Operation *&last = lastBehind[maker];
      Operation *place = last ? last : maker;
      if (place->getNextNode() != &op)
        op.moveAfter(place);
      last = &op;
    }
  }

private:
  static bool readsGradient(Operation *op, llvm::function_ref<bool(Operation *)> isBackward) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *maker = operand.getDefiningOp();
      return maker && isBackward(maker) && hasRank(operand.getType());
    });
  }
};

} // namespace
