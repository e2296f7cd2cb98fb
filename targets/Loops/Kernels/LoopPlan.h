#ifndef DPC_TARGETS_LOOPS_KERNELS_LOOPPLAN_H
#define DPC_TARGETS_LOOPS_KERNELS_LOOPPLAN_H

#include "targets/Loops/Kernels/LoopNest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

namespace dpc {

/// Roots of a kernel that share loops: an outer loop over rows, and inside it the
/// stages one after the other. The rows are `rows` equal, consecutive parts of each
/// root's result. A softmax of [8, 16] is one group of 8 rows and three stages: the
/// maximum of the row, the sum of its exponentials, and its 16 quotients.
struct LoopGroup {
  /// Roots with the same number of elements, computed in one nest of loops over the
  /// elements of a row.
  struct Stage {
    llvm::SmallVector<mlir::Operation *> roots;
    LoopNest nest;

    int64_t getElements() const;
  };

  int64_t rows = 1;
  llvm::SmallVector<Stage> stages;
  /// Whether the first stage is one op with a fill rule. The second stage, if any,
  /// is computed from each of its elements as soon as it is final.
  bool isFilled = false;

  /// The roots of all stages.
  llvm::SmallVector<mlir::Operation *> getRoots() const;
};

/// The loops of a kernel, in execution order.
struct LoopPlan {
  llvm::SmallVector<LoopGroup> groups;

  /// Checks the plan for `graph`: each root is in one group, after the roots that
  /// it reads; rows divide the elements of every stage; a root with a fill rule is
  /// the first in its group; the roots of a group can share loops.
  llvm::Error verify(const KernelGraph &graph) const;
};

/// Divides the roots of a kernel, in their order, into groups that share loops.
LoopPlan planLoops(const KernelGraph &graph);

/// For each value that roots read: the number of the last group that reads it.
template <typename Groups>
llvm::DenseMap<mlir::Value, unsigned> findLastReaders(const KernelGraph &graph, Groups &&groups) {
  llvm::DenseMap<mlir::Value, unsigned> last;
  for (auto [number, group] : llvm::enumerate(groups))
    for (mlir::Operation *root : group.getRoots())
      for (mlir::Value value : graph.getReads(root))
        last[value] = number;
  return last;
}

/// Whether the loops of `group` compute every element before they read it. If a
/// root reads another root's result in the same group, that element must be
/// computed in an earlier stage of the same row, or in the same iteration of the
/// same stage.
bool canShareLoops(const KernelGraph &graph, const LoopGroup &group);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_LOOPPLAN_H
