#ifndef DPC_TARGETS_LOOPS_KERNELS_LOOPNEST_H
#define DPC_TARGETS_LOOPS_KERNELS_LOOPNEST_H

#include "targets/Loops/Kernels/KernelGraph.h"

#include <optional>

namespace dpc {

/// Loops over the elements of a row of some values, by their row-major number:
/// as few as do without quotients and remainders in what the values are
/// computed of.
struct LoopNest {
  llvm::SmallVector<int64_t> extents;
  /// The loop along which a transposition reads memory in order, where what is
  /// read is not all in the order of what is written.
  std::optional<unsigned> strided;
};

/// The nest of roots that are computed together, under a loop over `rows` rows;
/// nullopt where no nest fits all of them.
std::optional<LoopNest> nestOf(const KernelGraph &graph, llvm::ArrayRef<mlir::Operation *> roots,
                               int64_t rows);

/// The extents of loops that read `value`, which is in memory or computed, from
/// its first element to its last.
llvm::SmallVector<int64_t> readingExtents(const KernelGraph &graph, mlir::Value value);

/// The row-major strides at which the elements of `value` must be told apart
/// when they are made from their number: none for what is in memory and what is
/// elementwise over it.
llvm::SmallVector<int64_t> splitStrides(const KernelGraph &graph, mlir::Value value);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_LOOPNEST_H
