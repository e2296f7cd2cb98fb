// A local search for the plan of least cost. Each plan is judged whole, with all
// reshards that it needs.

#include "passes/Sharding/LayoutSearch.h"

#include "planning/PlanError.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace dpc;

/// Relative difference of costs that is none.
static const double kRounding = 1e-9;
/// Cheap plans that are kept beside the best one.
static const size_t kKeptPlans = 8;

static bool isLess(double a, double b) {
  return a < b - kRounding * std::max(std::abs(a), std::abs(b));
}

bool PlanCost::isBetterThan(const PlanCost &other) const {
  if (missed != other.missed)
    return missed < other.missed;
  if (isLess(excessBytes, other.excessBytes) || isLess(other.excessBytes, excessBytes))
    return excessBytes < other.excessBytes;
  if (isLess(seconds, other.seconds) || isLess(other.seconds, seconds))
    return seconds < other.seconds;
  return isLess(bytes, other.bytes);
}

bool PlanCost::isAsGoodAs(const PlanCost &other) const {
  auto differ = [](double a, double b) { return isLess(a, b) || isLess(b, a); };
  return missed == other.missed && !differ(excessBytes, other.excessBytes) &&
         !differ(seconds, other.seconds) && !differ(bytes, other.bytes);
}

PlanCost LayoutProblem::judge(const AxisPlan &plan) const {
  auto isMade = [&](unsigned number) {
    const AtomCut &cut = cuts[number];
    return llvm::all_of(cut.atoms, [&](unsigned atom) {
      auto axes = plan.find(atom);
      return axes != plan.end() && llvm::is_contained(axes->second, cut.axis);
    });
  };
  PlanCost cost = price(plan);
  for (const Choice &choice : required)
    cost.missed += llvm::none_of(choice.cuts, isMade);
  return cost;
}

namespace {
/// Numbers of cuts that are made.
using Chosen = std::set<unsigned>;

class Search {
public:
  explicit Search(const LayoutProblem &problem) : problem(problem), given(problem.given) {}

  LayoutChoice run() {
    const Chosen wanted = takeCheapest(problem.required, {});
    Chosen best;
    std::vector<Chosen> seen;
    bool isFirst = true;
    for (const Chosen &start : {findRarest(wanted), wanted, takeCheapest(problem.choices, wanted),
                                cutAt(wanted, /*last=*/false), cutAt(wanted, /*last=*/true)}) {
      answer.starts.push_back(price(start));
      Chosen end = descend(start);
      seen.insert(seen.end(), {end, start});
      if (isFirst || price(end).isBetterThan(price(best)))
        best = end;
      isFirst = false;
    }
    answer.plan = planOf(best);
    answer.cost = price(best);
    llvm::append_range(seen, findCheapest());
    for (const Chosen &each : seen)
      if (price(each).missed <= answer.cost.missed)
        keep(each);
    answer.priced = prices.size();
    return std::move(answer);
  }

  /// Where moves from `start` lead, of which the cuts of the problem are chosen anew
  /// and everything else is kept.
  AxisPlan improve(const AxisPlan &start) {
    Chosen chosen;
    given = start;
    for (auto [number, cut] : llvm::enumerate(problem.cuts)) {
      auto has = [&](unsigned atom) {
        auto cuts = given.find(atom);
        return cuts != given.end() && llvm::is_contained(cuts->second, cut.axis);
      };
      if (cut.atoms.empty() || !llvm::all_of(cut.atoms, has))
        continue;
      chosen.insert(number);
      for (unsigned atom : cut.atoms)
        llvm::erase(given[atom], cut.axis);
    }
    return planOf(descend(chosen));
  }

private:
  void keep(const Chosen &chosen) {
    if (AxisPlan plan = planOf(chosen); !llvm::is_contained(answer.plans, plan))
      answer.plans.push_back(std::move(plan));
  }

  /// The cheapest of all that was priced.
  std::vector<Chosen> findCheapest() const {
    std::vector<std::pair<const Chosen *, const PlanCost *>> order;
    for (const auto &[chosen, cost] : prices)
      order.push_back({&chosen, &cost});
    llvm::stable_sort(order, [](const auto &a, const auto &b) {
      return std::tuple(a.second->missed, a.second->excessBytes, a.second->seconds,
                        a.second->bytes) < std::tuple(b.second->missed, b.second->excessBytes,
                                                      b.second->seconds, b.second->bytes);
    });
    std::vector<Chosen> cheapest;
    for (const auto &[chosen, cost] : ArrayRef(order).take_front(kKeptPlans))
      cheapest.push_back(*chosen);
    return cheapest;
  }

  AxisPlan planOf(const Chosen &chosen) const {
    AxisPlan plan = given;
    for (unsigned number : chosen)
      for (unsigned atom : problem.cuts[number].atoms)
        plan[atom].push_back(problem.cuts[number].axis);
    return plan;
  }

  const PlanCost &price(const Chosen &chosen) {
    auto [known, isNew] = prices.try_emplace(chosen);
    if (isNew)
      known->second = problem.judge(planOf(chosen));
    return known->second;
  }

  static bool hasOne(const Chosen &chosen, const LayoutProblem::Choice &choice) {
    return llvm::any_of(choice.cuts, [&](unsigned cut) { return chosen.count(cut) > 0; });
  }

