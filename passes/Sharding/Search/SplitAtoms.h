#ifndef DPC_PASSES_SHARDING_SEARCH_SPLITATOMS_H
#define DPC_PASSES_SHARDING_SEARCH_SPLITATOMS_H

#include "passes/Sharding/Search/LayoutSearch.h"

namespace dpc {

/// A program whose atoms may have been split, and the axes that cut the atoms.
struct SplitPlan {
  ProgramLoops program;
  AxisPlan plan;
};

/// `AssignPlan` assigns layouts under a plan, and `CostOf` computes the cost of an assignment.
using AssignPlan =
    llvm::function_ref<std::unique_ptr<Assignment>(const ProgramLoops &, const AxisPlan &)>;
using CostOf = llvm::function_ref<PlanCost(const Assignment &)>;

/// Divides idle ops. An op is idle for an axis if the axis cuts none of its loops, so that all
/// devices along the axis compute the same. Idle ops exist because an atom is cut in all ops or in
/// none. If the heads and the inner dimensions of a transformer are cut, the norms and sums between
/// them have neither atom. All devices along the axis then compute the same norms and sums. The
/// remedy by hand is sequence parallelism (Korthikanti et al., "Reducing Activation Recomputation
/// in Large Transformer Models", 2022).
///
/// Idle ops that values connect form a component. Take an atom that is a parallel loop in most of a
/// component's work. In all ops of the component a new atom replaces this atom, and the axis cuts
/// the new atom. Reshards at the border of the component follow from that. The function tries
/// several such atoms for each component, and keeps the one that improves the complete program
/// most, if any does. Components of repeated layers that are alike are divided together.
///
/// If a request wants the result of an idle op to be cut over the axis, this op is divided even if
/// the program gets slower, along an atom of the requested dimension that has an index for each
/// device. It is divided alone or with its component, whichever is cheaper.
///
/// `samples` are the atoms that count samples. An op that contracts a dimension of a parameter, or
/// looks up rows of one, is divided along such an atom only if a request wants its result to be cut
/// in this way. The reason is that a user who names an axis besides those of the batch wants
/// parameters to be divided over it.
SplitPlan splitIdleOps(SplitPlan from, llvm::ArrayRef<std::string> axes,
                       llvm::ArrayRef<LayoutRequest> requests, llvm::ArrayRef<unsigned> samples,
                       const dist::MeshShape &mesh, AssignPlan assign, CostOf costOf);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_SPLITATOMS_H
