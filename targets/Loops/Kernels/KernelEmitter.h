#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELEMITTER_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELEMITTER_H

#include "targets/Loops/Kernels/KernelAccesses.h"
#include "targets/Loops/Kernels/LoopPlan.h"
#include "targets/Loops/LoopEmitter.h"

#include "llvm/ADT/SetVector.h"

namespace dpc {

/// Writes the code that uses final elements of a result: those with the row-major
/// numbers `number(i)`, for all multi-indices i of `shape`.
using FinishTile = llvm::function_ref<void(
    llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<LoopEmitter::Index(llvm::ArrayRef<LoopEmitter::Index>)> number)>;

/// Writes the loops of one kernel, group by group. A value in memory is loaded from
/// its buffer. Any other value is inlined: reading an element writes the code that
/// computes it, once for each index within a group. Targets override how results
/// are filled and how the elements of a nest are visited.
class KernelEmitter : public LoopEmitter {
public:
  /// The memory of a value: `address` points to element `first`.
  struct Buffer {
    mlir::Value address;
    mlir::Type elementType; // as stored: i1 as i8
    /// Number of elements in a row if the buffer holds one row at a time; else 0.
    int64_t rowElements = 0;
  };

  KernelEmitter(mlir::OpBuilder &builder, mlir::Location loc, const KernelGraph &graph)
      : LoopEmitter(builder, loc), graph(graph) {}

  void setBuffer(mlir::Value value, Buffer buffer) { buffers[value] = buffer; }
  /// Makes every sum add its terms in order, even a sum that is computed only once.
  void keepOrder() { keepsOrder = true; }
  void setScratch(mlir::Value address) { scratch = address; }
  /// Gives the next group the pieces of scratch memory that its rule takes, in their
  /// order.
  void setPieces(llvm::ArrayRef<ScratchPiece> planned) { pieces = planned; }

  /// Emits the loops of `group`, which has the number groupOrdinal. All values that
  /// the group makes must have buffers, except those in `registerValues`. Fails
  /// with an error if a root reads an element that its loops have not made yet, or
  /// takes other scratch memory than planned.
  mlir::LogicalResult emitGroup(const LoopGroup &group, unsigned groupOrdinal);
  /// Copies `from` into the buffer of another value.
  void emitCopy(mlir::Value from, Buffer to, unsigned groupOrdinal);

  /// The accesses of the code to values in memory.
  KernelAccesses accesses;
  /// Values without a buffer: computed once per row and read only in that row.
  llvm::DenseSet<mlir::Value> registerValues;

  using LoopEmitter::read;
  mlir::Value read(mlir::Value tensor, const ElementIndex &index) override;
  void store(mlir::Value result, mlir::Value element, Index number) override;
  mlir::Value load(mlir::Value result, Index number) override;
  llvm::SmallVector<int64_t> splitStrides(mlir::Value tensor) override;
  mlir::Value getBuffer(mlir::Value value) override;
  /// Whether `getBuffer` gives an address.
  bool isInMemory(mlir::Value value) const;
  mlir::Value getScratch(int64_t bytes) override;

protected:
  /// Makes all elements of the results of `op`, which has form `whole` or `tiles`.
  virtual void emitFill(mlir::Operation *op);
  /// The same for an op of form `tiles`; calls `finish` for each tile that is
  /// final.
  virtual void emitTiles(mlir::Operation *op, FinishTile finish);
  /// Runs `body` for every row of a group. Rows may share scratch memory.
  virtual void forEachRow(int64_t rows, llvm::function_ref<void(Index)> body);
  /// Adds code between two stages of a row. The next stage reads the results of
  /// this one.
  virtual void endStage() {}
  /// Runs `body` for every multi-index of a nest.
  virtual void forEachElement(const LoopNest &nest,
                              llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Adds code after the use of a tile, which consists of the elements `number(i)`
  /// of the buffers `streams`.
  virtual void endTile(llvm::ArrayRef<int64_t> shape,
                       llvm::function_ref<Index(llvm::ArrayRef<Index>)> number,
                       llvm::ArrayRef<Buffer> streams);
  virtual void storeTo(const Buffer &buffer, mlir::Value element, Index number);
  /// The number of the stage that is being emitted, counted from 0.
  unsigned getStage() const { return stage - 1; }

private:
  mlir::Value loadFrom(const Buffer &buffer, Index number);
  mlir::Value compute(mlir::Value tensor, const ElementIndex &index);
  void checkRead(mlir::Value tensor, Index number);
  void emitStage(const LoopGroup::Stage &roots);
  void emitFilled(const LoopGroup &loops);
  void emitElements(llvm::ArrayRef<mlir::Operation *> roots, Index number);
  KernelAccesses::Access here(Index number);
  mlir::LogicalResult checkPieces(mlir::Operation *op);
  Index inBuffer(const Buffer &buffer, Index number);

  const KernelGraph &graph;
  bool keepsOrder = false;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  mlir::Value scratch;
  llvm::ArrayRef<ScratchPiece> pieces;
  /// The bytes that the rule of the current group has taken.
  llvm::SmallVector<int64_t> taken;

  // The position of emission.
  unsigned group = 0, stage = 0;
  int64_t rows = 1;
  Index row;
  bool filling = false;
  /// A value of which an element was read that does not exist yet.
  mlir::Value missing;
  /// The final element of a filled result that is being used, and the values in
  /// memory whose elements of the same number are read or written.
  Index finished;
  llvm::SetVector<mlir::Value> streams;
  /// The number (1, 2, ...) of the stage in the current group that makes a value.
  llvm::DenseMap<mlir::Value, unsigned> madeInStage;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELEMITTER_H
