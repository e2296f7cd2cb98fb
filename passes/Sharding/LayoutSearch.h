#ifndef DPC_PASSES_SHARDING_LAYOUTSEARCH_H
#define DPC_PASSES_SHARDING_LAYOUTSEARCH_H

#include "passes/Sharding/Placement.h"

#include "llvm/Support/Error.h"

#include <functional>

namespace dpc {

/// What is judged of a plan, what matters most after `missed` first.
struct PlanCost {
  /// Bytes of parameters that a device holds or reads beyond its share. Whoever
  /// gives the mesh an axis that cuts no batch wants parameters to be cut.
  double excessBytes = 0;
  /// Modelled seconds of a step.
  double seconds = 0;
  /// Bytes that a device sends in a step.
  double bytes = 0;
  /// Required choices of which no cut is made: worse than all else.
  unsigned missed = 0;

  /// Whether whoever has `other` should change to this, by more than what rounding
  /// may change.
  bool isBetterThan(const PlanCost &other) const;
  /// Whether nothing but rounding tells them apart.
  bool isAsGoodAs(const PlanCost &other) const;
};

/// Cuts of atoms that are chosen together: atoms of layers that repeat, and the
/// axis that cuts all of them or none.
struct AtomCut {
  std::string axis;
  llvm::SmallVector<unsigned> atoms;
  /// Whether each device gets as much as the others.
  bool isEven = true;
};

/// What the search has to choose from, and how a choice is judged.
struct LayoutProblem {
  /// Cuts that are not asked about.
  AxisPlan given;
  std::vector<AtomCut> cuts;
  /// Alternatives, as numbers of cuts, one of which is wanted of each: the cuts of
  /// one parameter over one axis, that parameter having the weight given.
  struct Choice {
    llvm::SmallVector<unsigned> cuts;
    double bytes;
  };
  std::vector<Choice> choices;
  /// Cuts that are worth being made together: those over one axis of all segments of a
  /// dimension of some parameter.
  std::vector<llvm::SmallVector<unsigned>> groups;
  /// Those that the user asks for, one of which each plan should have.
  std::vector<Choice> required;
  std::function<PlanCost(const AxisPlan &)> price;
  /// Plans that a search may price. A number of plans and not of seconds, so that equal
  /// inputs give equal programs.
  size_t budget = 1024;

  /// The price, and how many of the required choices the plan misses.
  PlanCost judge(const AxisPlan &plan) const;
};

/// The answer: a plan, and what those cost from which the search began.
struct LayoutChoice {
  AxisPlan plan;
  PlanCost cost;
  std::vector<PlanCost> starts;
  /// Where the search began and ended, and the cheapest few beside: what is worth a
  /// look when more is to be decided. The plan is among them.
  std::vector<AxisPlan> plans;
  /// Plans that were priced.
  size_t priced = 0;
  /// Whether the search ended because it had priced as many plans as it may.
  bool isExhausted = false;

  /// Is it the plan's cost, and no start better.
  llvm::Error verify(const LayoutProblem &problem) const;
};

/// Looks for the plan of least cost. It starts from several plans: nothing; of each choice
/// the first cut, the last one, or the one that the fewest other choices have; a walk
/// through the choices that takes the cheapest cut of each; all with the cheapest cut
/// of each required choice. From the cheapest start on, it adds, removes and replaces
/// cuts while the whole plan gets better. The best end wins. After `budget` plans the
/// search ends with the best one so far.
LayoutChoice searchLayouts(const LayoutProblem &problem);

/// The end of the same moves from `start`, a plan which may cut more than the
/// problem knows of.
AxisPlan improveLayouts(const LayoutProblem &problem, const AxisPlan &start);

/// The one of least cost.
size_t chooseFastest(llvm::ArrayRef<PlanCost> costs);

/// Which of some plans to take: the fastest, unless another one is nearly as fast
/// and sends clearly less. Bytes are exact and links are shared, where seconds are a
/// model's.
size_t chooseLean(llvm::ArrayRef<PlanCost> costs);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LAYOUTSEARCH_H
