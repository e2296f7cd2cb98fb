#ifndef DPC_PASSES_SHARDING_LAYOUTPLANNER_H
#define DPC_PASSES_SHARDING_LAYOUTPLANNER_H

#include "passes/Sharding/LayoutBoundary.h"
#include "passes/Sharding/LayoutCandidates.h"
#include "passes/Sharding/SplitAtoms.h"

namespace dpc {

/// What is wanted of layouts, beside what single tensors ask for.
struct LayoutWishes {
  /// Axes that cut the batch, and axes that divide parameters.
  llvm::ArrayRef<std::string> batchAxes, autoAxes;
  /// Divide what the latter leave idle along loops of its own.
  bool splitAtoms = true;
  /// Whether nothing is to be searched: state lies as it was decided.
  bool stateIsKnown = false;
  /// Say in remarks what was looked at.
  bool explain = false;
};

/// Plans the layouts of one function: candidates, search, splits, choice.
class LayoutPlanner {
public:
  /// All outlive the object.
  LayoutPlanner(const LayoutBoundary &boundary, const ProgramLoops &program,
                const dist::MeshShape &mesh, PlacementCache &cache, const LayoutWishes &wishes);

  /// Looks for plans that add to what the boundary demands. Fails with an error where
  /// the search contradicts itself.
  mlir::LogicalResult search();
  /// Composites of which the best plan so far cuts a loop that they need uncut.
  llvm::SmallVector<DecomposableOpInterface> findCutComposites() const;
  /// The best of the plans once what they leave idle is divided, too, and the other
  /// cuts have been looked at once more.
  SplitPlan split();
  /// The layouts of all values under a plan.
  std::unique_ptr<Assignment> assign(const ProgramLoops &trial, const AxisPlan &plan) const;

private:
  LayoutCandidates findCandidates() const;
  /// What there is to choose from; adds to `candidates`.
  void findProblem();
  PlanCost costOf(const Assignment &assignment) const {
    return {candidates.excessBytes(assignment), assignment.getSeconds(),
            assignment.getTraffic().bytes};
  }

  const LayoutBoundary &boundary;
  const ProgramLoops &program;
  const dist::MeshShape &mesh;
  PlacementCache &cache;
  const LayoutWishes &wishes;
  const std::vector<Assignment::Returned> returned;
  LayoutCandidates candidates;
  LayoutProblem problem;
  /// The cheapest first.
  std::vector<AxisPlan> plans;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LAYOUTPLANNER_H
