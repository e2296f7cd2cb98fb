#ifndef DPC_TARGETS_LOOPS_KERNELS_FUNCTIONPLAN_H
#define DPC_TARGETS_LOOPS_KERNELS_FUNCTIONPLAN_H

#include "targets/Loops/Kernels/AccessWalk.h"
#include "targets/Target.h"

#include <memory>

namespace dpc {

/// The plan of a kernel that is one function: its loops, the places of its values, and
/// the needs of its code.
struct FunctionPlan {
  /// The plan of one group of loops.
  struct Group {
    /// The values that get a place in scratch memory or in registers.
    llvm::SmallVector<mlir::Value> placed;
    /// The scratch memory of the fill rule.
    llvm::SmallVector<ScratchPiece> pieces;
    /// Whether the group has no elements, so that it needs no code.
    bool isEmpty = true;
  };

  LoopPlan loops;
  KernelPlaces places;
  std::vector<Group> groups; // one per group of `loops`
  KernelNeeds needs;
};

/// Gives the bytes of each piece of scratch memory that the fill rule of an op takes, in
/// order.
using GetFillScratch =
    llvm::function_ref<llvm::SmallVector<int64_t>(mlir::Operation *op, const KernelPlaces &places)>;
/// Creates the walk over the loops of a target's emitter.
using CreateWalk = llvm::function_ref<std::unique_ptr<AccessWalk>(const KernelPlaces &places)>;

/// Plans a kernel. Fails with an error at `loc` if the plan of loops is wrong.
mlir::FailureOr<FunctionPlan> planFunction(const KernelGraph &graph, mlir::Location loc,
                                           GetFillScratch getScratch, CreateWalk createWalk);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_FUNCTIONPLAN_H
