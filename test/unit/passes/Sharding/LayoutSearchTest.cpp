// The search for layouts on made-up prices.

#include "passes/Sharding/Search/LayoutSearch.h"

#include "llvm/Support/Error.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace dpc;

namespace {

/// Atoms 0, 1, .. over one axis, each a cut by itself, and a price for those that are
/// cut.
LayoutProblem problemOf(unsigned atoms, std::vector<LayoutProblem::Choice> choices,
                        std::function<PlanCost(const std::vector<bool> &)> price) {
  LayoutProblem problem;
  for (unsigned atom = 0; atom < atoms; ++atom)
    problem.cuts.push_back({"a", {atom}, true});
  problem.choices = std::move(choices);
  problem.price = [atoms, price](const AxisPlan &plan) {
    std::vector<bool> cut(atoms);
    for (const auto &[atom, axes] : plan)
      if (atom < atoms)
        cut[atom] = !axes.empty();
    return price(cut);
  };
  return problem;
}

std::vector<unsigned> cutAtoms(const AxisPlan &plan) {
  std::vector<unsigned> atoms;
  for (const auto &[atom, axes] : plan)
    if (!axes.empty())
      atoms.push_back(atom);
  return atoms;
}

TEST(LayoutSearchTest, FindsCutsThatPayOnlyTogether) {
  LayoutProblem problem = problemOf(3, {{{0, 1}, 8}, {{0, 2}, 8}}, [](const auto &cut) {
    const double seconds = cut[1] && cut[2] ? 1 : cut[1] || cut[2] ? 4 : cut[0] ? 2 : 3;
    return PlanCost{0, seconds, 0};
  });
  LayoutChoice choice = searchLayouts(problem);
  EXPECT_EQ(cutAtoms(choice.plan), (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(choice.cost.seconds, 1);
  EXPECT_FALSE(llvm::errorToBool(choice.verify(problem)));
}

TEST(LayoutSearchTest, DividesParametersBeforeItSavesTime) {
  LayoutProblem problem = problemOf(1, {{{0}, 8}}, [](const auto &cut) {
    return cut[0] ? PlanCost{0, 9, 9} : PlanCost{8, 1, 1};
  });
  EXPECT_EQ(cutAtoms(searchLayouts(problem).plan), (std::vector<unsigned>{0}));
}

TEST(LayoutSearchTest, LeavesOutCutsThatChangeNothing) {
  LayoutProblem problem = problemOf(
      2, {{{0}, 8}, {{1}, 8}}, [](const auto &cut) { return PlanCost{0, cut[0] ? 1. : 2, 0}; });
  EXPECT_EQ(cutAtoms(searchLayouts(problem).plan), (std::vector<unsigned>{0}));
}

TEST(LayoutSearchTest, SendsLessWhereTimeIsTheSame) {
  LayoutProblem problem = problemOf(2, {{{0, 1}, 8}}, [](const auto &cut) {
    return PlanCost{cut[0] || cut[1] ? 0. : 8, 1, cut[1] && !cut[0] ? 5. : 6};
  });
  EXPECT_EQ(cutAtoms(searchLayouts(problem).plan), (std::vector<unsigned>{1}));
}

TEST(LayoutSearchTest, NoStartIsBetterThanTheAnswer) {
  LayoutProblem problem = problemOf(2, {{{0, 1}, 8}}, [](const auto &cut) {
    return PlanCost{0, cut[0] ? 2. : cut[1] ? 1. : 3., 0};
  });
  LayoutChoice choice = searchLayouts(problem);
  EXPECT_FALSE(llvm::errorToBool(choice.verify(problem)));
  LayoutChoice worse = choice;
  worse.plan = {{0, {"a"}}};
  EXPECT_EQ(llvm::toString(worse.verify(problem)), "the layouts take 2.00 s, not 1.00 s");
  worse.cost.seconds = 2;
  EXPECT_EQ(llvm::toString(worse.verify(problem)),
            "the layouts take 2.00 s, those from which the search began 1.00 s");
}

TEST(LayoutSearchTest, ImprovesAPlanAndKeepsWhatTheProblemDoesNotKnow) {
  LayoutProblem problem = problemOf(2, {{{0, 1}, 8}}, [](const auto &cut) {
    return PlanCost{0, cut[0] ? 2. : cut[1] ? 1. : 3., 0};
  });
  AxisPlan improved = improveLayouts(problem, {{0, {"a"}}, {7, {"b", "a"}}});
  EXPECT_EQ(cutAtoms(improved), (std::vector<unsigned>{1, 7}));
  EXPECT_EQ(improved.at(7), (dist::AxisNames{"b", "a"}));
}

/// One cut per parameter. Every third costs a second, the others save one each.
static LayoutProblem makeIndependentCuts(unsigned count) {
  std::vector<LayoutProblem::Choice> choices;
  for (unsigned cut = 0; cut < count; ++cut)
    choices.push_back({{cut}, 8});
  return problemOf(count, choices, [](const auto &cut) {
    double seconds = 1000;
    for (size_t atom = 0; atom < cut.size(); ++atom)
      seconds -= cut[atom] ? (atom % 3 == 2 ? -1 : 1) : 0;
    return PlanCost{0, seconds, 0};
  });
}

TEST(LayoutSearchTest, PricesFewPlansOfManyIndependentCuts) {
  size_t before = 0;
  for (unsigned count : {64, 128, 256}) {
    LayoutChoice choice = searchLayouts(makeIndependentCuts(count));
    EXPECT_EQ(cutAtoms(choice.plan).size(), count - count / 3);
    EXPECT_FALSE(choice.isExhausted);
    if (before > 0) {
      EXPECT_LE(choice.priced, 3 * before);
    }
    before = choice.priced;
  }
}

TEST(LayoutSearchTest, EndsWithTheBestPlanWhenTheBudgetIsSpent) {
  LayoutProblem problem = makeIndependentCuts(64);
  problem.budget = 100;
  LayoutChoice choice = searchLayouts(problem);
  EXPECT_TRUE(choice.isExhausted);
  EXPECT_EQ(choice.priced, 100u);
  EXPECT_FALSE(llvm::errorToBool(choice.verify(problem)));
  EXPECT_EQ(cutAtoms(searchLayouts(problem).plan), cutAtoms(choice.plan));
}

TEST(LayoutSearchTest, MakesTheCutsOfAWideDimensionTogether) {
  // Each alone costs more than it saves; so do all but one.
  const unsigned count = 40;
  std::vector<LayoutProblem::Choice> choices = {{{}, 8}};
  for (unsigned cut = 0; cut < count; ++cut)
    choices[0].cuts.push_back(cut);
  auto price = [](const auto &cut) {
    const auto made = std::count(cut.begin(), cut.end(), true);
    return PlanCost{0, made == count ? 1. : 2. + made, 0};
  };
  LayoutProblem problem = problemOf(count, choices, price);
  EXPECT_TRUE(cutAtoms(searchLayouts(problem).plan).empty());
  problem.groups = {choices[0].cuts};
  EXPECT_EQ(cutAtoms(searchLayouts(problem).plan).size(), count);
}

TEST(LayoutSearchTest, TakesTheLeanerOfTwoThatAreNearlyAsFast) {
  const PlanCost fast{0, 1, 106}, lean{0, 1.0019, 100}, slow{0, 1.0021, 50}, whole{8, 0.5, 0};
  EXPECT_EQ(chooseFastest({lean, fast, slow, whole}), 1u);
  EXPECT_EQ(chooseLean({lean, fast, slow, whole}), 0u);
  // A few bytes are worth nothing.
  EXPECT_EQ(chooseLean({lean, PlanCost{0, 1, 105}}), 1u);
}

} // namespace
