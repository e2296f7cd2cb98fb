#ifndef DPC_PASSES_SHARDING_SPLITATOMS_H
#define DPC_PASSES_SHARDING_SPLITATOMS_H

#include "passes/Sharding/LayoutSearch.h"

namespace dpc {

/// A program whose atoms may have been split, and what cuts them.
struct SplitPlan {
  ProgramLoops program;
  AxisPlan plan;
};

/// Assigns layouts under a plan, and says what that costs.
using AssignPlan =
    llvm::function_ref<std::unique_ptr<Assignment>(const ProgramLoops &, const AxisPlan &)>;
using CostOf = llvm::function_ref<PlanCost(const Assignment &)>;

/// Divides what an axis leaves idle: an atom is cut everywhere or nowhere, and where
/// the heads of attention and the inner dimensions of a transformer are cut, the
/// norms and sums between them have neither (sequence parallelism, Korthikanti et
/// al., "Reducing Activation Recomputation in Large Transformer Models", 2022, is
/// the remedy by hand).
///
/// Ops without a loop that the axis cuts, connected through values, get an atom of
/// their own in place of one that most of them run in parallel, and the axis cuts
/// that; at the border reshards follow by themselves. Each component that any of
/// `axes` leaves idle is tried with each such atom, those of layers that repeat
/// together, and keeps the one with which the whole program gets better most.
///
/// Where `requests` want a value that an idle op makes to be cut over the axis, that op
/// is divided in any case, along an atom of the dimension asked for: alone, or with its
/// component, whichever is cheaper.
///
/// `samples` are the atoms that count samples: of those, no op that sums over a
/// parameter is divided along one, unless its result is asked for so. Who asks for an
/// axis beside those of the batch wants parameters to be divided over it.
SplitPlan splitIdleOps(SplitPlan from, llvm::ArrayRef<std::string> axes,
                       llvm::ArrayRef<LayoutRequest> requests, llvm::ArrayRef<unsigned> samples,
                       const dist::MeshShape &mesh, AssignPlan assign, CostOf costOf);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SPLITATOMS_H
