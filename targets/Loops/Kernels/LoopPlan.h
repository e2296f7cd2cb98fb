#ifndef DPC_TARGETS_LOOPS_KERNELS_LOOPPLAN_H
#define DPC_TARGETS_LOOPS_KERNELS_LOOPPLAN_H

#include "targets/Loops/Kernels/LoopNest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

namespace dpc {

/// Roots of a kernel that run in the same loops: an outer loop over rows, which
/// are `rows` equal, consecutive parts of each root's result, and in it the
/// stages one after the other. A softmax of [8, 16] is one group of 8 rows and
/// three stages: the maximum of the row, the sum of its exponentials, and its
/// 16 quotients.
struct LoopGroup {
  /// Roots with the same number of elements, computed in one nest of loops over
  /// the elements of a row.
  struct Stage {
    llvm::SmallVector<mlir::Operation *> roots;
    LoopNest nest;

    int64_t getElements() const;
  };

  int64_t rows = 1;
  llvm::SmallVector<Stage> stages;
  /// Whether the first stage is one op that fills its results. The second, if
  /// there is one, is computed from its elements as soon as they are final.
  bool isFilled = false;

  /// The roots of all stages.
  llvm::SmallVector<mlir::Operation *> getRoots() const;
};

/// The loops of a kernel, in the order in which they run.
struct LoopPlan {
  llvm::SmallVector<LoopGroup> groups;

  /// Is the answer sound for `graph`: each root in one group, after what it
  /// reads; rows that divide the elements of every stage; a root that fills its
  /// results first in its group; loops that can be shared.
  llvm::Error verify(const KernelGraph &graph) const;
};

/// Divides the roots of a kernel, in their order, into groups that share loops.
LoopPlan planLoops(const KernelGraph &graph);

/// For each value that roots read, the number of the group that reads it last.
template <typename Groups>
llvm::DenseMap<mlir::Value, unsigned> findLastReaders(const KernelGraph &graph, Groups &&groups) {
  llvm::DenseMap<mlir::Value, unsigned> last;
  for (auto [number, group] : llvm::enumerate(groups))
    for (mlir::Operation *root : group.getRoots())
      for (mlir::Value value : graph.getReads(root))
        last[value] = number;
  return last;
}

/// Whether the loops of `group` make every element before they read it: one
/// that a root of the group reads of another's result must have been made in an
/// earlier stage of the same row, or at the same place of the same stage.
bool canShareLoops(const KernelGraph &graph, const LoopGroup &group);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_LOOPPLAN_H
