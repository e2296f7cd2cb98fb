#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDPLAN_H
#define DPC_TARGETS_CUDA_GRIDS_GRIDPLAN_H

#include "targets/CUDA/Grids/LaunchPlan.h"
#include "targets/Loops/Kernels/KernelPlaces.h"
#include "targets/Target.h"

namespace dpc {

/// The plan of a kernel: its launches, the places of its values, and the needs of its
/// code.
struct GridPlan {
  /// The memory of one launch.
  struct Memory {
    /// The values that get a place in scratch memory, shared memory or registers.
    llvm::SmallVector<mlir::Value> placed;
    /// The scratch memory through which the launches of a fill rule pass values.
    ScratchPiece handedOn;
    /// The scratch memory of the library that computes the results of the launch.
    ScratchPiece workspace;
  };

  LaunchPlan plan;
  KernelPlaces places;
  std::vector<Memory> memories; // one per launch
  KernelNeeds needs;
};

/// Plans a kernel. Fails with an error at `loc` if the plan of loops or launches is wrong.
mlir::FailureOr<GridPlan> planGrids(const KernelGraph &graph, mlir::Location loc,
                                    const LaunchOptions &options);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_GRIDPLAN_H
