// How many gathered buckets are there at once.

#include "passes/Overlap/GatherWindow.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace dpc;

namespace {

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

GatherWindow solve(const GatherProblem &problem) {
  llvm::Expected<GatherWindow> window = planGathers(problem);
  if (!window) {
    ADD_FAILURE() << text(window.takeError());
    return {};
  }
  EXPECT_EQ(text(window->verify(problem)), "");
  return *window;
}

/// Layers that read a bucket of 100 bytes each, one task after the other.
GatherProblem makeLayers(int64_t count) {
  GatherProblem problem;
  for (int64_t layer = 0; layer < count; ++layer)
    problem.buckets.push_back({100, layer, layer});
  return problem;
}

TEST(GatherWindow, TwoBucketsBeyondTheOneInUse) {
  const GatherWindow window = solve(makeLayers(6));
  EXPECT_EQ(window.after, (std::vector<int64_t>{-1, -1, 0, 1, 2, 3}));
  // Task 1 computes with its own while 2 is there; 3 comes when it has run.
  EXPECT_EQ(window.peakBytes, 200);
}

TEST(GatherWindow, ABucketInUseForLongIsOneMore) {
  GatherProblem problem = makeLayers(6);
  for (GatheredBucket &bucket : problem.buckets) {
    bucket.firstReader *= 10;
    bucket.lastReader = bucket.firstReader + 9;
  }
  const GatherWindow window = solve(problem);
  EXPECT_EQ(window.after, (std::vector<int64_t>{-1, -1, 0, 10, 20, 30}));
  EXPECT_EQ(window.peakBytes, 300);
}

TEST(GatherWindow, FewBucketsAreGatheredFromTheStart) {
  EXPECT_EQ(solve(makeLayers(2)).after, (std::vector<int64_t>{-1, -1}));
  EXPECT_TRUE(solve(GatherProblem()).after.empty());
}

TEST(GatherWindow, OneAheadIsLess) {
  GatherProblem problem = makeLayers(6);
  problem.ahead = 1;
  EXPECT_EQ(solve(problem).after, (std::vector<int64_t>{-1, 0, 1, 2, 3, 4}));
  EXPECT_EQ(solve(problem).peakBytes, 100);
}

TEST(GatherWindow, OrderIsThatOfTheFirstReaders) {
  GatherProblem problem = makeLayers(4);
  std::reverse(problem.buckets.begin(), problem.buckets.end());
  EXPECT_EQ(solve(problem).after, (std::vector<int64_t>{1, 0, -1, -1}));
}

TEST(GatherWindow, WhatOneTaskReadsComesTogether) {
  GatherProblem problem = makeLayers(6);
  for (int64_t index : {2, 3, 4, 5})
    problem.buckets[index].firstReader = problem.buckets[index].lastReader = 2;
  const GatherWindow window = solve(problem);
  EXPECT_EQ(window.after, (std::vector<int64_t>{-1, -1, 0, 1, 1, 1}));
}

TEST(GatherWindow, EarlierThanTheWindowIsRefused) {
  const GatherProblem problem = makeLayers(6);
  GatherWindow window = solve(problem);
  window.after[3] = 0;
  EXPECT_EQ(text(window.verify(problem)),
            "3 buckets that nobody has read are there after task 0, 2 may be");
  window = solve(problem);
  window.after.assign(6, -1);
  window.peakBytes = 600;
  EXPECT_EQ(text(window.verify(problem)),
            "6 buckets that nobody has read are there after task -1, 2 may be");
}

TEST(GatherWindow, UnsoundAnswersAndProblemsAreRefused) {
  GatherProblem problem = makeLayers(3);
  GatherWindow window = solve(problem);
  window.peakBytes = 1;
  EXPECT_EQ(text(window.verify(problem)), "the window records 1 bytes at once, it has 200");
  window = solve(problem);
  window.after[2] = 2;
  EXPECT_EQ(text(window.verify(problem)), "bucket 2 is gathered after task 2, and read by task 2");
  window.after.pop_back();
  EXPECT_EQ(text(window.verify(problem)), "3 buckets, of which 2 are gathered");
  problem.ahead = 0;
  EXPECT_EQ(text(problem.check()), "0 buckets may be gathered ahead");
  problem = makeLayers(3);
  problem.buckets[1].lastReader = 0;
  EXPECT_EQ(text(problem.check()), "bucket 1 is read by tasks 1 to 0");
  problem = makeLayers(3);
  problem.buckets[1].bytes = -1;
  EXPECT_EQ(text(problem.check()), "bucket 1 has -1 bytes");
}

TEST(GatherWindow, RandomProblemsKeepTheWindow) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    auto pick = [&](int64_t count) { return int64_t(random() % count); };
    GatherProblem problem;
    problem.ahead = 1 + pick(3);
    for (int64_t i = pick(20); i > 0; --i) {
      const int64_t first = pick(30);
      problem.buckets.push_back({pick(100), first, first + pick(5)});
    }
    solve(problem);
  }
}

} // namespace
