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
/// Bytes that seconds may cost, as a factor.
static const double kMoreBytes = 1.05;

static bool isLess(double a, double b) {
  return a < b - kRounding * std::max(std::abs(a), std::abs(b));
}

bool PlanCost::isBetterThan(const PlanCost &other) const {
  if (missed != other.missed)
    return missed < other.missed;
  if (isLess(excessBytes, other.excessBytes) || isLess(other.excessBytes, excessBytes))
    return excessBytes < other.excessBytes;
  return isLess(seconds, other.seconds) ? bytes <= kMoreBytes * other.bytes
                                        : !isLess(other.seconds, seconds) && bytes < other.bytes;
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
  explicit Search(const LayoutProblem &problem) : problem(problem) {}

  LayoutChoice run() {
    const Chosen wanted = takeCheapest(problem.required, {});
    Chosen best;
    bool isFirst = true;
    for (const Chosen &start :
         {findRarest(wanted), wanted, takeCheapest(problem.choices, wanted)}) {
      answer.starts.push_back(price(start));
      Chosen end = descend(start);
      if (isFirst || price(end).isBetterThan(price(best)))
        best = end;
      isFirst = false;
    }
    answer.plan = planOf(best);
    answer.cost = price(best);
    answer.priced = prices.size();
    return std::move(answer);
  }

private:
  AxisPlan planOf(const Chosen &chosen) const {
    AxisPlan plan = problem.given;
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

  /// Moves to neighbours that are better, as long as there are any. Seconds are not
  /// bought with bytes step by step: what counts is where it began, or where the
  /// last excess went. Better is no order, of seconds and bytes together: it never
  /// comes back to where it has been.
  Chosen descend(Chosen here) {
    Chosen base = here;
    std::set<Chosen> seen;
    while (true) {
      seen.insert(here);
      Chosen best = here;
      for (const Chosen &neighbour : neighboursOf(here))
        if (!seen.count(neighbour) && improves(neighbour, best) &&
            (price(neighbour).isBetterThan(price(base)) ||
             price(neighbour).isAsGoodAs(price(base))))
          best = neighbour;
      if (best == here)
        return here;
      if (isLess(price(best).excessBytes, price(base).excessBytes))
        base = best;
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
  LayoutChoice answer;
  std::map<Chosen, PlanCost> prices;
};
} // namespace

LayoutChoice dpc::searchLayouts(const LayoutProblem &problem) { return Search(problem).run(); }

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
