#ifndef DPC_PASSES_SHARDING_SEARCH_LAYOUTPLANNER_H
#define DPC_PASSES_SHARDING_SEARCH_LAYOUTPLANNER_H

#include "passes/Sharding/Search/LayoutBoundary.h"
#include "passes/Sharding/Search/LayoutCandidates.h"
#include "passes/Sharding/Search/SplitAtoms.h"

namespace dpc {

/// Options for the layouts of a program, besides the requests for single tensors.
struct LayoutWishes {
  /// The axes that shard the batch, and the axes that divide parameters.
  llvm::ArrayRef<std::string> batchAxes, autoAxes;
  /// Whether to divide idle ops (SplitAtoms.h): ops for which all devices along an axis of
  /// `autoAxes` would compute the same.
  bool splitAtoms = true;
  /// Whether there is nothing to search, because the layouts of state have been decided.
  bool stateIsKnown = false;
  /// Whether remarks report the plans that were priced.
  bool explain = false;
};

/// Plans the layouts of one function: finds the candidate cuts, searches among them, splits atoms,
/// and chooses a plan.
class LayoutPlanner {
public:
  /// All arguments must outlive the object.
  LayoutPlanner(const LayoutBoundary &boundary, const ProgramLoops &program,
                const dist::MeshShape &mesh, PlacementCache &cache, const LayoutWishes &wishes);

  /// Searches for plans that add cuts to those that the boundary demands. Fails with an error if
  /// the answer of the search fails its check.
  mlir::LogicalResult search();
  /// Returns the composites that need one of their loops unsharded although the best plan so far
  /// shards this loop.
  llvm::SmallVector<DecomposableOpInterface> findCutComposites() const;
  /// Divides the idle ops of each plan, searches the other cuts again, and returns the best plan.
  SplitPlan split();
  /// Returns the layouts of all values under a plan.
  std::unique_ptr<Assignment> assign(const ProgramLoops &trial, const AxisPlan &plan) const;

private:
  LayoutCandidates findCandidates() const;
  /// Fills `problem` with the cuts that the search may choose from. `candidates` finds these cuts.
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
  /// The plans to choose from; the cheapest one comes first.
  std::vector<AxisPlan> plans;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_LAYOUTPLANNER_H
