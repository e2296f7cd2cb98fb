#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDEMITTER_H
#define DPC_TARGETS_CUDA_GRIDS_GRIDEMITTER_H

#include "targets/CUDA/Grids/LaunchPlan.h"
#include "targets/Loops/Kernels/KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace dpc {

/// Writes the loops of a kernel for grids of threads. Every loop of the rules is at
/// one of three levels:
///
/// * grid: the outermost loops; their iterations are distributed over all threads;
/// * block: loops that each block runs, with the same values in all of its threads. The
///   iterations of forEach and reduce are distributed over the threads of the block; every
///   thread runs any other loop completely;
/// * thread: loops inside a distributed iteration: plain loops.
///
/// Barriers are only at level block, where all threads of the block arrive.
class GridEmitter : public KernelEmitter {
public:
  GridEmitter(mlir::OpBuilder &builder, mlir::Location loc, const KernelGraph &graph,
              mlir::ModuleOp module)
      : KernelEmitter(builder, loc, graph), module(module) {}

  /// Whether products of f32 round their factors to tf32.
  bool usesTf32 = false;

  /// Begins the code of `launch` at the builder's insertion point, the start of the
  /// function `symbol`.
  void beginLaunch(const Launch &launch, llvm::StringRef symbol);
  void endLaunch();

  /// Scratch memory in which the launches of a fill rule pass values to later
  /// launches.
  mlir::Value phaseScratch;

  void forEach(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<Index>)> body,
               Lanes lanes = Lanes::whereEstimated) override;
  Values reduce(llvm::ArrayRef<int64_t> shape, mlir::ValueRange identity,
                llvm::function_ref<Values(llvm::ArrayRef<Index>, mlir::ValueRange)> accumulate,
                llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> combine) override;
  int64_t getSumTerms() const override;
  void meet() override;
  mlir::Value getScratch(int64_t bytes) override;

  /// For rules that make tiles: calls `body` with the multi-index of `shape` that
  /// this block computes, and with this thread's number. All threads of a block run
  /// it, and loops of forEach are distributed over them.
  void forEachBlock(llvm::ArrayRef<int64_t> shape,
                    llvm::function_ref<void(llvm::ArrayRef<Index>, Index thread)> body);
  /// In such a body: code that one thread runs if `condition` holds (null: always).
  void alone(mlir::Value condition, llvm::function_ref<void()> body);
  /// In such a body: stores a final element, and runs the code of `finish` (may be
  /// null) on it while it is in a register.
  void storeFinal(mlir::Value result, mlir::Value element, Index number, FinishTile finish);

  /// In such a body: combines the values of `lanes` consecutive threads by
  /// `combine`, which must allow any order. Every one of them gets the result.
  mlir::Value combineLanes(mlir::Value mine, int64_t lanes,
                           llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  /// Allocates `bytes` of memory that the threads of a block share, 16-byte
  /// aligned, under a name of its own.
  mlir::Value allocateShared(int64_t bytes);

protected:
  void emitFill(mlir::Operation *op) override;
  void emitTiles(mlir::Operation *op, FinishTile finish) override;
  void forEachRow(int64_t rows, llvm::function_ref<void(Index)> body) override;
  void forEachElement(const LoopNest &nest,
                      llvm::function_ref<void(llvm::ArrayRef<Index>)> body) override;
  void endStage() override;
  void storeTo(const Buffer &buffer, mlir::Value element, Index number) override;

private:
  enum class Level { grid, block, thread };

  llvm::SmallVector<Index> positionsOf(Index number, llvm::ArrayRef<int64_t> shape);
  Values dealToBlock(int64_t count, mlir::ValueRange initial,
                     llvm::function_ref<Values(Index, mlir::ValueRange)> body);
  void dealToGrid(int64_t count, llvm::function_ref<void(Index)> body);
  void forEachOfSquare(const LoopNest &nest, llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  Values combineWarp(mlir::ValueRange mine,
                     llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> combine);
  Values combineBlock(mlir::ValueRange mine,
                      llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> combine);
  mlir::Value shuffle(mlir::Value value, int lane, mlir::NVVM::ShflKind kind);
  void barrier();

  mlir::ModuleOp module;
  const Launch *launch = nullptr;
  std::string symbol;
  Level level = Level::grid;
  /// The number of this thread in its block, and of this block in the grid.
  mlir::Value threadValue, blockValue;
  Index thread, block;
  /// Shared memory for one value per warp during a reduction, by its size in bytes.
  llvm::DenseMap<int64_t, mlir::Value> slots;
  unsigned sharedBuffers = 0;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_GRIDEMITTER_H
