#ifndef DPC_TARGETS_LOOPS_KERNELS_FUNCTIONPLAN_H
#define DPC_TARGETS_LOOPS_KERNELS_FUNCTIONPLAN_H

#include "targets/Loops/Kernels/AccessWalk.h"
#include "targets/Target.h"

#include <memory>

namespace dpc {

/// The plan of a kernel that is one function: its loops, the places of its values, and
/// the needs of its code. It is made before code is generated.
struct FunctionPlan {
  /// The plan of one group of loops.
  struct Group {
    /// The values that this group computes and that get a place in scratch memory or
    /// registers.
    llvm::SmallVector<mlir::Value> placed;
    /// The pieces of scratch memory that the fill rule of the group takes.
    llvm::SmallVector<ScratchPiece> pieces;
    /// Whether the group has no elements, so that it needs no code.
    bool isEmpty = true;
  };

  LoopPlan loops;
  KernelPlaces places;
  std::vector<Group> groups; // one per group of `loops`
  KernelNeeds needs;
};

/// A callback that returns the sizes in bytes of the pieces of scratch memory that the
/// fill rule of an op takes, in order.
using GetFillScratch =
    llvm::function_ref<llvm::SmallVector<int64_t>(mlir::Operation *op, const KernelPlaces &places)>;
/// A callback that creates the AccessWalk for the loops of a target's emitter.
using CreateWalk = llvm::function_ref<std::unique_ptr<AccessWalk>(const KernelPlaces &places)>;

/// Plans a kernel. Fails with an error at `loc` if the plan of loops is wrong.
mlir::FailureOr<FunctionPlan> planFunction(const KernelGraph &graph, mlir::Location loc,
                                           GetFillScratch getScratch, CreateWalk createWalk);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_FUNCTIONPLAN_H