  /// Of each choice the cut that the fewest others have: heads, inner dimensions,
  /// vocabularies, not the dimension that runs through everything. Larger
  /// parameters choose first; a cut with which devices read more is none.
  Chosen findRarest(Chosen chosen) {
    std::vector<unsigned> users(problem.cuts.size());
    std::vector<const LayoutProblem::Choice *> order;
    for (const LayoutProblem::Choice &choice : problem.choices) {
      order.push_back(&choice);
      for (unsigned cut : choice.cuts)
        ++users[cut];
    }
    llvm::stable_sort(order, [](const auto *a, const auto *b) { return a->bytes > b->bytes; });
    for (const LayoutProblem::Choice *choice : order) {
      if (hasOne(chosen, *choice))
        continue;
      Chosen next = chosen;
      next.insert(*llvm::min_element(choice->cuts, [&](unsigned a, unsigned b) {
        return std::pair(!problem.cuts[a].isEven, users[a]) <
               std::pair(!problem.cuts[b].isEven, users[b]);
      }));
      if (price(next).excessBytes <= price(chosen).excessBytes)
        chosen = next;
    }
    return chosen;
  }

  /// `chosen`, and of each parameter that it lacks the first dimension that can be cut,
  /// or the last one: what simple tables say.
  Chosen cutAt(Chosen chosen, bool last) const {
    for (const LayoutProblem::Choice &choice : problem.choices)
      if (!hasOne(chosen, choice))
        chosen.insert(last ? choice.cuts.back() : choice.cuts.front());
    return chosen;
  }

  /// `chosen`, and of each of `choices` that it lacks the cheapest cut.
  Chosen takeCheapest(llvm::ArrayRef<LayoutProblem::Choice> choices, Chosen chosen) {
    for (const LayoutProblem::Choice &choice : choices) {
      if (hasOne(chosen, choice))
        continue;
      std::optional<Chosen> cheapest;
      for (unsigned cut : choice.cuts) {
        Chosen trial = chosen;
        trial.insert(cut);
        if (!cheapest || price(trial).isBetterThan(price(*cheapest)))
          cheapest = trial;
      }
      if (cheapest)
        chosen = *cheapest;
    }
    return chosen;
  }

  /// Whether `next` is better than `here`, or as good with fewer cuts: one that
  /// changes nothing would only be in the way of what is decided later.
  bool improves(const Chosen &next, const Chosen &here) {
    const PlanCost a = price(next), b = price(here);
    return a.isBetterThan(b) || (next.size() < here.size() && a.isAsGoodAs(b));
  }

  /// Moves to neighbours that are better, as long as there are any. What rounding
  /// hides could lead in a circle: it never comes back to where it has been.
  Chosen descend(Chosen here) {
    std::set<Chosen> seen;
    while (true) {
      seen.insert(here);
      Chosen best = here;
      for (const Chosen &neighbour : neighboursOf(here))
        if (!seen.count(neighbour) && improves(neighbour, best))
          best = neighbour;
      if (best == here)
        return here;
      here = best;
    }
  }

  /// `here` with `cut`, and without others that are alternatives to it.
  Chosen withoutRivals(Chosen here, unsigned cut) const {
    for (const LayoutProblem::Choice &choice : problem.choices)
      if (llvm::is_contained(choice.cuts, cut))
        for (unsigned other : choice.cuts)
          here.erase(other);
    here.insert(cut);
    return here;
  }

  /// One cut more or less, one in the place of another over the same axis, or one
  /// in the place of all alternatives to it.
  std::vector<Chosen> neighboursOf(const Chosen &here) const {
    std::vector<Chosen> neighbours;
    for (unsigned cut = 0; cut < problem.cuts.size(); ++cut) {
      neighbours.push_back(withoutRivals(here, cut));
      Chosen next = here;
      if (!next.erase(cut)) {
        next.insert(cut);
        neighbours.push_back(next);
        continue;
      }
      neighbours.push_back(next);
      for (unsigned other = 0; other < problem.cuts.size(); ++other)
        if (!here.count(other) && problem.cuts[other].axis == problem.cuts[cut].axis) {
          neighbours.push_back(next);
          neighbours.back().insert(other);
        }
    }
    return neighbours;
  }

  const LayoutProblem &problem;
  AxisPlan given;
  LayoutChoice answer;
  std::map<Chosen, PlanCost> prices;
};
} // namespace

LayoutChoice dpc::searchLayouts(const LayoutProblem &problem) { return Search(problem).run(); }

AxisPlan dpc::improveLayouts(const LayoutProblem &problem, const AxisPlan &start) {
  return Search(problem).improve(start);
}

size_t dpc::chooseFastest(llvm::ArrayRef<PlanCost> costs) {
  size_t fastest = 0;
  for (size_t i = 1; i < costs.size(); ++i)
    if (costs[i].isBetterThan(costs[fastest]))
      fastest = i;
  return fastest;
}

size_t dpc::chooseLean(llvm::ArrayRef<PlanCost> costs) {
  // What the model's seconds are not worth, and how many bytes more are many.
  const double slack = 1.002, moreBytes = 1.05;
  const size_t fastest = chooseFastest(costs);
  size_t leanest = fastest;
  for (size_t i = 0; i < costs.size(); ++i)
    if (!isLess(costs[fastest].excessBytes, costs[i].excessBytes) &&
        costs[i].seconds <= slack * costs[fastest].seconds &&
        isLess(costs[i].bytes, costs[leanest].bytes))
      leanest = i;
  return costs[fastest].bytes > moreBytes * costs[leanest].bytes ? leanest : fastest;
}

llvm::Error LayoutChoice::verify(const LayoutProblem &problem) const {
  const PlanCost again = problem.judge(plan);
  if (again.isBetterThan(cost) || cost.isBetterThan(again))
    return planError("the layouts take {0} s, not {1} s", again.seconds, cost.seconds);
  for (const PlanCost &start : starts)
    if (start.isBetterThan(cost))
      return planError("the layouts take {0} s, those from which the search began {1} s",
                       cost.seconds, start.seconds);
  return llvm::Error::success();
}
