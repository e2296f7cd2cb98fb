// What of a forward pass is kept, and what is made again, for which time.

#include "passes/Remat/RematPlan.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace dpc;

namespace {

/// `layers` times: an op that makes `inside` bytes of the stream, and one that makes of them
/// the `stream` bytes that the next layer reads. The backward pass reads all, last first.
RematProblem makeChain(int64_t layers, int64_t inside, int64_t stream) {
  RematProblem problem;
  problem.backwardBytes.assign(2 * layers, 0);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const int64_t back = 2 * (layers - 1 - layer);
    RematOp first, second;
    if (layer)
      first.reads = {2 * layer - 1};
    second.reads = {2 * layer};
    problem.ops.insert(problem.ops.end(), {first, second});
    problem.values.push_back({2 * layer, inside, back + 1, back + 1});
    problem.values.push_back({2 * layer + 1, stream, back, back});
  }
  return problem;
}

RematPlan plan(const RematProblem &problem) {
  llvm::Expected<RematPlan> plan = planRemat(problem);
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
  EXPECT_EQ(made.keptBytes, 40);
  EXPECT_EQ(made.plainBytes, 440);
  EXPECT_EQ(made.peakBytes, 130);
  EXPECT_EQ(made.kept, (std::vector<bool>{false, true, false, true, false, true, false, true}));
  EXPECT_EQ(made.repeated, (std::vector<bool>{true, false, true, false, true, false, true, false}));
}

TEST(RematPlan, SeveralLayersASegmentWhereTheyAreMany) {
  const RematPlan made = plan(makeChain(100, 100, 10));
  EXPECT_LE(made.peakBytes, 1000);
  EXPECT_GE(made.cuts.size(), 15u);
  EXPECT_LE(made.cuts.size(), 60u);
}

TEST(RematPlan, ChainsOfEqualValuesAreCut) {
  // No place has fewer bytes than the next: about the root of 200 values is kept, and as many
  // are made again at a time.
  const RematPlan made = plan(makeChain(100, 10, 10));
  EXPECT_LE(made.peakBytes, 400);
}

TEST(RematPlan, AllOfALongProgramIsCut) {
  // More layers than places that are looked at: of 2,000 values a hundred would do.
  for (int64_t inside : {10, 100}) {
    const RematPlan made = plan(makeChain(1000, inside, 10));
    EXPECT_LE(made.keptBytes, 1500);
    EXPECT_LE(made.peakBytes, inside == 10 ? 2000 : 4000);
    EXPECT_GT(made.cuts.back(), 1900);
  }
}

TEST(RematPlan, NothingIsRepeatedWhereItDoesNotHelp) {
  // The backward pass reads all of it at once.
  RematProblem problem = makeChain(1, 100, 10);
  problem.values[0].firstBackward = problem.values[0].lastBackward = 0;
  EXPECT_EQ(plan(problem).countRepeated(problem), 0);
  EXPECT_TRUE(plan(RematProblem{}).cuts.empty());
}

/// A small value of which a cheap op makes a large one, an expensive op another; the
/// backward pass reads both.
RematProblem makeCheapAndDear() {
  RematProblem problem;
  problem.backwardBytes.assign(4, 0);
  problem.ops = {{5, {}}, {1, {0}}, {10, {0}}, {1, {1, 2}}};
  problem.values = {{0, 10, -1, -1}, {1, 100, 2, 2}, {2, 100, 1, 1}, {3, 30, 0, 0}};
  return problem;
}

