#include "passes/Lowering/KernelNeeds.h"
#include "passes/Lowering/Passes.h"

#include "dialects/Exec/IR/Kernels.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_DESCRIBEKERNELS
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;

namespace {
struct DescribeKernelsPass : dpc::impl::DescribeKernelsBase<DescribeKernelsPass> {
  using DescribeKernelsBase::DescribeKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<ExecDialect>();
    registerTargetDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *target = getTarget(module);
    if (!target)
      return signalPassFailure();
    const CodeOptions options = codeOptionsOf(module, recompute, orderedSums, factors, products);
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!isKernel(kernel))
        continue;
      FailureOr<KernelNeeds> needs = target->describeKernel(getKernelBody(kernel), options);
      if (failed(needs))
        return signalPassFailure();
      setNeeds(kernel, *needs);
    }
  }
};
} // namespace
