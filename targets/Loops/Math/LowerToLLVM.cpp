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
/// Replaces math ops by arithmetic (expandMath).
struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  void runOnOperation() override {
    // Every op on 16-bit floats must round its result. Otherwise the bits of a
    // result would depend on the other ops in its kernel. The pass that emulates
    // 16-bit floats sets flags which allow LLVM to omit roundings, so remove these
    // flags.
    getOperation().walk([](arith::ExtFOp op) { op.removeFastmathAttr(); });
    getOperation().walk([](arith::TruncFOp op) { op.removeFastmathAttr(); });
    expandMath(getOperation());
  }
};
} // namespace

LogicalResult dpc::lowerToLLVM(ModuleOp kernels) {
  PassManager passes(kernels.getContext());
  passes.enableVerifier(false);
  // Each kernel is a nested module, so the pass manager lowers kernels in
  // parallel.
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
