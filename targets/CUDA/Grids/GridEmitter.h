#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDEMITTER_H
#define DPC_TARGETS_CUDA_GRIDS_GRIDEMITTER_H

#include "targets/CUDA/Grids/LaunchPlan.h"
#include "targets/Loops/Kernels/KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace dpc {

/// Writes the loops of a kernel for grids of threads. Every loop of the rules
/// stands at one of three levels:
///
/// * grid: outside of everything; its iterations are dealt to all threads;
/// * block: each block runs it, all of its threads with the same values; what
///   forEach and reduce go through is dealt to them, any other loop is run by
///   every thread;
/// * thread: inside of what was dealt: a plain loop.
///
/// Barriers stand at level block alone, where no thread has gone another way.
class GridEmitter : public KernelEmitter {
public:
  GridEmitter(mlir::OpBuilder &builder, mlir::Location loc, const KernelGraph &graph,
              mlir::ModuleOp module)
      : KernelEmitter(builder, loc, graph), module(module) {}

  /// Whether products of f32 round their factors to tf32.
  bool usesTf32 = false;

  /// Begins the code of `launch` where the builder stands, at the start of the
  /// function `symbol`.
  void beginLaunch(const Launch &launch, llvm::StringRef symbol);
  void endLaunch();

  /// Memory that the launches of a fill rule hand numbers on in.
  mlir::Value phaseScratch;

  void forEach(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<Index>)> body,
               Lanes lanes = Lanes::whereEstimated) override;
  Values reduce(llvm::ArrayRef<int64_t> shape, mlir::ValueRange identity,
                llvm::function_ref<Values(llvm::ArrayRef<Index>, mlir::ValueRange)> accumulate,
                llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> combine) override;
  int64_t getSumTerms() const override;
  void meet() override;
  mlir::Value getScratch(int64_t bytes) override;

  /// Where an op makes tiles: `body` for the multi-index of `shape` that this
  /// block is, with this thread's number. All threads of a block run it; loops
  /// of forEach are dealt to them.
  void forEachBlock(llvm::ArrayRef<int64_t> shape,
                    llvm::function_ref<void(llvm::ArrayRef<Index>, Index thread)> body);
  /// There, what a thread does alone where `condition` (null: always) holds.
  void alone(mlir::Value condition, llvm::function_ref<void()> body);
  /// There, stores an element that is final, and makes of it what `finish` (may
  /// be null) does, while it is at hand.
  void storeFinal(mlir::Value result, mlir::Value element, Index number, FinishTile finish);

  /// There, what `combine`, which asks for no order, makes of the values of `lanes`
  /// threads that follow each other: in all of them.
  mlir::Value combineLanes(mlir::Value mine, int64_t lanes,
                           llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  /// `bytes` of memory that the threads of a block share, 16-byte aligned, under
  /// a name of its own.
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
  /// Of this thread in its block, of this block in the grid.
  mlir::Value threadValue, blockValue;
  Index thread, block;
  /// Where a value of each warp lies during a reduction, by the bytes of all.
  llvm::DenseMap<int64_t, mlir::Value> slots;
  unsigned sharedBuffers = 0;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_GRIDEMITTER_H
