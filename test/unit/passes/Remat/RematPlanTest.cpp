// Segments of a forward pass: what is kept, and what is made again.

#include "passes/Remat/RematPlan.h"

#include <gtest/gtest.h>
#include <random>

using namespace dpc;

namespace {

/// `layers` times: an op that makes `inside` bytes for the backward pass, and one that makes
/// of them the `stream` bytes that the next layer reads.
RematProblem makeChain(int64_t layers, int64_t inside, int64_t stream) {
  RematProblem problem;
  problem.ops = 2 * layers;
  for (int64_t layer = 0; layer < layers; ++layer) {
    problem.values.push_back({2 * layer, 2 * layer + 1, inside, true});
    problem.values.push_back(
        {2 * layer + 1, std::min(2 * layer + 2, problem.ops - 1), stream, true});
  }
  return problem;
}

RematPlan plan(const RematProblem &problem) {
  llvm::Expected<RematPlan> plan = planSegments(problem);
  EXPECT_TRUE(bool(plan));
  llvm::Error error = plan->verify(problem);
  EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
  return *plan;
}

std::string refusal(llvm::Error error) { return llvm::toString(std::move(error)); }

TEST(RematPlan, KeepsTheStreamBetweenLayers) {
  // Four layers: as much inside one as they all keep, so a segment is a layer.
  const RematPlan made = plan(makeChain(4, 100, 10));
  EXPECT_EQ(made.cuts, (std::vector<int64_t>{2, 4, 6}));
  EXPECT_EQ(made.keptBytes, 30);
  EXPECT_EQ(made.segmentBytes, 110); // the last one's stream is not read on
}

TEST(RematPlan, SeveralLayersASegmentWhereTheyAreMany) {
  // k layers a segment take 10 * 100 / k + 110 k - 10: least at k = 3.
  const RematPlan made = plan(makeChain(100, 100, 10));
  EXPECT_LE(made.keptBytes + made.segmentBytes, 100 * 10 / 3 + 110 * 3);
  EXPECT_GE(made.cuts.size(), 24u);
  EXPECT_LE(made.cuts.size(), 50u);
}

TEST(RematPlan, NothingIsCutWhereItDoesNotHelp) {
  EXPECT_TRUE(plan(makeChain(1, 100, 10)).cuts.empty());
  // What crosses is more than what either side makes for the backward pass.
  EXPECT_TRUE(plan({2, {{0, 0, 1, true}, {0, 1, 1000, false}, {1, 1, 1, true}}}).cuts.empty());
  EXPECT_TRUE(plan(RematProblem{}).cuts.empty());
}

TEST(RematPlan, WhatIsReadLaterIsKeptOnce) {
  RematProblem problem = makeChain(4, 100, 10);
  problem.values.push_back({0, 7, 5, false}); // a mask that all layers read
  const RematPlan made = plan(problem);
  EXPECT_EQ(made.cuts.size(), 3u);
  EXPECT_EQ(made.keptBytes, 35);
}

TEST(RematPlan, RandomProblemsAreNoWorseThanWithoutCuts) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    auto pick = [&](int64_t count) { return int64_t(random() % count); };
    RematProblem problem;
    problem.ops = 1 + pick(40);
    int64_t all = 0;
    for (int64_t i = pick(60); i > 0; --i) {
      const int64_t maker = pick(problem.ops);
      problem.values.push_back(
          {maker, maker + pick(std::min<int64_t>(6, problem.ops - maker)), pick(50), pick(2) == 0});
      all += problem.values.back().isReadBackward ? problem.values.back().bytes : 0;
    }
    const RematPlan made = plan(problem);
    EXPECT_LE(made.keptBytes + made.segmentBytes, all) << "seed " << seed;
  }
}

TEST(RematPlan, UnsoundProblemsAndPlansAreRefused) {
  RematProblem problem = makeChain(2, 100, 10);
  problem.values[0].lastReader = 4;
  EXPECT_EQ(refusal(problem.check()), "value 0 lives from op 0 to op 4 of 4");
  problem.values[0] = {1, 0, 100, true};
  EXPECT_EQ(refusal(problem.check()), "value 0 is made by op 1 and read by op 0");
  problem.values[0] = {0, 1, -1, true};
  EXPECT_EQ(refusal(problem.check()), "value 0 has -1 bytes");
  problem = makeChain(2, 100, 10);
  RematPlan made = plan(problem);
  made.keptBytes += 1;
  EXPECT_EQ(refusal(made.verify(problem)),
            "the plan says 11 bytes kept and 110 a segment, the values 10 and 110");
  made.cuts = {4};
  EXPECT_EQ(refusal(made.verify(problem)), "cut 0 is at op 4 of 4");
  made.cuts = {2, 2};
  EXPECT_EQ(refusal(made.verify(problem)), "cut 1 is at op 2, the one before at 2");
}

} // namespace
