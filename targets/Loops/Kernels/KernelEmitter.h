#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELEMITTER_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELEMITTER_H

#include "targets/Loops/Kernels/LoopPlan.h"
#include "targets/Loops/LoopEmitter.h"

#include "llvm/ADT/SetVector.h"

namespace dpc {

/// Bytes of scratch memory in use, by the group that is emitted.
class ScratchAllocator {
public:
  /// Offset of `bytes` bytes that stay allocated until group `lastGroup` is
  /// done.
  int64_t allocate(int64_t bytes, unsigned lastGroup);
  /// Frees what is not needed from `group` on.
  void startGroup(unsigned group);
  int64_t getPeak() const { return peak; }

private:
  struct Piece {
    int64_t offset, bytes;
    unsigned lastGroup;
  };
  llvm::SmallVector<Piece> pieces; // by offset
  int64_t peak = 0;
};

/// Writes the code that uses elements of a result that are final: those with
/// the row-major numbers `number(i)`, for all multi-indices i of `shape`.
using FinishTile = llvm::function_ref<void(
    llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<LoopEmitter::Index(llvm::ArrayRef<LoopEmitter::Index>)> number)>;

/// Writes the loops of one kernel, group by group. A value in memory is read
/// from its buffer; any other is inlined: reading an element of it writes the
/// code that computes the element, once for each index within a group. Targets
/// override how results are filled and how the elements of a nest are visited.
class KernelEmitter : public LoopEmitter {
public:
  /// Memory a value lies in: `address` points to element `first`.
  struct Buffer {
    mlir::Value address;
    mlir::Type elementType; // as stored: i1 as i8
    /// Elements of a row, for a buffer that holds one row at a time; else 0.
    int64_t rowElements = 0;
  };

  KernelEmitter(mlir::OpBuilder &builder, mlir::Location loc, const KernelGraph &graph)
      : LoopEmitter(builder, loc), graph(graph) {}

  void setBuffer(mlir::Value value, Buffer buffer) { buffers[value] = buffer; }
  /// Has every sum add its terms in their order, also where it is computed
  /// once.
  void keepOrder() { keepsOrder = true; }
  void setScratch(mlir::Value address, ScratchAllocator *allocator) {
    scratch = address;
    this->allocator = allocator;
  }

  /// Emits the loops of `group`, the groupOrdinal-th. All values that it makes
  /// must have buffers, except those of `registerValues`. Fails with an error
  /// where a root reads an element that its loops have not made yet.
  mlir::LogicalResult emitGroup(const LoopGroup &group, unsigned groupOrdinal);
  /// Copies `from` into the buffer of another value.
  void emitCopy(mlir::Value from, Buffer to, unsigned groupOrdinal);

  /// Where a value in memory was read or written: (group, stage), and which
  /// element of which row.
  struct Access {
    unsigned group, stage;
    Index number, row;
    int64_t rows;
    /// By a rule that fills a result, in an order of its own.
    bool filling;
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Access>> reads, writes;
  /// Values without a buffer: computed once a row and read in that row alone.
  llvm::DenseSet<mlir::Value> registerValues;

  using LoopEmitter::read;
  mlir::Value read(mlir::Value tensor, const ElementIndex &index) override;
  void store(mlir::Value result, mlir::Value element, Index number) override;
  mlir::Value load(mlir::Value result, Index number) override;
  llvm::SmallVector<int64_t> splitStrides(mlir::Value tensor) override;
  mlir::Value getBuffer(mlir::Value value) override;
  mlir::Value getScratch(int64_t bytes) override;

protected:
  /// Makes all elements of the results of `op`, which is of form `whole` or
  /// `tiles`.
  virtual void emitFill(mlir::Operation *op);
  /// The same for an op of form `tiles`, with `finish` where a tile is final.
  virtual void emitTiles(mlir::Operation *op, FinishTile finish);
  /// Runs `body` for every row of a group. The rows may share scratch memory.
  virtual void forEachRow(int64_t rows, llvm::function_ref<void(Index)> body);
  /// Adds code between two stages of a row: the next one reads what this one
  /// has made.
  virtual void endStage() {}
  /// Runs `body` for every multi-index of a nest.
  virtual void forEachElement(const LoopNest &nest,
                              llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Adds code after the use of a tile, whose elements are `number(i)` of the
  /// buffers `streams`.
  virtual void endTile(llvm::ArrayRef<int64_t> shape,
                       llvm::function_ref<Index(llvm::ArrayRef<Index>)> number,
                       llvm::ArrayRef<Buffer> streams);
  virtual void storeTo(const Buffer &buffer, mlir::Value element, Index number);
  /// The stage that is emitted, counted from 0.
  unsigned getStage() const { return stage - 1; }

private:
  mlir::Value loadFrom(const Buffer &buffer, Index number);
  mlir::Value compute(mlir::Value tensor, const ElementIndex &index);
  void checkRead(mlir::Value tensor, Index number);
  void emitStage(const LoopGroup::Stage &roots);
  void emitFilled(const LoopGroup &loops);
  void emitElements(llvm::ArrayRef<mlir::Operation *> roots, Index number);
  Access here(Index number);
  Index inBuffer(const Buffer &buffer, Index number);

  const KernelGraph &graph;
  bool keepsOrder = false;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  mlir::Value scratch;
  ScratchAllocator *allocator = nullptr;

  // Where emission stands.
  unsigned group = 0, stage = 0;
  int64_t rows = 1;
  Index row;
  bool filling = false;
  /// What was read that is not there.
  mlir::Value missing;
  /// The element of a filled result that is final and being used, and the
  /// values in memory whose elements of the same number are read or written.
  Index finished;
  llvm::SetVector<mlir::Value> streams;
  /// Stage (1, 2, ...) of the current group that makes a value.
  llvm::DenseMap<mlir::Value, unsigned> madeInStage;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELEMITTER_H
