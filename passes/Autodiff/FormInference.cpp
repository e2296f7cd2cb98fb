#include "passes/Autodiff/FunctionForms.h"
#include "passes/Autodiff/Passes.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_FORMINFERENCE
#include "passes/Autodiff/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

namespace {

struct FormInferencePass : dpc::impl::FormInferenceBase<FormInferencePass> {
  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("forward");
    if (!function) {
      getOperation().emitError("has no function @forward");
      return signalPassFailure();
    }
    function.setName("infer");
    auto toInference = [](TrainingModeOpInterface op, OpBuilder &b) {
      return op.buildInference(b);
    };
    if (failed(replaceModeOps(function, toInference)))
      return signalPassFailure();
    replaceGradientForms(function);
    FunctionResults results;
    Operation *terminator = function.front().getTerminator();
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      ResultAttr attr = nn::getResult(function, index);
      if (attr && attr.getKind() == ResultKind::output)
        results.add(ResultKind::output, attr.getName(), value);
    }
    if (results.values.empty()) {
      function.emitError("has no output");
      return signalPassFailure();
    }
    results.setOn(function);
  }
};

} // namespace
