#ifndef DPC_TARGETS_LOOPS_OPS_CONVOLUTIONTERMS_H
#define DPC_TARGETS_LOOPS_OPS_CONVOLUTIONTERMS_H

#include "dialects/NN/IR/Convolution.h"
#include "targets/Loops/LoopEmitter.h"

namespace dpc::nn {

/// A product of an element of each operand of a convolution op. It counts where
/// the spatial positions of the first are inside it, and the `multiples` are
/// multiples of the strides.
struct ConvolutionTerm {
  using Index = LoopEmitter::Index;
  llvm::SmallVector<Index> first, second;
  llvm::SmallVector<Index> multiples;

  /// Whether it counts (null: always), for an operand 0 of type `type`.
  mlir::Value counts(LoopEmitter &e, const Convolution &c, mlir::RankedTensorType type) const;
};

// What the elements of the three ops of a convolution are made of:
//
//   extents   over which an element's sum runs
//   term      what it adds at a multi-index `k` of them
//   rows      of the matrix that the result is for each group, made of the second
//             operand, and `columns`, which the first one makes, as several
//             dimensions
//   element   positions in the result of a place in that matrix

struct ConvTerms {
  using Index = LoopEmitter::Index;
  static llvm::SmallVector<int64_t> extents(const Convolution &c);
  static ConvolutionTerm term(const Convolution &c, IndexSpace &space, llvm::ArrayRef<Index> index,
                              llvm::ArrayRef<Index> k);
  static int64_t rows(const Convolution &c) { return c.w.getDimSize(0) / c.groups; }
  static llvm::SmallVector<int64_t> columns(const Convolution &c);
  static llvm::SmallVector<Index> element(const Convolution &c, Index group, Index row,
                                          llvm::ArrayRef<Index> column);
};

struct ConvInputGradTerms {
  using Index = LoopEmitter::Index;
  static llvm::SmallVector<int64_t> extents(const Convolution &c);
  static ConvolutionTerm term(const Convolution &c, IndexSpace &space, llvm::ArrayRef<Index> index,
                              llvm::ArrayRef<Index> k);
  static int64_t rows(const Convolution &c) { return c.w.getDimSize(1); }
  static llvm::SmallVector<int64_t> columns(const Convolution &c);
  static llvm::SmallVector<Index> element(const Convolution &c, Index group, Index row,
                                          llvm::ArrayRef<Index> column);
};

struct ConvWeightGradTerms {
  using Index = LoopEmitter::Index;
  static llvm::SmallVector<int64_t> extents(const Convolution &c);
  static ConvolutionTerm term(const Convolution &c, IndexSpace &space, llvm::ArrayRef<Index> index,
                              llvm::ArrayRef<Index> k);
  static int64_t rows(const Convolution &c) { return c.w.getDimSize(0) / c.groups; }
  static llvm::SmallVector<int64_t> columns(const Convolution &c);
  static llvm::SmallVector<Index> element(const Convolution &c, Index group, Index row,
                                          llvm::ArrayRef<Index> column);
};

} // namespace dpc::nn

#endif // DPC_TARGETS_LOOPS_OPS_CONVOLUTIONTERMS_H
