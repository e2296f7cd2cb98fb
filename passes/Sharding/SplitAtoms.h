#ifndef DPC_PASSES_SHARDING_SPLITATOMS_H
#define DPC_PASSES_SHARDING_SPLITATOMS_H

#include "passes/Sharding/LayoutSearch.h"

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

/// Divides ops that an axis leaves idle. An atom is cut in all ops or in none. If the heads and the
/// inner dimensions of a transformer are cut, the norms and sums between them have neither atom,
/// and all devices along the axis compute the same. The remedy by hand is sequence parallelism
/// (Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022).
///
/// Idle ops have no loop that the axis cuts. Idle ops that values connect form a component. The
/// ops of a component get an atom of their own in place of an atom that most of them run in
/// parallel, and the axis cuts the new atom. Reshards at the border of the component follow
/// from that. Each component that one of `axes` leaves idle is tried with each such atom,
/// together with the like components of repeated layers. The component keeps the atom that
/// improves the complete program most.
///
/// If `requests` want the result of an idle op to be cut over the axis, this op is divided in any
/// case, along an atom of the requested dimension: alone or with its component, whichever is
/// cheaper.
///
/// `samples` are the atoms that count samples. An op that sums over a parameter is not divided
/// along one of them, unless a request wants its result so: a user who names an axis beside those
/// of the batch wants parameters to be divided over it.
SplitPlan splitIdleOps(SplitPlan from, llvm::ArrayRef<std::string> axes,
                       llvm::ArrayRef<LayoutRequest> requests, llvm::ArrayRef<unsigned> samples,
                       const dist::MeshShape &mesh, AssignPlan assign, CostOf costOf);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SPLITATOMS_H
