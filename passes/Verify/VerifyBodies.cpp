#include "passes/Verify/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_VERIFYBODIES
#include "passes/Verify/Passes.h.inc"
} // namespace dpc

namespace {

struct VerifyBodiesPass : dpc::impl::VerifyBodiesBase<VerifyBodiesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isExternal()) {
        function.emitError("@") << function.getName() << " has no body";
        signalPassFailure();
      }
  }
};

} // namespace
