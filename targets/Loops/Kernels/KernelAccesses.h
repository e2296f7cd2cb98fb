#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELACCESSES_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELACCESSES_H

#include "targets/Loops/IndexSpace.h"
#include "targets/Loops/Kernels/KernelPlaces.h"

namespace dpc {

/// The accesses of a kernel's loops to values in memory.
struct KernelAccesses {
  using Index = IndexSpace::Index;

  /// The group and stage of an access, the row-major number of the element, and the row
  /// in which the loops are.
  struct Access {
    unsigned group = 0, stage = 0;
    Index number, row;
    int64_t rows = 1;
    /// The access is by a fill rule, which visits elements in its own order.
    bool filling = false;
  };

  llvm::DenseMap<mlir::Value, llvm::SmallVector<Access>> reads, writes;

  /// For each result, the operands whose buffer it may share (KernelNeeds::mayAlias).
  /// `space` is the space of the indices.
  llvm::SmallVector<llvm::SmallVector<unsigned>>
  findAliases(const IndexSpace &space, const KernelGraph &graph, const KernelPlaces &places) const;

private:
  bool mayAlias(const IndexSpace &space, mlir::Value result, mlir::BlockArgument operand) const;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELACCESSES_H
