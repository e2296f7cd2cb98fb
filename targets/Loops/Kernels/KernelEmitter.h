#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELEMITTER_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELEMITTER_H

#include "targets/Loops/Kernels/KernelAccesses.h"
#include "targets/Loops/Kernels/LoopPlan.h"
#include "targets/Loops/LoopEmitter.h"

#include "llvm/ADT/SetVector.h"

namespace dpc {

/// Emits the code that uses a final tile of a result. The tile consists of the
/// elements with the row-major numbers `number(i)`, for all multi-indices i of
/// `shape`.
using FinishTile = llvm::function_ref<void(
    llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<LoopEmitter::Index(llvm::ArrayRef<LoopEmitter::Index>)> number)>;

/// Emits the loops of one kernel, group by group. To read an element that is not in a
/// register yet, the code loads the element if its value is in memory, and computes the
/// element if its value is inlined. Targets override how results are filled and how
/// loops over elements run.
class KernelEmitter : public LoopEmitter {
public:
  /// The memory of a value.
  struct Buffer {
    mlir::Value address;
    mlir::Type elementType; // the type in memory; i1 is stored as i8
    /// The number of elements of a row if the buffer holds only one row at a time,
    /// otherwise 0.
    int64_t rowElements = 0;
  };

  KernelEmitter(mlir::OpBuilder &builder, mlir::Location loc, const KernelGraph &graph)
      : LoopEmitter(builder, loc), graph(graph) {}

  void setBuffer(mlir::Value value, Buffer buffer) { buffers[value] = buffer; }
  /// Makes every sum add its terms in order. Without it, a sum may add them in any order
  /// if only one place in the code computes it (KernelGraph::isComputedOnce).
  void keepOrder() { keepsOrder = true; }
  void setScratch(mlir::Value address) { scratch = address; }
  /// Sets the pieces of scratch memory that the fill rule of the next group takes,
  /// in order.
  void setPieces(llvm::ArrayRef<ScratchPiece> planned) { pieces = planned; }

  /// Emits the loops of `group`, which is group number `groupOrdinal`. All results
  /// of its roots must have buffers, except those in `registerValues`. Fails with an
  /// error if a root reads an element that the loops have not computed yet, or if a
  /// fill rule takes other scratch memory than planned.
  mlir::LogicalResult emitGroup(const LoopGroup &group, unsigned groupOrdinal);
  /// Runs `body`, which emits the code of group `groupOrdinal`. The code stores elements of results
  /// in an order of its own.
  void fillAs(unsigned groupOrdinal, llvm::function_ref<void()> body);
  /// Emits a copy of the value `from` to the buffer `to`.
  void emitCopy(mlir::Value from, Buffer to, unsigned groupOrdinal);

  /// The accesses of the emitted code to values in memory.
  KernelAccesses accesses;
  /// Values that need no buffer: they are computed in an iteration and read only in
  /// the same iteration.
  llvm::DenseSet<mlir::Value> registerValues;

