#ifndef DPC_TARGETS_CUDA_GRIDS_COLUMNSUMS_H
#define DPC_TARGETS_CUDA_GRIDS_COLUMNSUMS_H

#include "dialects/NN/IR/Reduction.h"
#include "targets/Loops/Kernels/LoopPlan.h"

namespace dpc {

/// Sums over rows that a launch computes beside its own elements: result c of a sum adds up
/// element c of all rows, e.g. the gradient of a bias. The launch has the terms in registers, so
/// they are not read from memory again. Each block computes some consecutive rows, and adds up
/// their terms column by column, in shared memory. It stores its sums, the partial sums, in scratch
/// memory. A second launch (Launch::Kind::sums) adds up the partial sums of all blocks, in f64.
struct ColumnSums {
  /// The number of columns whose partial sums a block adds up.
  static constexpr int64_t kColumnsPerBlock = 32;

  /// The sums. All have `columns` results of `rows` terms, and accumulators of one type.
  llvm::SmallVector<nn::ReduceOp> sums;
  /// The stage whose elements have the numbers of the terms.
  unsigned stage = 0;
  int64_t rows = 1, columns = 1, rowsPerBlock = 1;
  /// The neighbouring columns to which a thread adds terms together. A thread begins at a multiple
  /// of this number.
  int64_t neighbours = 1;

  /// The number of blocks that compute rows, and of those that add up partial sums.
  int64_t countBlocks() const;
  int64_t countSumBlocks() const;
  /// The type of an accumulator of a block, and its bytes.
  mlir::Type getPartialType() const;
  int64_t getPartialBytes() const;
  /// The neighbours that one access to shared memory has. In memory, the first such neighbours of
  /// all threads lie beside each other, then the next ones of all threads. So the threads of a
  /// warp meet in no bank.
  int64_t getVector() const;
  /// The bytes of shared memory of a block, and of the scratch memory for all partial sums.
  int64_t getSharedBytes() const;
  int64_t getScratchBytes() const { return getSharedBytes() * countBlocks(); }
  llvm::SmallVector<mlir::Operation *> getOps() const { return {sums.begin(), sums.end()}; }

  /// Checks that every sum has these rows and columns, that `group` has the stage, and that the
  /// loops of the stage have the terms of all sums.
  llvm::Error verify(const KernelGraph &graph, const LoopGroup &group) const;
};

/// Returns `op` if it is a sum of floats over all but the last dimensions of its operand.
nn::ReduceOp asColumnSum(mlir::Operation *op);

/// Finds those of `candidates` that a launch of `group` can compute beside its elements, after it
/// has read all their terms anyway. The group must have rows. Every candidate reads only values
/// that earlier launches or `group` compute. Returns nullopt if there are none, or if `sharedBytes`
/// bytes of shared memory are too few for them.
std::optional<ColumnSums> findColumnSums(const KernelGraph &graph, const LoopGroup &group,
                                         llvm::ArrayRef<nn::ReduceOp> candidates,
                                         int64_t sharedBytes);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_COLUMNSUMS_H
