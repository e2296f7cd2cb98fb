#ifndef DPC_TARGETS_CPU_OPS_ATTENTIONTILES_H
#define DPC_TARGETS_CPU_OPS_ATTENTIONTILES_H

#include "targets/CPU/Ops/AttentionSizes.h"
#include "targets/CPU/Vectors/MatrixPacking.h"

namespace dpc {

/// Code that the kernels of attention and of its gradient share. It copies the
/// operands of one batch element into a form that register tiles can read fast. It
/// computes the scores of a block of queries for a panel (a group of neighbouring
/// keys). If operands are 16-bit floats, copies and computed values are f32.
class AttentionTiles : public AttentionSizes {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  AttentionTiles(VectorEmitter &emitter, mlir::Type factorType, const nn::AttentionShape &shape,
                 mlir::Value mask, llvm::ArrayRef<int64_t> maskDimensions, double scale);

  VectorEmitter &e;
  /// The element type of the operands in memory and of their gradients.
  mlir::Type factorType;
  VectorCode code;
  /// The factor of the scores.
  const double scale;

  /// Selects the batch element that the other functions work on.
  void setBatch(Index number);
  /// The operand `tensor` of this batch element as a matrix. It has no address if
  /// the operand is not in memory.
  StridedMatrix matrixOf(mlir::Value tensor) const;
  /// Element (row, element) of the operand `tensor` of this batch element.
  mlir::Value readElement(mlir::Value tensor, Index row, Index element);

  /// Rows in scratch memory: their address, and the distance in elements from one
  /// row to the next. Each element of a row of pairs has two neighbouring elements of an
  /// operand of bf16.
  struct Rows {
    mlir::Value address;
    int64_t stride;
    bool isOfPairs;
  };
  /// Allocates scratch memory for `count` rows of `elements` elements of an operand. Zeros
  /// follow the elements of each row up to a multiple of the number of lanes. Rows of zeros
  /// follow the last row up to a multiple of `width` rows.
  Rows makeRows(int64_t count, int64_t elements, bool isOfPairs);
  /// Copies the operand `tensor` to the rows `to`, multiplied by `factor`, which is 1 for
  /// rows of pairs.
  void copyRows(const Rows &to, mlir::Value tensor, int64_t count, int64_t elements, double factor);
  /// Allocates scratch memory for the panels of an operand that has one row per
  /// key. In a panel, keys are lanes.
  mlir::Value makePanels(int64_t elements);
  void packPanels(mlir::Value to, mlir::Value tensor, int64_t elements);

  /// The products of `height` rows, from row `first` on, with the keys of a panel,
  /// row by row. The rows are of pairs if `inPairs` is set.
  Values multiply(const Rows &rows, Index first, int64_t height, mlir::Value panelsOf, Index panel,
                  int64_t elements);
  /// The scores of `height` queries: as multiply, multiplied by `scale`. The rows were
  /// multiplied by rowFactor().
  Values multiplyScaled(const Rows &rows, Index first, int64_t height, mlir::Value panelsOf,
                        Index panel, int64_t elements);
  double rowFactor() const { return inPairs ? 1 : scale; }
  /// A tile of weighted sums over points. The weight of row r at point p is the
  /// scalar at offset r * `rowStep` + p * `pointStep` from `weights`. It multiplies
  /// the vectors at offset p * `stride` from `vectors`.
  struct Sum {
    mlir::Value weights;
    int64_t rowStep, pointStep, height;
    mlir::Value vectors;
    int64_t stride, vectorCount;
  };
  /// Adds the points of the units [first, end) to `sums`. A unit is `unit` consecutive
  /// points, and `end` is at most `most`.
  Values addUnits(const Sum &sum, mlir::Value first, mlir::Value end, int64_t most, Values sums);
  /// As addUnits, but adds the first `count` points.
  Values addPoints(const Sum &sum, int64_t count, Values sums);

  /// The panels of keys that a block of queries sees. All queries see all keys of
  /// the panels before panel `whole`. No query sees a key of the panels from panel
  /// `end` on.
  struct Seen {
    Index whole, end;
  };
  Seen keysSeenBy(Index query, int64_t count) const;
  /// Calls `body` for each panel before panel `end`. `isCut` is false if every lane of
  /// the panel is a key that all queries of the block see. If it is true, the code must
  /// check each lane (sees).
  void forEachPanel(const Seen &seen, llvm::function_ref<void(Index panel, bool isCut)> body);
  /// An i1 vector that says, for each lane, whether `query` sees the key with the
  /// number `key` plus the lane.
  mlir::Value sees(Index query, Index key);

  /// Copies the part of the mask for a block of queries, unless the mask is read in
  /// place.
  void prepareMask(Index query, int64_t count);
  /// Adds elements of the mask to `scores`, the scores of `query` for a vector of
  /// keys from `key` on.
  mlir::Value addMask(mlir::Value scores, Index query, Index key);

  mlir::Value splatOf(double value);
  mlir::Value exponential(mlir::Value x);
  mlir::Value multiplied(mlir::Value x, mlir::Value y);
  mlir::Value subtracted(mlir::Value x, mlir::Value y);

private:
  void copyPairs(const Rows &to, mlir::Value tensor, int64_t count, int64_t elements);
  Index maskNumber(Index query, Index key) const;

  mlir::Value mask;
  llvm::ArrayRef<int64_t> maskDimensions;
  llvm::SmallVector<Index> batch;
  /// The address of the mask in its buffer, or the address of the copy of a part of
  /// the mask.
  mlir::Value maskAddress, maskCopy;
  Index firstOfCopy;
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_OPS_ATTENTIONTILES_H
