#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELACCESSES_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELACCESSES_H

#include "targets/Loops/IndexSpace.h"
#include "targets/Loops/Kernels/KernelPlaces.h"
#include "targets/Loops/Kernels/LoopRows.h"

namespace dpc {

/// Records the accesses of a kernel's loops to values in memory.
struct KernelAccesses {
  using Index = IndexSpace::Index;

  /// One access to an element: the group and the stage in which it happens, the
  /// row-major number of the element, and the current row of the loops. The parts of a group run at
  /// the same time.
  struct Access {
    unsigned group = 0, part = 0, stage = 0;
    Index number, row;
    LoopRows rows;
    /// Whether a fill rule makes the access. Fill rules access elements in their own
    /// order.
    bool filling = false;
  };

  llvm::DenseMap<mlir::Value, llvm::SmallVector<Access>> reads, writes;

  /// For each result, the operands whose buffer it may share (KernelNeeds::mayAlias).
  /// `space` created the index expressions of the accesses.
  llvm::SmallVector<llvm::SmallVector<unsigned>>
  findAliases(const IndexSpace &space, const KernelGraph &graph, const KernelPlaces &places) const;

private:
  bool mayAlias(const IndexSpace &space, mlir::Value result, mlir::BlockArgument operand) const;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELACCESSES_H
