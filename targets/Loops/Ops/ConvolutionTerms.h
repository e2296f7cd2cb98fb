#ifndef DPC_TARGETS_LOOPS_OPS_CONVOLUTIONTERMS_H
#define DPC_TARGETS_LOOPS_OPS_CONVOLUTIONTERMS_H

#include "dialects/NN/IR/Convolution.h"
#include "targets/Loops/LoopEmitter.h"

namespace dpc {

/// One term in the sum of a convolution op: the product of an element of each
/// operand, with their positions [batch, channels, spatial..] whatever the order of the
/// tensors is (Convolution::inOrder). The term counts only if two conditions hold. The spatial
/// positions of the first element must be inside the operand, and each of `multiples` must be a
/// multiple of the stride of its dimension.
struct ConvolutionTerm {
  using Index = LoopEmitter::Index;
  llvm::SmallVector<Index> first, second;
  llvm::SmallVector<Index> multiples;

  /// The conditions under which the term counts. `type` is the type of operand 0 with the
  /// dimensions [batch, channels, spatial..].
  llvm::SmallVector<IndexBound> bounds(const IndexSpace &space, const nn::Convolution &c,
                                       mlir::RankedTensorType type) const;
};

// The sums that compute the elements of the results of the three convolution ops.
// The result of one group is seen as a matrix. All positions are [batch, channels, spatial..].
// Each class has these functions:
//
//   first     type of the first operand
//   extents   of the loops of an element's sum
//   term      the product at a multi-index `k` of these loops
//   rows      number of rows of the matrix; the row of an element decides which
//             elements of the second operand its terms have
//   columns   extents of the dimensions that together are the columns of the matrix; the
//             column decides which elements of the first operand the terms have
//   element   position in the result of an element of the matrix

struct ConvTerms {
  using Index = LoopEmitter::Index;
  static mlir::RankedTensorType first(const nn::Convolution &c) { return c.x; }
  static llvm::SmallVector<int64_t> extents(const nn::Convolution &c);
  static ConvolutionTerm term(const nn::Convolution &c, IndexSpace &space,
                              llvm::ArrayRef<Index> index, llvm::ArrayRef<Index> k);
  static int64_t rows(const nn::Convolution &c) { return c.w.getDimSize(0) / c.groups; }
  static llvm::SmallVector<int64_t> columns(const nn::Convolution &c);
  static llvm::SmallVector<Index> element(const nn::Convolution &c, Index group, Index row,
                                          llvm::ArrayRef<Index> column);
};

struct ConvInputGradTerms {
  using Index = LoopEmitter::Index;
  static mlir::RankedTensorType first(const nn::Convolution &c) { return c.y; }
  static llvm::SmallVector<int64_t> extents(const nn::Convolution &c);
  static ConvolutionTerm term(const nn::Convolution &c, IndexSpace &space,
                              llvm::ArrayRef<Index> index, llvm::ArrayRef<Index> k);
  static int64_t rows(const nn::Convolution &c) { return c.w.getDimSize(1); }
  static llvm::SmallVector<int64_t> columns(const nn::Convolution &c);
  static llvm::SmallVector<Index> element(const nn::Convolution &c, Index group, Index row,
                                          llvm::ArrayRef<Index> column);
};

struct ConvWeightGradTerms {
  using Index = LoopEmitter::Index;
  static mlir::RankedTensorType first(const nn::Convolution &c) { return c.x; }
  static llvm::SmallVector<int64_t> extents(const nn::Convolution &c);
  static ConvolutionTerm term(const nn::Convolution &c, IndexSpace &space,
                              llvm::ArrayRef<Index> index, llvm::ArrayRef<Index> k);
  static int64_t rows(const nn::Convolution &c) { return c.w.getDimSize(0) / c.groups; }
  static llvm::SmallVector<int64_t> columns(const nn::Convolution &c);
  static llvm::SmallVector<Index> element(const nn::Convolution &c, Index group, Index row,
                                          llvm::ArrayRef<Index> column);
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_OPS_CONVOLUTIONTERMS_H
