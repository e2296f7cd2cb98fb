#include "passes/Lowering/Codegen/Codegen.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace dpc;

unsigned TargetOptions::getVectorBytes() const {
  if (cpu == "native")
    return llvm::sys::getHostCPUFeatures().lookup("avx512f") ? 64 : 32;
  return cpu == "x86-64-v4" ? 64 : 32;
}

void dpc::registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
