#ifndef DPC_TARGETS_CPU_OPS_ATTENTIONTILES_H
#define DPC_TARGETS_CPU_OPS_ATTENTIONTILES_H

#include "targets/CPU/Ops/AttentionSizes.h"
#include "targets/CPU/Vectors/MatrixPacking.h"

namespace dpc::nn {

/// Shared code of the kernels of attention and of its gradient: one head's
/// operands, copied into a form that register tiles read fast, and scores for
/// blocks of queries and panels of keys. Copies of 16-bit operands are f32, and so
/// are all computed values.
class AttentionTiles : public AttentionSizes {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  AttentionTiles(VectorEmitter &emitter, mlir::Type factorType, const AttentionShape &shape,
                 mlir::Value mask, llvm::ArrayRef<int64_t> maskDimensions);

  VectorEmitter &e;
  /// The element type of the operands in memory, and of their gradients.
  mlir::Type factorType;
  VectorCode code;

  /// Selects the batch element that the other methods work on.
  void setBatch(Index number);
  /// The operand `tensor` of this batch element as a matrix with rows of `elements`
  /// elements. The result has no address if the operand is not in memory.
  StridedMatrix matrixOf(mlir::Value tensor) const;
  /// Element (row, element) of such an operand.
  mlir::Value readElement(mlir::Value tensor, Index row, Index element);

  /// Rows in scratch memory.
  struct Rows {
    mlir::Value address;
    int64_t stride;
  };
  /// Allocates scratch memory for rows of `elements`, zero-padded to a multiple of
  /// the unit.
  Rows makeRows(int64_t count, int64_t elements);
  /// Copies an operand into these rows, multiplied by `factor`.
  void copyRows(const Rows &to, mlir::Value tensor, int64_t count, int64_t elements, double factor);
  /// Allocates scratch memory for panels of an operand with one row per key. Keys
  /// are lanes.
  mlir::Value makePanels(int64_t elements);
  void packPanels(mlir::Value to, mlir::Value tensor, int64_t elements);

  /// The products of `height` rows with the keys of a panel, row by row.
  Values multiply(const Rows &rows, Index first, int64_t height, mlir::Value panelsOf, Index panel,
                  int64_t elements);
  /// A tile of weighted sums over units [first, end). The weight of row r at point
  /// p is the scalar at offset r * `rowStep` + p * `pointStep` from `weights`. It
  /// multiplies a row of vectors at offset p * `stride` from `vectors`.
  struct Sum {
    mlir::Value weights;
    int64_t rowStep, pointStep, height;
    mlir::Value vectors;
    int64_t stride, vectorCount;
  };
  Values addUnits(const Sum &sum, mlir::Value first, mlir::Value end, int64_t most, Values sums);
  /// The same over `count` points instead of units.
  Values addPoints(const Sum &sum, int64_t count, Values sums);

  /// The panels of keys that a block of queries sees: every query sees panels
  /// before `whole` completely, and no query sees panels from `end` on.
  struct Seen {
    Index whole, end;
  };
  Seen keysSeenBy(Index query, int64_t count) const;
  /// Calls `body` for each seen panel. `isCut`: some query of the block does not
  /// see all of its keys.
  void forEachPanel(const Seen &seen, llvm::function_ref<void(Index panel, bool isCut)> body);
  /// An i1 vector that tells, for each lane, whether `query` sees that key from
  /// `key` on.
  mlir::Value sees(Index query, Index key);

  /// Loads the mask for a block of queries, if it must be copied.
  void prepareMask(Index query, int64_t count);
  /// The `scores` of `query` for keys from `key` on, plus the elements of the mask.
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
  /// The address of the mask in its buffer, or of a copy of a block of it.
  mlir::Value maskAddress, maskCopy;
  Index firstOfCopy;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_OPS_ATTENTIONTILES_H
