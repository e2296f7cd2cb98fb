#ifndef DPC_TARGETS_LOOPS_KERNELS_LOOPNEST_H
#define DPC_TARGETS_LOOPS_KERNELS_LOOPNEST_H

#include "targets/Loops/Kernels/KernelGraph.h"

#include <optional>

namespace dpc {

/// Loops over the elements of a row of some values, in row-major order. A nest has
/// as few loops as possible without quotients and remainders in the index
/// expressions of the values' operands.
struct LoopNest {
  llvm::SmallVector<int64_t> extents;
  /// The loop along which a transposition reads memory contiguously, if an operand
  /// is not read in the order in which the result is written.
  std::optional<unsigned> strided;
};

/// The nest of roots that are computed together, inside a loop over `rows` rows;
/// nullopt if no nest fits all of them.
std::optional<LoopNest> nestOf(const KernelGraph &graph, llvm::ArrayRef<mlir::Operation *> roots,
                               int64_t rows);

/// The extents of loops that read `value`, in memory or inlined, from its first
/// element to its last.
llvm::SmallVector<int64_t> readingExtents(const KernelGraph &graph, mlir::Value value);

/// The row-major strides at which a loop over the elements of `value` must be split
/// into nested loops (LoopEmitter::splitStrides). Values in memory and elementwise
/// expressions of them have none.
llvm::SmallVector<int64_t> splitStrides(const KernelGraph &graph, mlir::Value value);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_LOOPNEST_H
