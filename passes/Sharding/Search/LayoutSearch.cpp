// Finds a plan of low cost by local search. The cost of a plan is the cost of the complete program,
// with all reshards that the plan needs.

#include "passes/Sharding/Search/LayoutSearch.h"

#include "planning/PlanError.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <optional>
#include <set>
#include <tuple>

using namespace mlir;
using namespace dpc;

/// Two costs count as equal if their relative difference is below this, because rounding may cause
/// the difference.
static const double kRounding = 1e-9;
/// A neighbour is a plan that one move of the search leads to. The search prices a block of
/// neighbours and takes the best one. The block is large if there are few cuts, and small if there
/// are many. If there are many cuts, most of them do not depend on one another. Then the search
/// prices fewer plans if it takes a better plan early.
static const size_t kBlock = 64, kSmallBlock = 8;
/// The largest number of cuts that counts as few.
static const size_t kFewCuts = 24;
/// The search replaces a cut of a choice (LayoutProblem::Choice) by another cut of this choice only
/// if the choice has at most this many cuts. If a dimension has many segments, the choice of its
/// parameter has many cuts. The search then tries these cuts together, as a group.
static const size_t kNarrow = 8;
/// The number of starts from which a search with many cuts descends. The cheapest starts come
/// first.
static const size_t kWideDescents = 2;
/// The number of cheapest priced plans that may be kept besides the starts and ends of the search.
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

/// A total order of costs. Unlike isBetterThan, it counts even differences that rounding may cause.
static bool isCheaper(const PlanCost &a, const PlanCost &b) {
  return std::tuple(a.missed, a.excessBytes, a.seconds, a.bytes) <
         std::tuple(b.missed, b.excessBytes, b.seconds, b.bytes);
}

namespace {
/// The indices of the cuts that a plan has, besides the given ones.
using Chosen = std::set<unsigned>;

class Search {
public:
  explicit Search(const LayoutProblem &problem)
      : problem(problem), given(problem.given), rivals(problem.cuts.size()),
        swaps(problem.cuts.size()) {
    for (const LayoutProblem::Choice &choice : problem.choices)
      for (unsigned cut : choice.cuts)
        for (unsigned other : choice.cuts)
          if (other != cut) {
            rivals[cut].insert(other);
            if (choice.cuts.size() <= kNarrow)
              swaps[cut].insert(other);
          }
    // If there are few cuts, the search tries each cut in the place of every other cut over the
    // same axis.
    for (unsigned cut = 0; cut < problem.cuts.size(); ++cut)
      for (unsigned other = 0; other < problem.cuts.size(); ++other) {
        if (problem.cuts.size() <= kFewCuts && other != cut)
          swaps[cut].insert(other);
        if (problem.cuts[other].axis != problem.cuts[cut].axis)
          swaps[cut].erase(other);
      }
  }

  LayoutChoice run() {
    const Chosen wanted = takeCheapest(problem.required, {});
    std::vector<Chosen> starts;
    for (Chosen &start :
         std::vector<Chosen>{findRarest(wanted), wanted, takeCheapest(problem.choices, wanted),
                             cutAt(wanted, /*last=*/false), cutAt(wanted, /*last=*/true)})
      if (tryPrice(start))
        starts.push_back(std::move(start));
    std::vector<size_t> order;
    for (size_t number = 0; number < starts.size(); ++number) {
      answer.starts.push_back(price(starts[number]));
      order.push_back(number);
    }
    llvm::stable_sort(
        order, [&](size_t a, size_t b) { return isCheaper(answer.starts[a], answer.starts[b]); });
    // If there are many cuts, descents from all starts usually end at plans of the same cost, so a
    // few descents are enough.
    if (problem.cuts.size() > kFewCuts && order.size() > kWideDescents)
      order.resize(kWideDescents);
    std::vector<Chosen> ends = starts;
    for (size_t number : order)
      ends[number] = descend(starts[number]);
    Chosen best = ends.front();
    std::vector<Chosen> seen;
    for (const auto &[start, end] : llvm::zip_equal(starts, ends)) {
      seen.insert(seen.end(), {end, start});
      if (price(end).isBetterThan(price(best)))
        best = end;
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

  /// Returns the plan that a descent from `start` reaches. Its moves add, remove and replace cuts
  /// of the problem. All other cuts of `start` stay.
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
    return tryPrice(chosen) ? planOf(descend(chosen)) : start;
  }

private:
  void keep(const Chosen &chosen) {
    if (AxisPlan plan = planOf(chosen); !llvm::is_contained(answer.plans, plan))
      answer.plans.push_back(std::move(plan));
  }

  /// Returns the cheapest plans of all priced plans.
  std::vector<Chosen> findCheapest() const {
    std::vector<std::pair<const Chosen *, const PlanCost *>> order;
    for (const auto &[chosen, cost] : prices)
      order.push_back({&chosen, &cost});
    llvm::stable_sort(order,
                      [](const auto &a, const auto &b) { return isCheaper(*a.second, *b.second); });
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

  /// Returns the price of a plan; null if the plan is not priced yet and the budget is spent.
  const PlanCost *tryPrice(const Chosen &chosen) {
    if (auto known = prices.find(chosen); known != prices.end())
      return &known->second;
    answer.isExhausted = prices.size() >= problem.budget;
    if (answer.isExhausted)
      return nullptr;
    return &prices.try_emplace(chosen, problem.judge(planOf(chosen))).first->second;
  }
  /// The price of a plan that has been priced.
  const PlanCost &price(const Chosen &chosen) const { return prices.find(chosen)->second; }

  static bool hasOne(const Chosen &chosen, const LayoutProblem::Choice &choice) {
    return llvm::any_of(choice.cuts, [&](unsigned cut) { return chosen.count(cut) > 0; });
  }

  /// Adds a cut to `chosen` for each choice that has none: the cut that the fewest other choices
  /// have. In a transformer this is a cut of heads, inner dimensions or vocabularies, but not of
  /// the dimension that runs through the entire program. Even cuts are preferred to uneven ones.
  /// Choices of larger parameters are decided first. If a cut makes devices hold or read more bytes
  /// of parameters, it is not added.
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
      const PlanCost *before = tryPrice(chosen), *after = tryPrice(next);
      if (before && after && after->excessBytes <= before->excessBytes)
        chosen = std::move(next);
    }
    return chosen;
  }

