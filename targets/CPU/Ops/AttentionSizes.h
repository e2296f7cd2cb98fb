#ifndef DPC_TARGETS_CPU_OPS_ATTENTIONSIZES_H
#define DPC_TARGETS_CPU_OPS_ATTENTIONSIZES_H

#include "dialects/NN/IR/AttentionShape.h"
#include "targets/CPU/Vectors/VectorFormat.h"

namespace dpc::nn {

/// The block sizes of the kernels of attention and of its gradient, and the sizes of
/// their copies of a head's operands.
struct AttentionSizes {
  /// For operands of type `factorType`. The `mask` may be null.
  AttentionSizes(unsigned vectorBytes, mlir::Type factorType, const AttentionShape &shape,
                 mlir::Value mask, llvm::ArrayRef<int64_t> maskDimensions,
                 llvm::function_ref<bool(mlir::Value)> isInMemory);

  const AttentionShape &shape;
  /// Vectors of the computed type.
  VectorFormat format;
  /// Number of keys in a panel, and number of panels.
  int64_t width, panels;
  /// Number of keys or queries that one step of a sum takes; divides `width` and
  /// `blockRows`.
  int64_t unit;
  /// Largest number of rows in a register tile; number of queries in a block.
  int64_t tileRows, blockRows;
  /// Distance in elements from the scores of one query to those of the next.
  int64_t scoreStride;
  /// Number of elements of the copy of a block of the mask; kNone if the mask is read in
  /// place or absent.
  int64_t maskElements = VectorFormat::kNone;

  /// The distance of rows of `elements` in scratch memory. It is not a power of two,
  /// which would map all rows to a few sets of the first-level cache.
  int64_t rowStride(int64_t elements) const;
  /// Number of elements of `count` such rows, and of panels of an operand with one row per
  /// key.
  int64_t countOfRows(int64_t count, int64_t elements) const;
  int64_t countOfPanels(int64_t elements) const { return panels * width * elements; }
  int64_t countOfPackedPanels(int64_t elements) const;
  int64_t countOfScores(int64_t queries) const { return queries * scoreStride; }
};

/// The parts of the queries that the gradient handles one after the other.
struct AttentionParts {
  explicit AttentionParts(const AttentionSizes &sizes);

  /// The scratch memory of the gradient, for operands of type `factorType`.
  ScratchSizes getScratch(const AttentionSizes &t, mlir::Type factorType) const;

  int64_t rows; // queries of a part
  bool isWhole; // all queries are one part
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_OPS_ATTENTIONSIZES_H
