#include "passes/Lowering/KernelTable.h"
#include "passes/Lowering/Passes.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/Program.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {

struct OutlineKernelsPass : dpc::impl::OutlineKernelsBase<OutlineKernelsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<KernelOpInterface>(op))
        ops.push_back(op);
    });
    KernelTable kernels(getOperation());
    for (Operation *op : ops) {
      func::FuncOp kernel = kernels.getOrCreate(op);
      OpBuilder builder(op);
      auto call = builder.create<func::CallOp>(op->getLoc(), kernel, op->getOperands());
      op->replaceAllUsesWith(call);
      op->erase();
    }
    kernels.nameNodes();
    getOperation()->walk([&](dist::MicroOp micro) {
      for (auto [index, result] : llvm::enumerate(micro.getResults()))
        if (micro.getResultKind(index) == dist::MicroKind::summed)
          createAccumulateKernel(getOperation(), result.getType());
    });
  }
};

} // namespace
