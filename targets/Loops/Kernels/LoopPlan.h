#ifndef DPC_TARGETS_LOOPS_KERNELS_LOOPPLAN_H
#define DPC_TARGETS_LOOPS_KERNELS_LOOPPLAN_H

#include "targets/Loops/Kernels/LoopNest.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

namespace dpc {

/// Roots of a kernel that share loops. An outer loop runs over the rows of each root's result, and
/// each iteration runs the stages one after the other. For example, a softmax of [8, 16] is one
/// group of 8 rows and four stages: the maximum of the row, its 16 exponentials, the sum of these,
/// and the 16 quotients. A batch normalization of [8, 3, 100] is one group of 3 rows, each of 8
/// pieces of 100 elements.
struct LoopGroup {
  /// Roots with the same number of elements. One nest of loops over the elements of
  /// a row computes all of them.
  struct Stage {
    llvm::SmallVector<mlir::Operation *> roots;
    LoopNest nest;

    int64_t getElements() const;
  };

  LoopRows rows;
  llvm::SmallVector<Stage> stages;
  /// Whether the first stage is one op with a fill rule, or several that one launch computes. If
  /// there is a second stage, its elements are computed from each tile of the filled result as
  /// soon as the tile is final.
  bool isFilled = false;

  /// The roots of all stages.
  llvm::SmallVector<mlir::Operation *> getRoots() const;
};

/// The loop groups of a kernel, in the order in which they run.
struct LoopPlan {
  llvm::SmallVector<LoopGroup> groups;

  /// Checks the plan for `graph`. Each root must be in one group, and not before
  /// the roots that it reads. The number of rows must divide the number of elements
  /// of every stage. A root with a fill rule must be the first of its group. The roots
  /// of a group without such a root must be able to share loops (canShareLoops).
  llvm::Error verify(const KernelGraph &graph) const;
};

/// The rows of several pieces in which loops can compute the reduction `op` and then the ops that
/// read its result, e.g. the channels of a sum over a batch. The reduction keeps neighbouring
/// dimensions, and reduces all dimensions before and after them. The elements of a piece are
/// consecutive in memory. Null if `op` is no such reduction, or if a piece has few elements, so
/// that loops over it would use only a part of each vector.
std::optional<LoopRows> splitRowsOf(mlir::Operation *op);

/// Whether rows may have several pieces. Such rows suit a processor whose cache holds a row, so
/// that only the first stage reads it from memory.
enum class RowPieces { one, several };

/// Divides the roots of a kernel into groups that share loops. A root is in a later group
/// or stage than the roots that it reads, or follows them in the same stage.
LoopPlan planLoops(const KernelGraph &graph, RowPieces pieces);

/// For each value that roots read, the number of the last group that reads it.
template <typename Groups>
llvm::DenseMap<mlir::Value, unsigned> findLastReaders(const KernelGraph &graph, Groups &&groups) {
  llvm::DenseMap<mlir::Value, unsigned> last;
  for (auto [number, group] : llvm::enumerate(groups))
    for (mlir::Operation *root : group.getRoots())
      for (mlir::Value value : graph.getReads(root))
        last[value] = number;
  return last;
}

/// Whether the loops of `group` compute every element before they read it. A root
/// may read an element that another root of the group computes in two cases: an
/// earlier stage of the same row computes it, or the same iteration of the same
/// stage does.
bool canShareLoops(const KernelGraph &graph, const LoopGroup &group);

/// Whether the loops of stage `stage` can read or compute an element of `value`, after they have
/// computed the elements of the stage with the same number.
bool canReadInLoops(const KernelGraph &graph, const LoopGroup &group, unsigned stage,
                    mlir::Value value);

/// How the loops of a group over rows read a value in memory that they do not compute.
struct RowReads {
  /// The number of loops over the row that read it. Reads at positions from an index tensor do not
  /// count.
  unsigned passes = 0;
  /// Whether each row of the loops reads only elements of the same row of the value.
  bool areInRow = true;
};

/// The values that the loops of `group` read and do not compute, in the order of the reads.
llvm::MapVector<mlir::Value, RowReads> findRowReads(const KernelGraph &graph,
                                                    const LoopGroup &group);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_LOOPPLAN_H
