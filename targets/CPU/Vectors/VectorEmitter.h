#ifndef DPC_TARGETS_CPU_VECTORS_VECTOREMITTER_H
#define DPC_TARGETS_CPU_VECTORS_VECTOREMITTER_H

#include "targets/Loops/Kernels/KernelEmitter.h"

namespace dpc {

/// Writes kernels for a processor with vectors and caches: loops that LLVM may
/// vectorize, and results that vector fill rules fill if they pay.
class VectorEmitter : public KernelEmitter {
public:
  /// For floating-point vectors of `vectorBytes` bytes, which is 32 or 64.
  VectorEmitter(mlir::OpBuilder &builder, mlir::Location loc, const KernelGraph &graph,
                unsigned vectorBytes, bool multipliesBf16);

  /// Width in bytes of the floating-point vectors for which kernels are blocked.
  const unsigned vectorBytes;
  /// Whether the processor has instructions that multiply bf16 and add in f32
  /// (VectorCode::multiplyAddPairs).
  const bool multipliesBf16;

protected:
  void emitFill(mlir::Operation *op) override;
  void emitTiles(mlir::Operation *op, FinishTile finish) override;
  void forEachElement(const LoopNest &nest,
                      llvm::function_ref<void(llvm::ArrayRef<Index>)> body) override;
  void endTile(llvm::ArrayRef<int64_t> shape,
               llvm::function_ref<Index(llvm::ArrayRef<Index>)> number,
               llvm::ArrayRef<Buffer> streams) override;
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_VECTORS_VECTOREMITTER_H
