// Reshard plans: each kind of step where it pays, and wrong plans refused.

#include "passes/Sharding/Reshards/ReshardPlan.h"

#include "test/unit/planning/FlatMachine.h"

#include "dialects/Dist/IR/PricesOnMesh.h"

#include <gtest/gtest.h>

using namespace dpc;
using dpc::test::makeFlatMachine;
using namespace dpc::dist;

namespace {

/// A slow connection, so that bytes decide.
Machine makeMachine() { return makeFlatMachine(5e10, 1e10, 1e9, 1e-9); }

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

Layout parse(llvm::StringRef layout) { return llvm::cantFail(parseLayout(layout)); }

/// A plan between two layouts of f32 on mesh a=2, b=2, micro=2 (sequential).
class ReshardPlanTest : public testing::Test {
protected:
  ReshardProblem problemOf(llvm::StringRef from, llvm::StringRef to) const {
    return {parse(from), parse(to), mesh, meshPrices, 4};
  }

  ReshardPlan solve(const ReshardProblem &problem) const {
    auto plan = planReshard(problem);
    if (!plan) {
      ADD_FAILURE() << text(plan.takeError());
      return {};
    }
    EXPECT_EQ(text(plan->verify(problem)), "");
    return *plan;
  }

  std::string stepsOf(llvm::StringRef from, llvm::StringRef to) const {
    return toString(solve(problemOf(from, to)));
  }

