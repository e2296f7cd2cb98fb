// Lets the target generate the code of each kernel. If the code runs in launches on a device,
// stores these launches in the attribute `exec.launches` of the kernel's function.

#include "dialects/Exec/IR/Kernels.h"
#include "dialects/NN/IR/JoinedKernels.h"
#include "dialects/NN/IR/Shape.h"
#include "passes/Lowering/KernelNeeds.h"
#include "passes/Lowering/Passes.h"
#include "passes/Machine/MachineTarget.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_GENERATECODE
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;

/// Converts the library call of a launch from the form that the target returns to an attribute.
static CallAttr attributeOf(MLIRContext *context, const LibraryCall &call) {
  SmallVector<CallBuffer> buffers;
  for (const LibraryCall::Buffer &buffer : call.buffers)
    buffers.push_back({buffer.buffer, buffer.offset, buffer.bytes});
  return CallAttr::get(context, call.kind, call.description, buffers);
}

/// Returns the names of a kernel's ops as one text, e.g. "dot_add". The symbol of the kernel's code
/// contains this text. Elementwise ops come after all other ops; constants, broadcasts and reshapes
/// are left out. Each name appears once, and the text has at most four names.
static std::string opsOf(Operation *kernel) {
  constexpr size_t most = 4;
  llvm::SetVector<StringRef> loops, elementwise;
  kernel->getRegion(0).walk([&](Operation *op) {
    if (isa<ElementwiseOpInterface>(op))
      elementwise.insert(op->getName().stripDialect());
    else if (!isa<nn::ConstantOp, nn::BroadcastOp, nn::ReshapeOp, nn::YieldOp>(op))
      loops.insert(op->getName().stripDialect());
  });
  if (nn::holdsUpdates(kernel))
    loops.insert("update");
  loops.insert(elementwise.begin(), elementwise.end());
  ArrayRef<StringRef> names = loops.getArrayRef();
  return llvm::join(names.take_front(most), "_");
}

namespace {

struct GenerateCodePass : dpc::impl::GenerateCodeBase<GenerateCodePass> {
  using GenerateCodeBase::GenerateCodeBase;

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
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto code = builder.create<ModuleOp>(module.getLoc(), ExecDialect::kCodeModuleName);
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!isKernel(kernel))
        continue;
      OpBuilder inside = OpBuilder::atBlockEnd(code.getBody());
      auto own = inside.create<ModuleOp>(kernel.getLoc(), kernel.getSymName());
      own->setAttr(kOpsAttrName, builder.getStringAttr(opsOf(getKernelBody(kernel))));
      FailureOr<KernelCode> facts =
          target->emitKernel(getKernelBody(kernel), kernel.getSymName(), own, options);
      if (failed(facts))
        return signalPassFailure();
      if (!hasNeeds(kernel, facts->needs)) {
        kernel.emitError("its code needs other memory than the kernel was described with "
                         "(dpc-describe-kernels)");
        return signalPassFailure();
      }
      SmallVector<Attribute> launches, ops;
      for (const KernelLaunch &launch : facts->launches) {
        SmallVector<int64_t> buffers(launch.buffers.begin(), launch.buffers.end());
        CallAttr call = launch.call ? attributeOf(&getContext(), *launch.call) : CallAttr();
        launches.push_back(GridAttr::get(&getContext(), launch.suffix, launch.blocks,
                                         launch.threads, builder.getDenseI64ArrayAttr(buffers),
                                         call, launch.isLone, launch.sharedBytes));
        ops.push_back(builder.getStringAttr(launch.ops));
      }
      if (launches.empty())
        continue;
      kernel->setAttr(ExecDialect::kLaunchesAttrName, builder.getArrayAttr(launches));
      own->setAttr(kLaunchOpsAttrName, builder.getArrayAttr(ops));
    }
  }
};

} // namespace
