#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDEMITTER_H
#define DPC_TARGETS_CUDA_GRIDS_GRIDEMITTER_H

#include "targets/CUDA/Grids/LaunchPlan.h"
#include "targets/Loops/Kernels/KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace dpc {

/// Emits the loops of a kernel for grids of threads. Every loop that a rule emits is at
/// one of three levels:
///
/// * grid: the outermost loops. Their iterations are distributed over the threads or over
///   the blocks of the grid.
/// * block: loops that all threads of a block run with the same values. The iterations of
///   forEach are distributed over the threads of the block, and so are those of reduce,
///   unless a reduction is short or ordered. All other loops run completely in every thread.
/// * thread: loops that one thread runs alone, e.g. inside an iteration that was assigned to
///   this thread. They are plain loops.
///
/// Barriers are only at the level block, because there all threads of the block reach
/// them.
class GridEmitter : public KernelEmitter {
public:
  GridEmitter(mlir::OpBuilder &builder, mlir::Location loc, const KernelGraph &graph,
              mlir::ModuleOp module)
      : KernelEmitter(builder, loc, graph), module(module) {
    narrowIndices = joinsNeighbours = true;
  }

  /// How products of f32 multiply their factors.
  FactorForm factors = FactorForm::whole;
  /// Whether one instruction rounds to tf32 (compute capability 9.0).
  bool roundsToTf32 = false;

  /// Emits the launch that adds up the partial sums over columns of the launch before
  /// (ColumnSums), as launch number `ordinal`.
  void emitSums(unsigned ordinal);
  /// Emits a launch of the kind `joint`, as launch number `ordinal`.
  mlir::LogicalResult emitJoint(unsigned ordinal);

  /// Begins the code of `launch`. The insertion point of the builder is at the start of
  /// the function `symbol`.
  void beginLaunch(const Launch &launch, llvm::StringRef symbol);
  void endLaunch();

  /// Scratch memory in which a launch of a fill rule passes values to later launches of
  /// the rule, or a launch with sums over columns passes partial sums to the next one.
  mlir::Value phaseScratch;

