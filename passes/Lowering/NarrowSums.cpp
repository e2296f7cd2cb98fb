// Lets ops that sum products of narrow factors return narrow sums, if the target prefers these.

#include "passes/Lowering/KernelNeeds.h"
#include "passes/Lowering/Passes.h"

#include "dialects/NN/IR/Expressions.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_NARROWSUMS
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

/// Whether `op` sums products of factors of a narrower type than that of its result.
static bool hasWideSums(Operation *op) {
  auto precise = dyn_cast<PrecisionOpInterface>(op);
  return precise && precise.getPrecision() == Precision::narrow && precise.sumsToWider() &&
         op->getNumResults() == 1 &&
         getElementTypeOrSelf(op->getResult(0)) != getElementTypeOrSelf(op->getOperand(0));
}

namespace {
struct NarrowSumsPass : dpc::impl::NarrowSumsBase<NarrowSumsPass> {
  using NarrowSumsBase::NarrowSumsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *target = getTarget(module);
    if (!target)
      return signalPassFailure();
    const CodeOptions options = codeOptionsOf(module, recompute, orderedSums, factors, products);
    SmallVector<Operation *> wide;
    module.walk([&](Operation *op) {
      if (hasWideSums(op) && target->prefersNarrowSums(op, options))
        wide.push_back(op);
    });
    for (Operation *op : wide)
      narrow(op);
  }

private:
  /// Gives the result of `op` the type of its factors, and readers the converted result.
  static void narrow(Operation *op) {
    Value result = op->getResult(0);
    RankedTensorType type = typeOf(result);
    result.setType(type.clone(getElementTypeOrSelf(op->getOperand(0))));
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto widened = builder.create<ConvertOp>(op->getLoc(), type, result);
    result.replaceAllUsesExcept(widened, widened);
  }
};
} // namespace
