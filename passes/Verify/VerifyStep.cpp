// Checks the contract of level `step`.

#include "passes/Verify/Contract.h"
#include "passes/Verify/Passes.h"

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_VERIFYSTEP
#include "passes/Verify/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using nn::ResultKind;

namespace {

struct VerifyStepPass : dpc::impl::VerifyStepBase<VerifyStepPass> {
  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
  }

  LogicalResult verify() {
    ModuleOp module = getOperation();
    Contract contract(module, "step");
    bool isTraining = module.lookupSymbol<func::FuncOp>("step") != nullptr;
    if (failed(isTraining ? contract.checkFunctions({"step", "eval"})
                          : contract.checkFunctions({"infer"})))
      return failure();
    if (isTraining && !module.lookupSymbol<func::FuncOp>("eval"))
      return contract.violation(module) << "has @step but no @eval";
    if (isTraining && !module->hasAttr(nn::NNDialect::kLearningRateAttrName))
      return contract.violation(module) << "has no schedule of the learning rate";
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(verify(contract, function)))
        return failure();
    return success();
  }

  static LogicalResult verify(Contract &contract, func::FuncOp function) {
    for (Operation &op : function.front().without_terminator()) {
      if (!isa<nn::NNDialect>(op.getDialect()) || isa<nn::KernelOp>(op))
        return contract.violation(&op) << "'" << op.getName() << "' belongs to a later level";
      if (isa<TrainingModeOpInterface>(op))
        return contract.violation(&op)
               << "'" << op.getName() << "' should be in its training or evaluation form";
      if (isa<GradientFormOpInterface>(op))
        return contract.violation(&op)
               << "'" << op.getName() << "' says something of a gradient that is taken already";
      if (!isMemoryEffectFree(&op))
        return contract.violation(&op) << "'" << op.getName() << "' has side effects";
    }
    if (failed(contract.checkSignature(function)) || failed(contract.checkVariables(function)) ||
        failed(contract.checkStateResults(function)))
      return failure();
    if (function.getSymName() == "step")
      return success();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (nn::getResult(function, i).getKind() == ResultKind::state)
        return contract.violation(function) << "@" << function.getSymName() << " changes '"
                                            << nn::getResult(function, i).getName() << "'";
    return success();
  }
};

} // namespace