  /// Adds a cut to `chosen` for each choice that has none: the cut of the first dimension of the
  /// parameter that can be cut or, if `last`, of the last one. A fixed rule for all parameters,
  /// such as "shard the first dimension", would make the same plans.
  Chosen cutAt(Chosen chosen, bool last) const {
    for (const LayoutProblem::Choice &choice : problem.choices)
      if (!hasOne(chosen, choice))
        chosen.insert(last ? choice.cuts.back() : choice.cuts.front());
    return chosen;
  }

  /// Adds to `chosen` the cheapest cut of each of `choices` that has no cut yet.
  Chosen takeCheapest(llvm::ArrayRef<LayoutProblem::Choice> choices, Chosen chosen) {
    for (const LayoutProblem::Choice &choice : choices) {
      if (hasOne(chosen, choice))
        continue;
      std::optional<unsigned> cheapest;
      const PlanCost *least = nullptr;
      for (unsigned cut : choice.cuts) {
        Chosen trial = chosen;
        trial.insert(cut);
        const PlanCost *cost = tryPrice(trial);
        if (!cheapest || (cost && least && cost->isBetterThan(*least))) {
          cheapest = cut;
          least = cost;
        }
      }
      if (cheapest)
        chosen.insert(*cheapest);
    }
    return chosen;
  }

  /// Whether `next` is better than `here`, or as good with fewer cuts. A cut that changes
  /// nothing would only restrict later decisions.
  bool improves(const Chosen &next, const Chosen &here) {
    const PlanCost *cost = tryPrice(next);
    if (!cost)
      return false;
    const PlanCost &now = price(here);
    return cost->isBetterThan(now) || (next.size() < here.size() && cost->isAsGoodAs(now));
  }

  /// Moves to better neighbours as long as there are any. Costs that differ only by rounding count
  /// as equal, so small differences could add up and lead the search in a circle. Therefore the
  /// search never returns to a plan that it has visited.
  ///
  /// The search prices a block of neighbours, goes to the best plan among them, and prices the next
  /// block from the move that follows. If no plan of a block is better, the block grows until it
  /// has a better plan or has tried all moves. If there are many cuts that do not depend on one
  /// another, one pass through all moves settles all of them.
  Chosen descend(Chosen here) {
    const unsigned moves = problem.cuts.size() + problem.groups.size();
    const size_t block = problem.cuts.size() <= kFewCuts ? kBlock : kSmallBlock;
    std::set<Chosen> seen;
    unsigned move = 0;
    while (!answer.isExhausted) {
      seen.insert(here);
      Chosen best = here;
      size_t tried = 0;
      for (unsigned count = 0; count < moves && (tried < block || best == here); ++count) {
        for (const Chosen &neighbour : neighboursOf(here, move)) {
          ++tried;
          if (!seen.count(neighbour) && improves(neighbour, best))
            best = neighbour;
        }
        move = (move + 1) % moves;
      }
      if (best == here)
        break;
      here = std::move(best);
    }
    return here;
  }

  /// Returns the plans to which a move leads. If `move` is less than the number of cuts, the move
  /// changes the cut with the index `move`. Each further move changes one group.
  std::vector<Chosen> neighboursOf(const Chosen &here, unsigned move) const {
    if (move >= problem.cuts.size())
      return neighboursOf(here, problem.groups[move - problem.cuts.size()]);
    std::vector<Chosen> neighbours = {replaceRivals(here, move)};
    Chosen next = here;
    if (!next.erase(move)) {
      next.insert(move);
      neighbours.push_back(std::move(next));
      return neighbours;
    }
    neighbours.push_back(next);
    for (unsigned rival : swaps[move])
      if (!here.count(rival)) {
        neighbours.push_back(next);
        neighbours.back().insert(rival);
      }
    return neighbours;
  }

  /// Returns three plans: in the first one all cuts of the group replace their alternatives, in the
  /// second one they are added, and in the third one they are removed.
  std::vector<Chosen> neighboursOf(const Chosen &here, llvm::ArrayRef<unsigned> group) const {
    Chosen replacing = here, added = here, removed = here;
    for (unsigned cut : group)
      for (unsigned rival : rivals[cut])
        replacing.erase(rival);
    for (unsigned cut : group) {
      replacing.insert(cut);
      added.insert(cut);
      removed.erase(cut);
    }
    return {std::move(replacing), std::move(added), std::move(removed)};
  }

  /// Returns the plan `here` with `cut`, and without the alternatives to `cut`.
  Chosen replaceRivals(Chosen here, unsigned cut) const {
    for (unsigned rival : rivals[cut])
      here.erase(rival);
    here.insert(cut);
    return here;
  }

  const LayoutProblem &problem;
  AxisPlan given;
  /// By cut: the other cuts of its choices (`rivals`), and the cuts over the same axis that are
  /// tried in its place (`swaps`).
  std::vector<std::set<unsigned>> rivals, swaps;
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
  // A plan counts as nearly as fast if its seconds are at most `slack` times those of the fastest
  // plan. The fastest plan sends clearly more if it sends more than `moreBytes` times as many
  // bytes.
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
