#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDWALK_H
#define DPC_TARGETS_CUDA_GRIDS_GRIDWALK_H

#include "targets/CUDA/Grids/LaunchPlan.h"
#include "targets/Loops/Kernels/AccessWalk.h"

namespace dpc {

/// Visits the memory accesses of the loops that GridEmitter emits, launch by
/// launch, without emitting code. If two loops are distributed over the same
/// threads, they have the same index variable.
class GridWalk : public AccessWalk {
public:
  using AccessWalk::AccessWalk;

  void visitLaunch(const Launch &newLaunch, unsigned ordinal);
  /// Visits the launch that copies `value` to the buffer of a result.
  void visitCopyLaunch(mlir::Value value, unsigned ordinal);

  void inLoops(llvm::ArrayRef<int64_t> shape, Body body) override;

protected:
  void forEachRow(int64_t rows, llvm::function_ref<void(Index)> body) override;
  void forEachElement(const LoopNest &nest, Body body) override;
  void forEach(llvm::ArrayRef<int64_t> shape, Body body) override;
  void visitFill(mlir::Operation *op) override;
  int64_t countFinishes(mlir::Operation *op) const override;
  void visitUses(Index number) override;

private:
  enum class Level { grid, block, thread }; // as in GridEmitter

  void inLaunch(const Launch &newLaunch, llvm::function_ref<void()> body);
  llvm::SmallVector<Index> positionsOf(Index number, llvm::ArrayRef<int64_t> shape);
  void dealToBlock(int64_t count, llvm::function_ref<void(Index)> body);
  void dealToGrid(int64_t count, llvm::function_ref<void(Index)> body);
  void forEachOfBox(const LoopNest &nest, Body body);

  const Launch *launch = nullptr;
  Level level = Level::grid;
  Index thread, block;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_GRIDWALK_H
