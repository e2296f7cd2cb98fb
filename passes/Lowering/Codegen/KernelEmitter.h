#ifndef DPC_PASSES_LOWERING_CODEGEN_KERNELEMITTER_H
#define DPC_PASSES_LOWERING_CODEGEN_KERNELEMITTER_H

#include "passes/Lowering/Codegen/KernelGraph.h"

namespace dpc {

/// Roots that share loops: one loop over `rows` equal parts of all of them, and
/// in it the stages one after the other. The roots of a stage have one number
/// of elements and are computed in one loop. Where the first stage is a pushed
/// op, the second is computed from its elements as soon as they are final.
struct LoopGroup {
  int64_t rows = 1;
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> stages;

  bool isPushed() const { return dpc::isPushed(stages[0][0]); }
};

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

/// Writes the loops of one kernel. Every value in memory has a buffer; reading
/// any other computes it. Within a group, a value computed at an index is not
/// computed at that index again.
class KernelEmitter : public LoopEmitter {
public:
  /// Memory a value lies in: `address` points to element `first`.
  struct Buffer {
    mlir::Value address;
    mlir::Type elementType; // as stored: i1 as i8
    /// Elements of a row, for a buffer that holds one row at a time; else 0.
    int64_t rowElements = 0;
  };

  KernelEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                const KernelGraph &graph);

  void setBuffer(mlir::Value value, Buffer buffer) { buffers[value] = buffer; }
  /// Has every sum add its terms in their order, also where it is computed
  /// once.
  void keepOrder() { keepsOrder = true; }
  void setScratch(mlir::Value address, ScratchAllocator *allocator) {
    scratch = address;
    this->allocator = allocator;
  }

  /// Emits the loops of `group`, the groupOrdinal-th. All values it makes must
  /// have buffers, but for those computed once a row and read in their row.
  mlir::LogicalResult emitGroup(const LoopGroup &group, unsigned groupOrdinal);
  /// Copies `from` into the buffer of another value.
  void emitCopy(mlir::Value from, Buffer to, unsigned groupOrdinal);
  /// Whether a read since the start broke the rule of its group: a value made
  /// in the group was read before it was made, or in another row.
  bool hasIllegalRead() const { return illegal; }

  /// Where a value in memory was read or written: (group, stage), and which
  /// element of which row.
  struct Access {
    unsigned group, stage;
    Index number, row;
    int64_t rows;
    bool pushed;
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Access>> reads, writes;
  /// Values without a buffer: computed once a row and read in that row alone.
  llvm::DenseSet<mlir::Value> registerValues;

  using LoopEmitter::read;
  mlir::Value read(mlir::Value tensor, const ElementIndex &index) override;
  void store(mlir::Value result, mlir::Value element, Index number) override;
  mlir::Value load(mlir::Value result, Index number) override;
  llvm::SmallVector<int64_t> cutsOf(mlir::Value tensor) override;
  mlir::Value getBuffer(mlir::Value value) override;
  mlir::Value getScratch(int64_t bytes) override;

  mlir::Value loadFrom(const Buffer &buffer, Index number);
  void storeTo(const Buffer &buffer, mlir::Value element, Index number);

private:
  mlir::Value compute(mlir::Value tensor, const ElementIndex &index);
  void emitStage(llvm::ArrayRef<mlir::Operation *> stage, int64_t rows);
  mlir::LogicalResult emitPushed(const LoopGroup &loops);
  void prefetchStreams(llvm::ArrayRef<int64_t> shape,
                       llvm::function_ref<Index(llvm::ArrayRef<Index>)> number);
  void emitElements(llvm::ArrayRef<mlir::Operation *> stage, Index number);
  llvm::SmallVector<int64_t> cutsOfOp(mlir::Operation *op);
  std::optional<unsigned> transposedDimension(mlir::Operation *op,
                                              llvm::ArrayRef<int64_t> extents);
  void forEachTiled(llvm::ArrayRef<int64_t> extents,
                    std::optional<unsigned> strided,
                    llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  Access here(Index number);
  Index inBuffer(const Buffer &buffer, Index number);

  const KernelGraph &graph;
  bool keepsOrder = false;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> cuts;
  mlir::Value scratch;
  ScratchAllocator *allocator = nullptr;

  // Where emission stands.
  unsigned group = 0, stage = 0;
  int64_t rows = 1;
  Index row;
  bool pushing = false, illegal = false;
  /// The element of a pushed op's result that is final and being used, and the
  /// values in memory whose elements of the same number are read or written.
  Index finished;
  llvm::SetVector<mlir::Value> streams;
  /// Stage (1, 2, ...) of the current group that makes a value.
  llvm::DenseMap<mlir::Value, unsigned> madeInStage;
};

/// Extents of a loop nest over `count` elements that tells `cuts` apart; empty
/// when no nest does.
std::optional<llvm::SmallVector<int64_t>>
nestExtents(int64_t count, llvm::ArrayRef<int64_t> cuts);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_CODEGEN_KERNELEMITTER_H
