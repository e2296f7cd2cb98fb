#ifndef DPC_TARGETS_CPU_OPS_ATTENTIONTILES_H
#define DPC_TARGETS_CPU_OPS_ATTENTIONTILES_H

#include "dialects/NN/IR/AttentionShape.h"
#include "targets/CPU/Vectors/MatrixPacking.h"

namespace dpc::nn {

/// What the kernels of an attention and of its gradient share: one head's
/// operands, copied where register tiles read them fast, and scores by blocks
/// of queries and panels of keys. Copies of 16-bit operands are f32, and so is
/// all that is computed.
class AttentionTiles {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  AttentionTiles(VectorEmitter &emitter, mlir::Type factorType, const AttentionShape &shape,
                 mlir::Value mask, llvm::ArrayRef<int64_t> maskDimensions);

  VectorEmitter &e;
  /// The type of operands in memory, and of their gradients.
  mlir::Type factorType;
  VectorCode code;
  const AttentionShape &shape;
  /// Keys of a panel, and panels.
  int64_t width, panels;
  /// Keys or queries that a sum over them takes at a time: divides `width` and
  /// `blockRows`.
  int64_t unit;
  /// Most rows of a register tile; queries of a block.
  int64_t tileRows, blockRows;
  /// Elements from the scores of a query to those of the next.
  int64_t scoreStride;

  /// Sets the batch element that the rest is about.
  void setBatch(Index number);
  /// The operand `tensor`, with rows of `elements`, of this batch element: rows
  /// are rows. Without an address it is not in memory.
  StridedMatrix matrixOf(mlir::Value tensor) const;
  /// An element of such an operand.
  mlir::Value readElement(mlir::Value tensor, Index row, Index element);

  /// Rows that follow each other at another distance than a power of two, which
  /// would put them all into a few sets of the first cache.
  struct Rows {
    mlir::Value address;
    int64_t stride;
  };
  /// Scratch memory for rows of `elements`, with zeros up to whole units.
  Rows makeRows(int64_t count, int64_t elements);
  /// Copies an operand there, multiplied by `factor`.
  void copyRows(const Rows &to, mlir::Value tensor, int64_t count, int64_t elements, double factor);
  /// Scratch memory for panels of an operand with a row a key: lanes are keys.
  mlir::Value makePanels(int64_t elements);
  void packPanels(mlir::Value to, mlir::Value tensor, int64_t elements);

  /// Products of `height` rows with the keys of a panel, row by row.
  Values multiply(const Rows &rows, Index first, int64_t height, mlir::Value panelsOf, Index panel,
                  int64_t elements);
  /// A tile of sums over units [first, end): a weight of row r and point p is
  /// the scalar r `rowStep` + p `pointStep` after `weights`, its factor a row
  /// of vectors p `stride` after `vectors`.
  struct Sum {
    mlir::Value weights;
    int64_t rowStep, pointStep, height;
    mlir::Value vectors;
    int64_t stride, vectorCount;
  };
  Values addUnits(const Sum &sum, mlir::Value first, mlir::Value end, int64_t most, Values sums);
  /// The same over `count` points in place of units.
  Values addPoints(const Sum &sum, int64_t count, Values sums);

  /// Panels of keys that a block of queries sees: all of those before `whole`
  /// wholly, those from `end` on not at all.
  struct Seen {
    Index whole, end;
  };
  Seen keysSeenBy(Index query, int64_t count) const;
  /// `body(panel, whether some query of the block does not see all of it)`.
  void forEachPanel(const Seen &seen, llvm::function_ref<void(Index panel, bool isCut)> body);
  /// i1 vector: whether `query` sees the keys from `key` on.
  mlir::Value sees(Index query, Index key);

  /// Makes the mask of a block of queries ready.
  void prepareMask(Index query, int64_t count);
  /// `scores` of `query` with keys from `key` on, with the mask's elements
  /// added.
  mlir::Value addMask(mlir::Value scores, Index query, Index key);

  mlir::Value splatOf(double value);
  mlir::Value exponential(mlir::Value x);
  mlir::Value multiplied(mlir::Value x, mlir::Value y);
  mlir::Value subtracted(mlir::Value x, mlir::Value y);

private:
  Index maskNumber(Index query, Index key) const;

  mlir::Value mask;
  llvm::ArrayRef<int64_t> maskDimensions;
  llvm::SmallVector<Index> batch;
  /// The mask where it lies, or a copy of a block of it.
  mlir::Value maskAddress, maskCopy;
  Index firstOfCopy;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_OPS_ATTENTIONTILES_H
