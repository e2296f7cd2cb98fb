#include "passes/Verify/Contract.h"
#include "passes/Verify/Passes.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_VERIFYIMPORT
#include "passes/Verify/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {

struct VerifyImportPass : dpc::impl::VerifyImportBase<VerifyImportPass> {
  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
  }

  LogicalResult verify() {
    ModuleOp module = getOperation();
    Contract contract(module, "import");
    if (failed(contract.checkFunctions({"forward"})))
      return failure();
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward)
      return contract.violation(module) << "has no function @forward";
    for (Operation &op : forward.front().without_terminator())
      if (!isa<nn::NNDialect>(op.getDialect()) || isa<KernelOpInterface>(op))
        return contract.violation(&op) << "'" << op.getName() << "' belongs to a later level";
    if (failed(contract.checkSignature(forward)) || failed(contract.checkVariables(forward)) ||
        failed(contract.checkStateResults(forward)))
      return failure();
    llvm::StringSet<> arguments;
    for (unsigned i = 0; i < forward.getNumArguments(); ++i)
      if (!arguments.insert(nn::getArg(forward, i).getName()).second)
        return contract.violation(forward)
               << "two arguments are named '" << nn::getArg(forward, i).getName() << "'";
    for (auto variable : module.getOps<nn::VariableOp>())
      if (!arguments.contains(variable.getTensorName()))
        return contract.violation(variable)
               << "the variable '" << variable.getTensorName() << "' is no argument of @forward";
    return success();
  }
};

} // namespace
