#include "passes/Lowering/Codegen/Codegen.h"
#include "passes/Lowering/KernelTable.h"
#include "passes/Lowering/Passes.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_GENERATECODE
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;

namespace {

struct GenerateCodePass : dpc::impl::GenerateCodeBase<GenerateCodePass> {
  using GenerateCodeBase::GenerateCodeBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<ExecDialect>();
    registerCodegenDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    TargetOptions target;
    target.cpu = cpu;
    target.recompute = recompute;
    target.orderedSums = orderedSums;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto code =
        builder.create<ModuleOp>(module.getLoc(), ExecDialect::kCodeModuleName);
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!isKernel(kernel))
        continue;
      OpBuilder inside = OpBuilder::atBlockEnd(code.getBody());
      auto own = inside.create<ModuleOp>(kernel.getLoc(), kernel.getSymName());
      FailureOr<KernelCode> facts =
          emitKernel(getKernelBody(kernel), kernel.getSymName(), own, target);
      if (failed(facts))
        return signalPassFailure();
      SmallVector<Attribute> aliases;
      for (const auto &operands : facts->mayAlias) {
        SmallVector<int64_t> numbers(operands.begin(), operands.end());
        aliases.push_back(builder.getDenseI64ArrayAttr(numbers));
      }
      kernel->setAttr(ExecDialect::kMayAliasAttrName,
                      builder.getArrayAttr(aliases));
      kernel->setAttr(ExecDialect::kScratchBytesAttrName,
                      builder.getI64IntegerAttr(facts->scratchBytes));
    }
  }
};

} // namespace
