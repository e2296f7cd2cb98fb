#ifndef DPC_TARGETS_CPU_VECTORS_VECTOREMITTER_H
#define DPC_TARGETS_CPU_VECTORS_VECTOREMITTER_H

#include "targets/CPU/Vectors/VectorFormat.h"
#include "targets/Loops/Kernels/AccessWalk.h"
#include "targets/Loops/Kernels/KernelEmitter.h"

namespace dpc {

/// Writes kernels for a processor with vectors and caches. It writes loops that
/// LLVM may vectorize. If a vector fill rule of an op pays, the rule computes the
/// results of the op.
class VectorEmitter : public KernelEmitter, public VectorUnit {
public:
  VectorEmitter(mlir::OpBuilder &builder, mlir::Location loc, const KernelGraph &graph,
                const VectorUnit &unit);

protected:
  void emitFill(mlir::Operation *op) override;
  void emitTiles(mlir::Operation *op, FinishTile finish) override;
  void forEachElement(const LoopNest &nest,
                      llvm::function_ref<void(llvm::ArrayRef<Index>)> body) override;
  void endTile(llvm::ArrayRef<int64_t> shape,
               llvm::function_ref<Index(llvm::ArrayRef<Index>)> number,
               llvm::ArrayRef<Buffer> streams) override;
  void beginPiece(Index number, const LoopRows &rows, int64_t elements,
                  llvm::ArrayRef<Buffer> streams) override;

private:
  void prefetch(const Buffer &buffer, Index number);
};

/// Visits the memory accesses of the loops that VectorEmitter emits (AccessWalk).
class VectorWalk : public AccessWalk {
public:
  VectorWalk(const KernelGraph &graph, const KernelPlaces &places, bool keepsOrder,
             const VectorUnit &unit)
      : AccessWalk(graph, places, keepsOrder), unit(unit) {}

protected:
  int64_t countFinishes(mlir::Operation *op) const override;
  void forEachElement(const LoopNest &nest, Body body) override;

private:
  const VectorUnit unit;
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_VECTORS_VECTOREMITTER_H