TEST(RematPlan, BuysTheCheapestValue) {
  RematProblem problem = makeCheapAndDear();
  problem.savedBytes = 50;
  const RematPlan made = plan(problem);
  EXPECT_EQ(made.repeated, (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(made.kept, (std::vector<bool>{true, false, true, true}));
  EXPECT_EQ(made.plainBytes - made.peakBytes, 90);
}

TEST(RematPlan, BuysTheDearValueOnlyWhereMoreIsWanted) {
  RematProblem problem = makeCheapAndDear();
  problem.savedBytes = 91;
  EXPECT_EQ(plan(problem).repeated, (std::vector<bool>{false, true, true, false}));
}

TEST(RematPlan, WantsNothingAndRepeatsNothing) {
  RematProblem problem = makeCheapAndDear();
  problem.savedBytes = 0;
  EXPECT_EQ(plan(problem).countRepeated(problem), 0);
}

TEST(RematPlan, WhatIsFreeIsNeverKept) {
  RematProblem problem = makeCheapAndDear();
  problem.savedBytes = 0;
  problem.ops[1].seconds = 0;
  const RematPlan made = plan(problem);
  EXPECT_FALSE(made.kept[1]);
  EXPECT_TRUE(made.isMadeByReaders(problem, 1));
  EXPECT_EQ(made.countRepeated(problem), 0);
  // It takes no memory when it is made again, in its readers; what it is made of stays as
  // long as they need it.
  EXPECT_EQ(replayRemat(problem, made), (std::vector<int64_t>{140, 140, 110, 10, 0}));
}

TEST(RematPlan, WhatIsMadeOfWhatIsMadeAgainIsMadeOfThat) {
  RematProblem problem = makeCheapAndDear();
  problem.ops[1].seconds = 0;
  problem.asked = {0};
  const RematPlan made = plan(problem);
  EXPECT_FALSE(made.isMadeByReaders(problem, 1));
  EXPECT_TRUE(made.repeated[0]);
}

TEST(RematPlan, RepeatsWhatIsAskedForAlone) {
  RematProblem problem = makeCheapAndDear();
  problem.asked = {2};
  const RematPlan made = plan(problem);
  EXPECT_EQ(made.repeated, (std::vector<bool>{false, false, true, false}));
  // Where it is made again, the other one is still there.
  EXPECT_EQ(made.plainBytes - made.peakBytes, 20);
  // Nobody reads it: there is nothing to do.
  problem.asked = {0};
  EXPECT_EQ(plan(problem).countRepeated(problem), 0);
}

TEST(RematPlan, KeepsWhatCannotBeRepeated) {
  RematProblem problem = makeCheapAndDear();
  problem.savedBytes = 15;
  problem.ops[1].mayRepeat = false;
  EXPECT_EQ(plan(problem).repeated, (std::vector<bool>{false, false, true, false}));
}

TEST(RematPlan, CountsWhatTheBackwardPassMakes) {
  RematProblem problem = makeCheapAndDear();
  problem.savedBytes = 1;
  // The peak is where the value is made again: that does not help, the other one does.
  problem.backwardBytes = {0, 0, 1000, 0};
  EXPECT_EQ(plan(problem).plainBytes, 1100);
}

TEST(RematPlan, RandomProblemsAreNoWorseThanWithoutAndGetWhatTheyWant) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    auto pick = [&](int64_t count) { return int64_t(random() % count); };
    RematProblem problem;
    for (int64_t i = pick(30); i > 0; --i)
      problem.backwardBytes.push_back(pick(20));
    const int64_t readers = problem.backwardBytes.size();
    for (int64_t op = 0, ops = 1 + pick(40); op < ops; ++op) {
      RematOp &made = problem.ops.emplace_back();
      made.seconds = pick(4) ? double(pick(100)) : 0;
      made.mayRepeat = pick(10) > 0;
      for (int64_t i = pick(3); i > 0 && !problem.values.empty(); --i) {
        const int64_t read =
            std::max<int64_t>(0, int64_t(problem.values.size()) - 1 - pick(pick(6) ? 4 : 40));
        if (std::find(made.reads.begin(), made.reads.end(), read) == made.reads.end() &&
            problem.values[read].maker < op)
          made.reads.push_back(read);
      }
      for (int64_t i = 1 + pick(2); i > 0; --i) {
        RematValue value{op, pick(50)};
        if (readers && pick(2)) {
          value.firstBackward = pick(readers);
          value.lastBackward = value.firstBackward + pick(readers - value.firstBackward);
        }
        problem.values.push_back(value);
      }
    }
    const RematPlan full = plan(problem);
    for (int64_t wanted : {0, 10, 50, 200}) {
      problem.savedBytes = wanted;
      const RematPlan made = plan(problem);
      const int64_t saved = made.plainBytes - made.peakBytes;
      EXPECT_TRUE(saved >= wanted || saved >= full.plainBytes - full.peakBytes) << seed;
    }
  }
}

