#ifndef DPC_PASSES_SHARDING_SEARCH_LAYOUTSEARCH_H
#define DPC_PASSES_SHARDING_SEARCH_LAYOUTSEARCH_H

#include "passes/Sharding/Search/Placement.h"

#include "llvm/Support/Error.h"

#include <functional>

namespace dpc {

/// The criteria by which a plan is judged. `missed` matters most, then the others in the order of
/// declaration.
struct PlanCost {
  /// The bytes of parameters that a device holds or reads beyond its share. A user who adds an axis
  /// that does not shard the batch wants parameters to be sharded over this axis.
  double excessBytes = 0;
  /// The modelled seconds of a step.
  double seconds = 0;
  /// The bytes that a device sends in a step.
  double bytes = 0;
  /// The number of required choices for which the plan has no cut. One missed choice is worse than
  /// any other cost.
  unsigned missed = 0;

  /// Whether this cost is better than `other` by more than rounding can explain.
  bool isBetterThan(const PlanCost &other) const;
  /// Whether the two costs differ by no more than rounding can explain.
  bool isAsGoodAs(const PlanCost &other) const;
};

/// A cut as the search chooses it: the axis shards all of the atoms or none of them. The atoms
/// belong to one class (AtomClasses.h): they play the same role, for example in repeated layers.
struct AtomCut {
  std::string axis;
  llvm::SmallVector<unsigned> atoms;
  /// Whether all devices get the same number of elements.
  bool isEven = true;
};

/// The cuts that the search may choose from, and the function that computes the cost of a plan.
struct LayoutProblem {
  /// The cuts that every plan has.
  AxisPlan given;
  std::vector<AtomCut> cuts;
  /// The alternative cuts of a parameter over one axis, as indices into LayoutProblem::cuts. A plan
  /// should have one of these cuts. `bytes` is the size of the parameter, or of all parameters with
  /// the same cuts. One start of the search decides the choices with more bytes first.
  struct Choice {
    llvm::SmallVector<unsigned> cuts;
    double bytes;
  };
  std::vector<Choice> choices;
  /// Cuts that are worth trying together. If a dimension of a parameter has several segments, a
  /// group has the cuts of all these segments over one axis.
  std::vector<llvm::SmallVector<unsigned>> groups;
  /// Choices that the user asks for. A plan should have at least one cut of each required choice.
  std::vector<Choice> required;
  std::function<PlanCost(const AxisPlan &)> price;
  /// The number of plans that a search may price. The limit is a number of plans and not of
  /// seconds, so that equal inputs give equal programs.
  size_t budget = 1024;

  /// Returns the price of a plan, and in `missed` the number of required choices that the plan
  /// misses.
  PlanCost judge(const AxisPlan &plan) const;
};

/// The answer of a search: the best plan, its cost, and the costs of the plans at which the search
/// began.
struct LayoutChoice {
  AxisPlan plan;
  PlanCost cost;
  std::vector<PlanCost> starts;
  /// The plans at which the search began and ended, and a few of the cheapest other plans. Plans
  /// that miss more required choices than `plan` are left out. The list includes `plan`. The caller
  /// keeps these plans as candidates: it divides idle ops (SplitAtoms.h) later, and another plan
  /// may then be the fastest.
  std::vector<AxisPlan> plans;
  /// The number of plans that were priced.
  size_t priced = 0;
  /// Whether the search ended because it had priced as many plans as its budget allows.
  bool isExhausted = false;

  /// Checks that `cost` is the cost of the plan, and that no start is better.
  llvm::Error verify(const LayoutProblem &problem) const;
};

/// Searches for the plan of least cost. Every start has the cheapest cut of each required choice.
/// The starts differ in the cuts of the other choices: one start has none of these cuts, one has
/// the first cut of each choice, one has the last cut, and one has the cut that the fewest choices
/// share. The fifth start takes the choices one after another, and adds the cut that is cheapest
/// together with the cuts before it. From each start, the cheapest one first, the search adds,
/// removes and replaces cuts as long as the complete plan gets better. With many cuts, the search
/// does this from the cheapest starts only. The best end wins. After `budget` plans the search ends
/// with the best plan so far.
LayoutChoice searchLayouts(const LayoutProblem &problem);

/// Returns the plan that a search finds if it begins at `start` only, with the moves of
/// searchLayouts. `start` may have cuts that `problem` does not have; the result keeps these cuts.
AxisPlan improveLayouts(const LayoutProblem &problem, const AxisPlan &start);

/// Returns the index of the lowest cost.
size_t chooseFastest(llvm::ArrayRef<PlanCost> costs);

/// Returns the index of the plan to take. This is the fastest plan, unless another plan is nearly
/// as fast and sends clearly fewer bytes. Bytes are exact, and other traffic shares the links, but
/// seconds are only modelled.
size_t chooseLean(llvm::ArrayRef<PlanCost> costs);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_LAYOUTSEARCH_H
