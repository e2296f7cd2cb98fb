// Minimum cuts against all cuts of small graphs.

#include "planning/MinimumCut.h"

#include <gtest/gtest.h>
#include <random>

using namespace dpc;

namespace {

TEST(MinimumCut, CutsWhereItIsCheapest) {
  MinimumCut cut;
  const int64_t a = cut.addNode(), b = cut.addNode();
  cut.addEdge(MinimumCut::source, a, 5);
  cut.addEdge(a, b, 3);
  cut.addEdge(b, MinimumCut::sink, 4);
  EXPECT_EQ(cut.run(), 3);
  EXPECT_TRUE(cut.isOnSourceSide(a));
  EXPECT_FALSE(cut.isOnSourceSide(b));
}

TEST(MinimumCut, OfEqualCutsTheNearestToTheSource) {
  MinimumCut cut;
  const int64_t a = cut.addNode();
  cut.addEdge(MinimumCut::source, a, 3);
  cut.addEdge(a, MinimumCut::sink, 3);
  EXPECT_EQ(cut.run(), 3);
  EXPECT_FALSE(cut.isOnSourceSide(a));
}

TEST(MinimumCut, SaysWhereThereIsNone) {
  MinimumCut cut;
  const int64_t a = cut.addNode();
  cut.addEdge(MinimumCut::source, a, MinimumCut::kNever);
  cut.addEdge(a, MinimumCut::sink, MinimumCut::kNever);
  EXPECT_GE(cut.run(), MinimumCut::kNever);
}

TEST(MinimumCut, RandomGraphsAgainstAllCuts) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    auto pick = [&](int64_t count) { return int64_t(random() % count); };
    const int64_t nodes = 3 + pick(6);
    MinimumCut cut;
    while (cut.addNode() + 1 < nodes) {
    }
    std::vector<std::vector<int64_t>> capacity(nodes, std::vector<int64_t>(nodes));
    for (int64_t i = pick(20); i > 0; --i) {
      const int64_t from = pick(nodes), to = pick(nodes), own = pick(10);
      if (from == to)
        continue;
      capacity[from][to] += own;
      cut.addEdge(from, to, own);
    }
    // Of the nodes as bits, those of the source's side.
    auto costOf = [&](uint32_t side) {
      int64_t cost = 0;
      for (int64_t from = 0; from < nodes; ++from)
        for (int64_t to = 0; to < nodes; ++to)
          if ((side >> from & 1) && !(side >> to & 1))
            cost += capacity[from][to];
      return cost;
    };
    int64_t best = costOf(1);
    for (uint32_t side = 0; side < (1u << nodes); ++side)
      if ((side & 1) && !(side & 2))
        best = std::min(best, costOf(side));
    EXPECT_EQ(cut.run(), best) << "seed " << seed;
    uint32_t found = 0;
    for (int64_t node = 0; node < nodes; ++node)
      found |= uint32_t(cut.isOnSourceSide(node)) << node;
    EXPECT_EQ(costOf(found), best) << "seed " << seed;
  }
}

} // namespace
