#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDPLAN_H
#define DPC_TARGETS_CUDA_GRIDS_GRIDPLAN_H

#include "targets/CUDA/Grids/LaunchPlan.h"
#include "targets/Loops/Kernels/KernelPlaces.h"
#include "targets/Target.h"

namespace dpc {

/// The plan of a kernel that consists of launches: the launches, the places of its values,
/// and the needs of its code. It is made before code is generated.
struct GridPlan {
  /// The memory that one launch adds.
  struct Memory {
    /// The values that this launch computes and that get a place in scratch memory, shared
    /// memory or registers.
    llvm::SmallVector<mlir::Value> placed;
    /// The scratch memory through which a launch of a fill rule passes values to later
    /// launches, or a launch with sums over columns passes partial sums to the next one.
    ScratchPiece handedOn;
    /// The scratch memory of the library, if the launch may be a library call.
    ScratchPiece workspace;
  };

  LaunchPlan plan;
  KernelPlaces places;
  std::vector<Memory> memories; // one per launch
  KernelNeeds needs;
};

/// Plans a kernel. Fails with an error at `loc` if the plan of loops or launches is wrong.
mlir::FailureOr<GridPlan> planGrids(const KernelGraph &graph, mlir::Location loc,
                                    const LaunchPlanOptions &options);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_GRIDPLAN_H
