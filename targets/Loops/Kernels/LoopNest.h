#ifndef DPC_TARGETS_LOOPS_KERNELS_LOOPNEST_H
#define DPC_TARGETS_LOOPS_KERNELS_LOOPNEST_H

#include "targets/Loops/Kernels/KernelGraph.h"
#include "targets/Loops/Kernels/LoopRows.h"

#include <optional>

namespace dpc {

/// Nested loops that compute one row (LoopRows) of one or more values, element by element in
/// row-major order. A nest has as few loops as possible, but enough that the index expressions of
/// the values' operands need no quotients and remainders.
struct LoopNest {
  llvm::SmallVector<int64_t> extents;
  /// The number of outer loops that run over the pieces of a row. The other loops run over the
  /// elements of a piece.
  unsigned around = 0;
  /// If an operand is transposed, so that the innermost loop does not read it
  /// contiguously: the loop that does.
  std::optional<unsigned> strided;
};

/// The nest that computes all `roots` together, inside a loop over `rows`. Null if no nest fits
/// all of them.
std::optional<LoopNest> nestOf(const KernelGraph &graph, llvm::ArrayRef<mlir::Operation *> roots,
                               const LoopRows &rows);

/// The extents of nested loops that read all elements of `value` in order. `value`
/// may be in memory or inlined.
llvm::SmallVector<int64_t> readingExtents(const KernelGraph &graph, mlir::Value value);

/// The row-major strides at which a loop over the elements of `value` must be split
/// into nested loops (LoopEmitter::splitStrides).
llvm::SmallVector<int64_t> splitStrides(const KernelGraph &graph, mlir::Value value);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_LOOPNEST_H