  MeshShape mesh{{"micro", 2, true}, {"a", 2}, {"b", 2}, {"one", 1}};
  MeshPrices meshPrices = getMeshPrices(makeMachine(), mesh);
};

TEST_F(ReshardPlanTest, PartialBecomesWhole) {
  EXPECT_EQ(stepsOf("[8], [4] partial sum(a)", "[8], [4]"), "all_reduce a");
  EXPECT_EQ(stepsOf("[8] partial sum(a,b)", "[8]"), "all_reduce a+b");
  EXPECT_EQ(stepsOf("scalar partial sum(a), max(b)", "scalar"), "all_reduce a, all_reduce b");
}

TEST_F(ReshardPlanTest, PartialBecomesCut) {
  EXPECT_EQ(stepsOf("[8], [4] partial sum(a)", "[(8: a)], [4]"), "reduce_scatter a");
  EXPECT_EQ(stepsOf("[8], [4] partial max(a)", "[8], [(4: a)]"), "reduce_scatter a");
  EXPECT_EQ(stepsOf("[8] partial sum(a,b)", "[(8: a,b)]"), "reduce_scatter a+b");
  EXPECT_EQ(stepsOf("[8], [4] partial sum(a,b)", "[(8: a)], [(4: b)]"), "reduce_scatter a+b");
}

TEST_F(ReshardPlanTest, PartialThatStays) {
  EXPECT_EQ(stepsOf("[8] partial sum(a,b)", "[8] partial sum(b)"), "all_reduce a");
  EXPECT_EQ(stepsOf("[8] partial sum(a,b)", "[(8: a)] partial sum(b)"), "reduce_scatter a");
  EXPECT_EQ(stepsOf("[(8: a)], [4] partial sum(b)", "[8], [(4: a)] partial sum(b)"),
            "all_to_all a");
}

// A sum of maxima is no maximum of sums.
TEST_F(ReshardPlanTest, SumsBeforeMaxima) {
  EXPECT_EQ(stepsOf("[8] partial max(a), sum(b)", "[(8: a)]"), "all_reduce b, reduce_scatter a");
}

TEST_F(ReshardPlanTest, WholeBecomesCut) {
  EXPECT_EQ(stepsOf("[8], [4]", "[(8: a)], [4]"), "slice a");
  EXPECT_EQ(stepsOf("[(8: a)]", "[(8: a,b)]"), "slice b");
}

// What is cut first makes less to reduce or gather.
TEST_F(ReshardPlanTest, SlicesBeforeItSends) {
  EXPECT_EQ(stepsOf("[8], [4] partial sum(a)", "[8], [(4: b)]"), "slice b, all_reduce a");
  EXPECT_EQ(stepsOf("[(8: a)], [4]", "[8], [(4: b)]"), "slice b, all_gather a");
}

TEST_F(ReshardPlanTest, CutBecomesWhole) {
  EXPECT_EQ(stepsOf("[(8: a)], [4]", "[8], [4]"), "all_gather a");
  EXPECT_EQ(stepsOf("[(8: b,a)]", "[8]"), "all_gather b+a");
  EXPECT_EQ(stepsOf("[(8: a)], [(4: b)]", "[8], [4]"), "all_gather a+b");
  EXPECT_EQ(stepsOf("[(6: a)+(2: a)], [4]", "[8], [4]"), "all_gather a");
}

TEST_F(ReshardPlanTest, CutMoves) {
  EXPECT_EQ(stepsOf("[(8: a)], [4]", "[8], [(4: a)]"), "all_to_all a");
  EXPECT_EQ(stepsOf("[(8: a)], [(4: b)], [2]", "[8], [(4: b)], [(2: a)]"), "all_to_all a");
  EXPECT_EQ(stepsOf("[(8: a)], [(8: b)], [4], [4]", "[8], [8], [(4: a)], [(4: b)]"),
            "all_to_all a+b");
  // Between factors of one dimension.
  EXPECT_EQ(stepsOf("[(8: a)]", "[(2)(4: a)]"), "all_to_all a");
  EXPECT_EQ(stepsOf("[(8: a,b)]", "[(4: b)(2)]"), "all_gather a, all_to_all b");
  // Into and out of a concatenation.
  EXPECT_EQ(stepsOf("[(8: a)], [6]", "[8], [(4: a)+(2: a)]"), "all_to_all a");
  EXPECT_EQ(stepsOf("[8], [(4: a)+(2: a)]", "[(8: a)], [6]"), "all_to_all a");
}

// Two axes change places: one has to go before the other can come.
TEST_F(ReshardPlanTest, CutsChangePlaces) {
  std::string steps = stepsOf("[(8: a)], [(8: b)]", "[(8: b)], [(8: a)]");
  EXPECT_EQ(steps, "all_gather a, all_to_all b, slice a") << steps;
}

TEST_F(ReshardPlanTest, UnevenCuts) {
  EXPECT_EQ(stepsOf("[(7: a)], [3]", "[7], [(3: a)]"), "all_to_all a");
  EXPECT_EQ(stepsOf("[7] partial sum(a,b)", "[(7: a,b)]"), "reduce_scatter a+b");
  // One after the other, what the first cut pads does not travel.
  EXPECT_EQ(stepsOf("[(5: a,b)]", "[5]"), "all_gather b, all_gather a");
}

// Segments that nest their axes in different orders give them up together.
TEST_F(ReshardPlanTest, AxesNestedInDifferentOrders) {
  EXPECT_EQ(stepsOf("[(4: a,b)+(8: b,a)]", "[12]"), "all_gather a+b");
  EXPECT_EQ(stepsOf("[12]", "[(4: a,b)+(8: b,a)]"), "slice a+b");
}

TEST_F(ReshardPlanTest, NothingToDo) {
  EXPECT_EQ(stepsOf("[(8: a)] partial sum(b)", "[(8: a)] partial sum(b)"), "");
  EXPECT_EQ(stepsOf("[(8: a)]", "[(2: a)(4)]"), "");
}

// No device stands along a sequential axis, and one of one device cuts nothing.
TEST_F(ReshardPlanTest, IdleAxes) {
  EXPECT_EQ(stepsOf("[(8: micro)] partial sum(one)", "[8]"), "");
  EXPECT_EQ(stepsOf("[(2: micro)(4: a)]", "[8]"), "all_gather a");
}

// Latency: neighbours are one collective; bytes: a slow link is passed alone.
TEST_F(ReshardPlanTest, WidensWhereThatIsCheaper) {
  EXPECT_EQ(stepsOf("[(800: a,b)]", "[800]"), "all_gather a+b");
  Machine machine = makeMachine();
  LinkLevel &host = machine.topology.levels.front();
  host.size = 2;
  LinkLevel network = host;
  network.bytesPerSecond = 1e6;
  machine.topology.levels.push_back(network);
  meshPrices = getMeshPrices(machine, mesh);
  EXPECT_EQ(stepsOf("[(800: a)(800: b)]", "[640000]"), "all_gather a, all_gather b");
}

TEST_F(ReshardPlanTest, Bytes) {
  auto bytes = [&](llvm::StringRef from, llvm::StringRef to) {
    return solve(problemOf(from, to)).bytes;
  };
  EXPECT_EQ(bytes("[8] partial sum(a)", "[8]"), 32);
  EXPECT_EQ(bytes("[8] partial sum(a)", "[(8: a)]"), 16);
  EXPECT_EQ(bytes("[(8: a)]", "[8]"), 16);
  EXPECT_EQ(bytes("[(8: a)], [4]", "[8], [(4: a)]"), 32);
  EXPECT_EQ(bytes("[8]", "[(8: a)]"), 0);
}

TEST_F(ReshardPlanTest, RefusesUnsoundProblems) {
  EXPECT_EQ(text(problemOf("[(8: x)]", "[8]").check()),
            "from: dimension 0 is cut by axis 'x', which the mesh lacks");
  EXPECT_EQ(text(problemOf("[8]", "[4]").check()),
            "to: layout of dimension 0 has extent 4 but the shape has 8");
  EXPECT_EQ(text(problemOf("[8]", "[8] partial max(a)").check()),
            "[8] is to become partial max(a)");
  ReshardProblem empty{parse("[8]"), parse("[8]"), mesh, meshPrices, 0};
  EXPECT_EQ(text(empty.check()), "elements have 0 bytes");
  EXPECT_EQ(text(planReshard(empty).takeError()), "elements have 0 bytes");
}

/// What verify() says of `plan` after `change`.
template <typename Change>
std::string refusal(ReshardPlan plan, const ReshardProblem &problem, Change change) {
  change(plan);
  return text(plan.verify(problem));
}

TEST_F(ReshardPlanTest, VerifyRefusesWrongSteps) {
  ReshardProblem problem = problemOf("[(8: a)], [4]", "[8], [(4: a)]");
  ReshardPlan plan = solve(problem);
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.start = parse("[8], [4]"); }),
            "begins with [8], [4], not [(8: a)], [4]");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps.clear(); }),
            "ends with [(8: a)], [4], not [8], [(4: a)]");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].kind = ReshardKind::slice; }),
            "step 0 (slice over a): index 4 of dimension 0 comes from nowhere");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].axes = {"b"}; }),
            "step 0 (all_to_all over b): index 4 of dimension 0 comes from nowhere");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].axes = {"micro"}; }),
            "step 0 (all_to_all over micro): no device stands along axis 'micro'");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].axes = {"a", "a"}; }),
            "step 0 (all_to_all over a,a): axis 'a' is listed twice");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].after = parse("[8], [8]"); }),
            "step 0 (all_to_all over a): layout of dimension 1 has extent 8 but the shape has 4");
  EXPECT_EQ(
      refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].kind = ReshardKind::reduceScatter; }),
      "step 0 (reduce_scatter over a): the value is not partial over 'a'");
  EXPECT_NE(refusal(plan, problem, [](ReshardPlan &p) { p.seconds *= 2; }), "");
  EXPECT_NE(refusal(plan, problem, [](ReshardPlan &p) { p.bytes += 1; }), "");
}

TEST_F(ReshardPlanTest, VerifyRefusesWrongReductions) {
  ReshardProblem problem = problemOf("[8] partial sum(a,b)", "[(8: a)] partial sum(b)");
  ReshardPlan plan = solve(problem);
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].reduction = Reduction::max; }),
            "step 0 (reduce_scatter over a): the value is not partial over 'a'");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].kind = ReshardKind::slice; }),
            "step 0 (slice over a): the value is partial over 'a'");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].after.partial.clear(); }),
            "step 0 (reduce_scatter over a): leaves [(8: a)] of [8] partial sum(a,b)");
  EXPECT_EQ(
      refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].kind = ReshardKind::allReduce; }),
      "step 0 (all_reduce over a): changes dimension 0");
}

} // namespace
