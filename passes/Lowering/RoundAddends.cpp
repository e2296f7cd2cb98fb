// Rounds the bias of a product to 16 bits if a library wants it so.

#include "passes/Lowering/KernelNeeds.h"
#include "passes/Lowering/Passes.h"

#include "dialects/NN/IR/Expressions.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_ROUNDADDENDS
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

static Type elementOf(Value value) { return typeOf(value).getElementType(); }

/// Returns the product in 16 bits to which `sum` adds `operand` in a wider type, if the sum is
/// used only rounded to the product's type. Returns null otherwise.
static DotOp getRoundedProduct(AddOp sum, OpOperand &operand) {
  auto widening = sum->getOperand(1 - operand.getOperandNumber()).getDefiningOp<ConvertOp>();
  auto dot = widening ? widening.getInput().getDefiningOp<DotOp>() : nullptr;
  const bool isRounded =
      dot && llvm::all_of(sum->getUsers(), [&](Operation *user) {
        return isa<ConvertOp>(user) && elementOf(user->getResult(0)) == elementOf(dot);
      });
  return isRounded ? dot : DotOp();
}

namespace {
struct RoundAddendsPass : dpc::impl::RoundAddendsBase<RoundAddendsPass> {
  using RoundAddendsBase::RoundAddendsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *target = getTarget(module);
    if (!target)
      return signalPassFailure();
    const CodeOptions options = codeOptionsOf(module, recompute, orderedSums, factors, products);
    module.walk([&](AddOp sum) {
      for (OpOperand &operand : sum->getOpOperands()) {
        auto broadcast = operand.get().getDefiningOp<BroadcastOp>();
        DotOp dot = broadcast ? getRoundedProduct(sum, operand) : DotOp();
        if (dot && target->wantsNarrowAddend(dot, options))
          round(sum, operand, broadcast, dot);
      }
    });
  }

private:
  static void round(AddOp sum, OpOperand &operand, BroadcastOp broadcast, DotOp dot) {
    // Fusion lets a product wait for nothing that comes after it, so the addend comes before.
    Value addend = broadcast.getInput();
    Operation *maker = addend.getDefiningOp();
    const bool isLate =
        maker && maker->getBlock() == dot->getBlock() && !maker->isBeforeInBlock(dot);
    OpBuilder builder(isLate ? sum.getOperation() : dot.getOperation());
    Expressions e{builder, sum.getLoc()};
    Value narrow = e.convert(addend, elementOf(dot));
    narrow = e.broadcast(narrow, typeOf(sum).getShape(), broadcast.getDimensions());
    operand.set(e.convert(narrow, elementOf(sum)));
    if (broadcast->use_empty())
      broadcast.erase();
  }
};
} // namespace