  using LoopEmitter::read;
  mlir::Value read(mlir::Value tensor, const ElementIndex &index) override;
  void turnTo(size_t n) override { begin(neighbours[n]); }
  void store(mlir::Value result, mlir::Value element, Index number) override;
  mlir::Value load(mlir::Value result, Index number) override;
  llvm::SmallVector<int64_t> splitStrides(mlir::Value tensor) override;
  mlir::Value getBuffer(mlir::Value value) override;
  /// Whether `getBuffer(value)` returns an address.
  bool isInMemory(mlir::Value value) const;
  mlir::Value getScratch(int64_t bytes) override;

protected:
  /// Emits code that computes all elements of the results of `op`. The form of `op`
  /// is `whole` or `tiles`.
  virtual void emitFill(mlir::Operation *op);
  /// As emitFill, for an op of the form `tiles`. Calls `finish` for each tile when
  /// it is final.
  virtual void emitTiles(mlir::Operation *op, FinishTile finish);
  /// Emits a loop that runs `body` for every row of a group. Rows may share scratch
  /// memory, so they must run in order.
  virtual void forEachRow(int64_t rows, llvm::function_ref<void(Index)> body);
  /// Emits code between two stages of a row. The next stage may read results of this
  /// stage.
  virtual void endStage() {}
  /// Emits loops that run `body` for every multi-index of `nest`.
  virtual void forEachElement(const LoopNest &nest,
                              llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Emits loops that run `body` for pieces of `nest` that together are all of it: the multi-index
  /// of the first element, and the number of elements along the innermost loop. `body` emits the
  /// code of all elements of a piece.
  virtual void forEachPiece(const LoopNest &nest,
                            llvm::function_ref<void(llvm::ArrayRef<Index>, int64_t)> body);
  /// Emits code before the loops over a piece of a row. They access the elements from `number` on
  /// of the buffers `streams`, which have `elements` elements.
  virtual void beginPiece(Index number, const LoopRows &rows, int64_t elements,
                          llvm::ArrayRef<Buffer> streams) {}
  /// Emits code that uses the elements `numbers` of a stage, which have been computed and not yet
  /// stored. `elementOf` emits the element of another value with the number `numbers[n]`.
  virtual void useElements(llvm::ArrayRef<Index> numbers,
                           llvm::function_ref<mlir::Value(mlir::Value, size_t n)> elementOf) {}
  /// Emits loops that run `body` for pieces of a final tile of extents `shape`: with the
  /// multi-indices of the elements that are computed before any of them is stored.
  virtual void
  forEachPieceOfTile(llvm::ArrayRef<int64_t> shape,
                     llvm::function_ref<void(llvm::ArrayRef<llvm::SmallVector<Index>>)> body);
  /// Emits code after the code that uses a tile. That code has accessed the elements
  /// `number(i)` of the buffers `streams`, for all multi-indices i of `shape`.
  virtual void endTile(llvm::ArrayRef<int64_t> shape,
                       llvm::function_ref<Index(llvm::ArrayRef<Index>)> number,
                       llvm::ArrayRef<Buffer> streams);
  /// The buffer of a value in memory, for code that loads element `number` itself.
  Buffer bufferToRead(mlir::Value value, Index number);
  /// The buffer of a value in memory, for code that makes the accesses of other code possible, and
  /// so need not record its own.
  Buffer bufferOf(mlir::Value value) const { return buffers.find(value)->second; }
  virtual void storeTo(const Buffer &buffer, mlir::Value element, Index number);
  /// Keeps element `number` of `value` in a register, for later readers in the current scope.
  void rememberElement(mlir::Value value, Index number, mlir::Value element) {
    remember(value.getAsOpaquePointer(), keyOf(number), element);
  }
  /// Emits the computation of an element that is in no register and in no buffer.
  virtual mlir::Value compute(mlir::Value tensor, const ElementIndex &index);
  const void *keyOf(Index number) const;
  /// Whether the code reads elements in an order of its own, so that a result must not share the
  /// buffer of an operand that it reads.
  bool filling = false;
  /// The part of the group that the code computes, if its parts run at the same time.
  unsigned part = 0;
  /// The number of the current stage, from 0.
  unsigned getStage() const { return stage - 1; }

private:
  mlir::Value loadFrom(const Buffer &buffer, Index number);
  Values computeNeighbours(mlir::Value tensor, llvm::ArrayRef<Index> numbers);
  Values readNeighbours(mlir::Value tensor, llvm::ArrayRef<Index> numbers);
  void begin(Index number);
  void checkRead(mlir::Value tensor, Index number);
  void emitStage(const LoopGroup::Stage &roots);
  llvm::SmallVector<Buffer> findStreams(const LoopGroup::Stage &roots) const;
  void emitFilled(const LoopGroup &loops);
  void emitElements(llvm::ArrayRef<mlir::Operation *> roots, llvm::ArrayRef<Index> numbers);
  KernelAccesses::Access here(Index number);
  mlir::LogicalResult checkPieces(mlir::Operation *op);
  Index inBuffer(const Buffer &buffer, Index number);

  const KernelGraph &graph;
  bool keepsOrder = false;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  mlir::Value scratch;
  llvm::ArrayRef<ScratchPiece> pieces;
  /// The sizes of the pieces of scratch memory that the fill rule of the current
  /// group has taken.
  llvm::SmallVector<int64_t> taken;

  // The current group, stage and row.
  unsigned group = 0, stage = 0;
  LoopRows rows;
  Index row;
  /// The number of the element that the loops of a stage compute, and the number under which their
  /// accesses to this element are recorded. It is the same for all elements of all pieces
  /// (forEachPiece), because each piece is read before it is written, and pieces have no common
  /// elements.
  Index own, recorded;
  /// The elements that a rule computes in the same loops and branches.
  llvm::ArrayRef<Index> neighbours;
  /// A value whose element was read before the loops computed it; null if there is
  /// none.
  mlir::Value missing;
  /// While code uses a final tile: the number of the current element, and the values
  /// in memory whose element with this number the code reads or writes.
  Index finished;
  llvm::SetVector<mlir::Value> streams;
  /// For each value that the current group computes: the number of its stage, from
  /// 1.
  llvm::DenseMap<mlir::Value, unsigned> madeInStage;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELEMITTER_H