  void forEach(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<Index>)> body,
               Lanes lanes = Lanes::whereEstimated) override;
  Values reduce(llvm::ArrayRef<int64_t> shape, mlir::ValueRange identity,
                llvm::function_ref<Values(llvm::ArrayRef<Index>, mlir::ValueRange)> accumulate,
                llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> combine) override;
  void sequenceOfFound(int64_t extent, llvm::function_ref<Found(Index)> find,
                       llvm::function_ref<void(Index, Index)> body) override;
  int64_t getSumTerms() const override;
  void meet() override;
  mlir::Value getScratch(int64_t bytes) override;

  /// For rules that compute tiles. `body` emits the code of one block. It gets the
  /// multi-index of `shape` that this block computes, and the number of this thread in the
  /// block. All threads of the block run this code, and its forEach loops are distributed
  /// over them.
  void forEachBlock(llvm::ArrayRef<int64_t> shape,
                    llvm::function_ref<void(llvm::ArrayRef<Index>, Index thread)> body);
  /// Inside forEachBlock: the number of this thread, which the device reads again. Code after a
  /// long loop that computes with it needs no registers during the loop. The same holds for what
  /// `body` of readBlockAgain computes with the numbers of the block and the thread.
  Index readThreadAgain();
  void readBlockAgain(llvm::ArrayRef<int64_t> shape,
                      llvm::function_ref<void(llvm::ArrayRef<Index>, Index thread)> body);
  /// The ops that the fill rule of the launch computes together (mayShareLaunch).
  llvm::ArrayRef<mlir::Operation *> getFilled() const { return launch->group.stages[0].roots; }
  /// Inside forEachBlock: emits code that this thread runs without the other threads if
  /// `condition` holds. A null condition always holds.
  void alone(mlir::Value condition, llvm::function_ref<void()> body);
  /// Inside forEachBlock: the address of an element of an operand in global memory, from
  /// which code only reads. `isInMemory(tensor)` must hold. The element need not exist if the
  /// code does not access it.
  mlir::Value globalAddressOf(mlir::Value tensor, Index number);
  /// Inside forEachBlock: stores final elements that one thread has. If `finish` is not null,
  /// also emits the code of `finish` for the elements, while they are in registers. Elements that
  /// are neighbours are stored together.
  void storeFinal(mlir::Value result, mlir::ValueRange elements, llvm::ArrayRef<Index> numbers,
                  FinishTile finish);
  /// Inside forEachBlock: emits the code of `finish` for final elements that one thread has stored.
  void finishTile(llvm::ArrayRef<Index> numbers, FinishTile finish);

  /// Inside forEachBlock: combines the values `mine` of `lanes` consecutive threads, in an
  /// unspecified order. All these threads get the result.
  mlir::Value combineLanes(mlir::Value mine, int64_t lanes,
                           llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  /// Returns `mine` of the thread of the warp whose number differs in the bits of `distance`. All
  /// threads of the warp must run this code.
  mlir::Value exchange(mlir::Value mine, int distance) {
    return shuffle(mine, distance, mlir::NVVM::ShflKind::bfly);
  }

  /// Returns the elements of a vector in registers.
  Values elementsOf(mlir::Value vector);

  /// Allocates `bytes` bytes of shared memory of the block, aligned to 16 bytes, and
  /// returns its address.
  mlir::Value allocateShared(int64_t bytes);
  /// As allocateShared. The address is one in the address space of shared memory.
  mlir::Value allocateInSharedSpace(int64_t bytes);

protected:
  void emitFill(mlir::Operation *op) override;
  void emitTiles(mlir::Operation *op, FinishTile finish) override;
  void forEachRow(int64_t rows, llvm::function_ref<void(Index)> body) override;
  void forEachElement(const LoopNest &nest,
                      llvm::function_ref<void(llvm::ArrayRef<Index>)> body) override;
  void forEachPiece(const LoopNest &nest,
                    llvm::function_ref<void(llvm::ArrayRef<Index>, int64_t)> body) override;
  void forEachPieceOfTile(
      llvm::ArrayRef<int64_t> shape,
      llvm::function_ref<void(llvm::ArrayRef<llvm::SmallVector<Index>>)> body) override;
  void endStage() override;
  mlir::Value compute(mlir::Value tensor, const ElementIndex &index) override;
  void useElements(llvm::ArrayRef<Index> numbers,
                   llvm::function_ref<mlir::Value(mlir::Value, size_t)> elementOf) override;
  void storeTo(const Buffer &buffer, mlir::Value element, Index number) override;

private:
  enum class Level { grid, block, thread };

  llvm::SmallVector<Index> positionsOf(Index number, llvm::ArrayRef<int64_t> shape);
  Values
  reduceInPieces(llvm::ArrayRef<int64_t> shape, mlir::ValueRange identity,
                 llvm::function_ref<Values(llvm::ArrayRef<Index>, mlir::ValueRange)> accumulate);
  Values dealToBlock(int64_t count, mlir::ValueRange initial,
                     llvm::function_ref<Values(Index, mlir::ValueRange)> body);
  mlir::LogicalResult emitParts(llvm::ArrayRef<Launch> parts, int64_t begin, unsigned ordinal);
  void copyRow(Index row, int64_t rows);
  void forEachRowOfBlock(int64_t rows, llvm::function_ref<void(Index)> body);
  void dealToGrid(int64_t count, llvm::function_ref<void(Index)> body);
  void forEachTeam(int64_t elements, llvm::function_ref<void(Index)> body);
  void forEachPieceOfBox(const LoopNest &nest,
                         llvm::function_ref<void(llvm::ArrayRef<Index>, int64_t)> body);
  mlir::Value gather(const BoxPlan::Gathered &value, llvm::ArrayRef<Index> box);
  Index placeOf(const BoxPlan::Gathered &value, llvm::ArrayRef<Index> at, mlir::Type type);
  void dealBox(const BoxPlan::Sweep &sweep, llvm::ArrayRef<Index> box,
               llvm::function_ref<void(llvm::ArrayRef<Index> position, Index inRun,
                                       llvm::ArrayRef<llvm::SmallVector<Index>> inBox)>
                   body);
  Values combineTeam(mlir::ValueRange mine,
                     llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> combine);
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
  /// The number of this thread in its block, or in its team if it belongs to one of several. The
  /// number of this block in the grid.
  mlir::Value threadValue, blockValue;
  int64_t firstBlock = 0; // of the part of a joint launch
  Index thread, block;
  /// Whether the element of this thread's team exists. Null if it does in every team.
  mlir::Value isThere;
  /// The shared memory in which reductions keep the values of each warp, by its size in
  /// bytes.
  llvm::DenseMap<int64_t, mlir::Value> slots;
  unsigned sharedBuffers = 0;
  /// The elements of a box that are in shared memory, by their value and the key of their number:
  /// the address, and the number of the element there.
  llvm::DenseMap<std::pair<mlir::Value, const void *>, std::pair<mlir::Value, Index>> gathered;
  /// The accumulators of the block's sums over columns: those of the first sum, then those of the
  /// second, and so on.
  mlir::Value columnTotals;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_GRIDEMITTER_H