TEST(RematPlan, UnsoundProblemsAreRefused) {
  RematProblem problem = makeChain(2, 100, 10);
  problem.ops[1].reads = {4};
  EXPECT_EQ(refusal(problem.check()), "op 1 reads value 4 of 4");
  problem.ops[1].reads = {1};
  EXPECT_EQ(refusal(problem.check()), "op 1 reads value 1, which op 1 makes");
  problem = makeChain(2, 100, 10);
  problem.values[0].bytes = -1;
  EXPECT_EQ(refusal(problem.check()), "value 0 has -1 bytes");
  problem.values[0] = {4, 1};
  EXPECT_EQ(refusal(problem.check()), "value 0 is made by op 4 of 4");
  problem.values[0] = {0, 1, 2, 4};
  EXPECT_EQ(refusal(problem.check()), "value 0 is read by ops 2 to 4 of 4 of the backward pass");
  problem = makeChain(2, 100, 10);
  problem.ops[2].seconds = -1;
  EXPECT_EQ(refusal(problem.check()), "op 2 takes -1.00 seconds");
  problem = makeChain(2, 100, 10);
  problem.asked = {7};
  EXPECT_EQ(refusal(problem.check()), "value 7 of 4 is asked for");
}

TEST(RematPlan, UnsoundPlansAreRefused) {
  const RematProblem problem = makeChain(2, 100, 10);
  RematPlan made;
  made.cuts = {2};
  made.kept = {false, true, true, true};
  made.repeated = {true, false, false, false};
  made.keptBytes = made.peakBytes = 120;
  ASSERT_EQ(refusal(made.verify(problem)), "");
  RematPlan broken = made;
  broken.keptBytes += 1;
  EXPECT_EQ(refusal(broken.verify(problem)),
            "the plan says 121 bytes kept and 120 at most, the values 120 and 120");
  broken = made;
  broken.cuts = {4};
  EXPECT_EQ(refusal(broken.verify(problem)), "cut 0 is at op 4 of 4");
  broken.cuts = {2, 2};
  EXPECT_EQ(refusal(broken.verify(problem)), "cut 1 is at op 2, the one before at 2");
  broken = made;
  broken.kept.pop_back();
  EXPECT_EQ(refusal(broken.verify(problem)), "4 values and 4 ops, but 3 and 4 decisions");
  broken = made;
  broken.repeated[0] = false;
  EXPECT_EQ(refusal(broken.verify(problem)),
            "the backward pass reads value 0, which is neither kept nor made again");
  broken = made;
  broken.repeated[1] = true;
  EXPECT_EQ(refusal(broken.verify(problem)),
            "op 1 is repeated, and what it makes is kept or read by nobody");
  // What an op of a later segment reads cannot be made again for it.
  broken = made;
  broken.repeated = {true, true, true, false};
  broken.kept = {false, false, false, true};
  EXPECT_EQ(refusal(broken.verify(problem)),
            "op 2 is repeated, but value 1, which it reads, is neither kept nor made again in its "
            "segment");
  RematProblem other = problem;
  other.ops[0].mayRepeat = false;
  EXPECT_EQ(refusal(made.verify(other)), "op 0 is repeated, and cannot be");
  other = problem;
  other.asked = {2};
  EXPECT_EQ(refusal(made.verify(other)), "value 2 is kept, and asked to be made again");
  other = problem;
  other.values[3].firstBackward = other.values[3].lastBackward = -1;
  EXPECT_EQ(refusal(made.verify(other)), "value 3 is kept, and nobody reads it");
}

} // namespace
