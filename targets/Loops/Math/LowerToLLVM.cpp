#include "targets/Loops/Math/LowerToLLVM.h"

#include "targets/Loops/Math/MathExpansion.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace dpc;

namespace {
/// Expands math ops to arithmetic or calls; see MathExpansion.h.
struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  void runOnOperation() override {
    // Each op on 16-bit floats must round its result. The emulation pass before
    // this one sets flags that permit leaving out roundings between the ops of one
    // kernel. The bits would then differ from those of the same ops in another
    // kernel.
    getOperation().walk([](arith::ExtFOp op) { op.removeFastmathAttr(); });
    getOperation().walk([](arith::TruncFOp op) { op.removeFastmathAttr(); });
    expandMath(getOperation());
  }
};
} // namespace

LogicalResult dpc::lowerToLLVM(ModuleOp kernels) {
  PassManager passes(kernels.getContext());
  passes.enableVerifier(false);
  // Each kernel is a nested module, so kernels are lowered in parallel.
  OpPassManager &nested = passes.nest<ModuleOp>();
  nested.addPass(math::createMathLegalizeToF32());
  arith::ArithEmulateUnsupportedFloatsOptions floats;
  SmallVector<std::string> narrow{"bf16", "f16"};
  floats.sourceTypeStrs = narrow;
  floats.targetTypeStr = "f32";
  nested.addPass(arith::createArithEmulateUnsupportedFloats(floats));
  nested.addPass(std::make_unique<ExpandMathPass>());
  nested.addPass(createArithToLLVMConversionPass());
  return passes.run(kernels);
}
