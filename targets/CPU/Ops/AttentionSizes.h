#ifndef DPC_TARGETS_CPU_OPS_ATTENTIONSIZES_H
#define DPC_TARGETS_CPU_OPS_ATTENTIONSIZES_H

#include "dialects/NN/IR/AttentionShape.h"
#include "targets/CPU/Vectors/VectorFormat.h"

namespace dpc {

/// The block sizes of the kernels of attention and of its gradient, and the sizes of the
/// copies of operands that these kernels make. They are known before code is generated.
struct AttentionSizes {
  /// `factorType` is the element type of the operands. `mask` may be null.
  AttentionSizes(const VectorUnit &unit, mlir::Type factorType, const nn::AttentionShape &shape,
                 mlir::Value mask, llvm::ArrayRef<int64_t> maskDimensions,
                 llvm::function_ref<bool(mlir::Value)> isInMemory);

  const nn::AttentionShape &shape;
  /// Vectors of the type in which the kernel computes.
  VectorFormat format;
  /// Whether the products of rows of q with rows of k, and of the result's gradient with rows of
  /// v, multiply pairs of bf16. Their factors are operands, so no element is rounded for them.
  /// Products with probabilities and score gradients, which are f32, stay in f32.
  bool inPairs;
  /// The number of keys in a panel, and the number of panels. A panel is a group of
  /// keys whose elements are packed so that keys are the lanes of vectors.
  int64_t width, panels;
  /// The number of keys or queries that one step of a sum adds. It divides `width` and
  /// `blockRows`.
  int64_t unit;
  /// The largest number of rows in a register tile, and the number of queries in a block.
  int64_t tileRows, blockRows;
  /// The distance in elements from the scores of one query to the scores of the next
  /// query.
  int64_t scoreStride;
  /// The number of elements in the copy of a part of the mask. kNone if the mask is read
  /// in place, or if there is no mask.
  int64_t maskElements = VectorFormat::kNone;

  /// The distance in elements between rows of `elements` elements in scratch memory. Each
  /// row is followed by padding of 64 bytes. Without it, rows whose length is a large power
  /// of two would all map to a few sets of the first-level cache.
  int64_t rowStride(int64_t elements) const;
  /// The number of elements of `count` rows in scratch memory, and of the panels of an
  /// operand with one row per key. Two elements of a row of pairs count as one.
  int64_t countOfRows(int64_t count, int64_t elements) const;
  int64_t countOfPanels(int64_t elements) const { return panels * width * pointsOf(elements); }
  /// The number of points along the depth of a product that may be of pairs.
  int64_t pointsOf(int64_t elements) const;
  int64_t countOfPackedPanels(int64_t elements) const;
  int64_t countOfScores(int64_t queries) const { return queries * scoreStride; }
};

/// The kernel of the gradient divides the queries into parts, and processes these one
/// after the other.
struct AttentionParts {
  explicit AttentionParts(const AttentionSizes &sizes);

  /// The scratch memory that the kernel of the gradient needs, for operands of type
  /// `factorType`.
  ScratchSizes getScratch(const AttentionSizes &t, mlir::Type factorType) const;

  int64_t rows; // number of queries of a part
  bool isWhole; // whether all queries are one part
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_OPS_ATTENTIONSIZES_H
