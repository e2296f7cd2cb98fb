#ifndef DPC_PASSES_LOWERING_CODEGEN_CODEGEN_H
#define DPC_PASSES_LOWERING_CODEGEN_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace llvm {
class raw_pwrite_stream;
}

namespace dpc {

/// What code is generated for, and how.
struct TargetOptions {
  /// `native` (this machine), `x86-64-v3` or `x86-64-v4`.
  std::string cpu = "native";
  /// Whether each reader of a short computation may repeat it; if not, what has
  /// several readers is kept in memory. Bits do not depend on it.
  bool recompute = true;
  /// Whether every sum adds its terms in their order; if not, those that are
  /// computed at one place only are added in the order that is fastest there.
  bool orderedSums = false;

  /// Bytes of the floating-point vectors kernels are blocked for: 64 where the
  /// target has AVX-512, else 32.
  unsigned getVectorBytes() const;
};

/// What a caller must know of one function of generated code.
struct KernelCode {
  /// Bytes of scratch memory the function needs, 64-byte aligned.
  int64_t scratchBytes = 0;
  /// For each result, the operands whose buffer it may share: element i of the
  /// operand is not read once element i of the result has been written. A
  /// result may take one of them; no two results the same.
  llvm::SmallVector<llvm::SmallVector<unsigned>> mayAlias;
};

/// Registers what `compileKernels` needs with a dialect registry.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Adds to `target` a function of C type `void symbol(char *const *buffers)`
/// that computes `op`, an `nn.kernel` or `nn.update`. `buffers` points to the
/// operands' buffers (scalars too), then the results', then one of scratch
/// memory. Buffers are dense and row-major, i1 takes a byte, and no two of them
/// overlap but as `mayAlias` says. The context must have the dialects of
/// `registerCodegenDialects` loaded. Fails with an error on the op that has no
/// loop rule.
mlir::FailureOr<KernelCode> emitKernel(mlir::Operation *op,
                                       llvm::StringRef symbol,
                                       mlir::ModuleOp target,
                                       const TargetOptions &options = {});

/// Lowers the modules nested in `kernels`, in place, to the LLVM dialect.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp kernels);

class ObjectCache;

/// The code of one kernel.
struct KernelObject {
  /// Its name in the program.
  std::string kernel;
  /// Its function in the object: equal code has equal names in all programs.
  std::string symbol;
  /// A position-independent object file. It needs libm.
  std::string object;
};

/// Compiles each module nested in `kernels`, which is named after the kernel
/// whose function `emitKernel` put into it, and lowers it in place. Uses as
/// many threads as the context has. What `cache` has, if there is one, is taken
/// from it, and the rest added.
mlir::FailureOr<std::vector<KernelObject>>
compileKernels(mlir::ModuleOp kernels, const TargetOptions &options,
               const ObjectCache *cache = nullptr);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_CODEGEN_CODEGEN_H
