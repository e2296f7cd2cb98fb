// The search of all offsets at once: sound, and complete as the repair's is.

#include "passes/Memory/WeightedSearch.h"
#include "passes/Memory/MemorySearch.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <random>

using namespace dpc;

namespace {

bool isSound(const std::vector<MemoryBlock> &blocks, const std::vector<int64_t> &offsets,
             int64_t target) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    const MemoryBlock &a = blocks[i];
    if (offsets[i] < 0 || offsets[i] + a.size > target || offsets[i] % a.alignment ||
        (a.fixedOffset && *a.fixedOffset != offsets[i]))
      return false;
    for (size_t j = 0; j < i; ++j)
      if (a.meets(blocks[j]) && offsets[i] < offsets[j] + blocks[j].size &&
          offsets[j] < offsets[i] + a.size)
        return false;
  }
  return true;
}

/// Two searches that share no rule find solutions to the same problems: few
/// sizes, so that many blocks are equal, with alignments and fixed blocks.
TEST(WeightedSearch, FindsWhatTheOtherSearchFinds) {
  std::mt19937 random(1);
  int found = 0, impossible = 0, unknown = 0;
  for (int trial = 0; trial < 1200; ++trial) {
    std::vector<MemoryBlock> blocks;
    int count = 2 + random() % 10, steps = 2 + random() % 7;
    for (int i = 0; i < count; ++i) {
      int64_t first = random() % steps;
      int64_t last = first + 1 + random() % (steps - first);
      int64_t alignment = trial % 2 ? int64_t(1) << random() % 3 : 1;
      blocks.push_back({int64_t(1 + random() % 5), alignment, first, last, std::nullopt});
    }
    if (trial % 3 == 0)
      blocks[0].fixedOffset = blocks[0].alignment * (random() % 3);
    int64_t load = maxLoad(blocks);
    for (int64_t target = load; target < load + 4; ++target) {
      int64_t budget = 100'000'000;
      bool isPossible = !searchOffsets(blocks, target, budget).empty();
      ASSERT_GE(budget, 0);
      int64_t left = 10'000'000;
      std::vector<int64_t> offsets = searchByWeights(blocks, target, left);
      if (left < 0) {
        ++unknown;
        continue;
      }
      ASSERT_EQ(!offsets.empty(), isPossible) << trial << " target " << target;
      ASSERT_TRUE(offsets.empty() || isSound(blocks, offsets, target)) << trial;
      ++(isPossible ? found : impossible);
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(impossible, 300);
  EXPECT_LT(unknown, 50);
  std::printf("%d found, %d impossible, %d unknown\n", found, impossible, unknown);
}

TEST(WeightedSearch, EndsWithItsBudget) {
  std::vector<MemoryBlock> blocks;
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    int64_t first = random() % 100;
    blocks.push_back(
        {int64_t(1 + random() % 1000), 1, first, first + 1 + int64_t(random() % 20), std::nullopt});
  }
  int64_t none = 0, some = 10'000'000, again = some;
  EXPECT_TRUE(searchByWeights(blocks, maxLoad(blocks), none).empty());
  EXPECT_LT(none, 0);
  int64_t target = 2 * maxLoad(blocks);
  std::vector<int64_t> offsets = searchByWeights(blocks, target, some);
  EXPECT_TRUE(isSound(blocks, offsets, target));
  EXPECT_EQ(offsets, searchByWeights(blocks, target, again));
  EXPECT_EQ(some, again);
}

} // namespace
