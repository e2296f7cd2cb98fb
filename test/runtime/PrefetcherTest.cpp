// The thread that reads the next batch: what it serves equals what the loader
// loads, and a bad batch fails when its turn comes.
#include "runtime/src/data/Prefetcher.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

using namespace dpc;

extern "C" const dpc_program_t linear_2;

namespace {

/// Labels 0, 1, 2, ..., of which number `bad` is out of the program's bounds.
struct Labels {
  explicit Labels(int64_t count, int64_t bad = -1) {
    for (int64_t i = 0; i < count; ++i)
      values.push_back(i == bad ? 5000 : i);
    array = {"", DPC_I64, 1, {count}, values.data()};
  }
  std::vector<int64_t> values;
  dpc_array_t array;
};

constexpr uint32_t kX = 0, kLabel = 1;

/// Gives the input `x` 24 samples, whose values do not matter here.
void bindX(InputLoader &loader) {
  static const double values[24 * 3] = {};
  const dpc_array_t array = {"", DPC_F64, 2, {24, 3}, values};
  ASSERT_EQ(loader.bind(kX, array, "x"), DPC_OK) << dpc_last_error();
}

/// Rows [batch * 8, batch * 8 + 8) backwards.
void select(InputLoader &loader, uint64_t batch) {
  for (uint64_t b = 0; b < loader.rows().size(); ++b)
    loader.rows()[b] = batch * 8 + 7 - b;
}

TEST(Prefetcher, ServesWhatTheLoaderLoads) {
  const Labels labels(24);
  for (uint32_t rank : {0, 1}) {
    InputLoader loader(linear_2, rank);
    Prefetcher prefetcher(linear_2, rank);
    ASSERT_EQ(loader.bind(kLabel, labels.array, "labels"), DPC_OK);
    prefetcher.next().setBindings(kLabel, loader.allBindings(kLabel));
    bindX(prefetcher.next());
    select(prefetcher.next(), 0);
    prefetcher.begin();
    for (uint64_t batch = 0; batch < 3; ++batch) {
      ASSERT_EQ(prefetcher.finish(), DPC_OK) << dpc_last_error();
      select(loader, batch);
      for (uint64_t micro = 0; micro < 2; ++micro) {
        double want[2];
        ASSERT_EQ(prefetcher.bytes(kLabel), sizeof want);
        ASSERT_EQ(loader.load(kLabel, micro, reinterpret_cast<char *>(want)), DPC_OK);
        EXPECT_EQ(std::memcmp(prefetcher.values(kLabel, micro), want, sizeof want), 0)
            << "rank " << rank << " batch " << batch << " micro " << micro;
      }
      select(prefetcher.next(), batch + 1);
      prefetcher.hasNext = batch + 1 < 3;
      prefetcher.begin();
    }
    // Nothing is read past the end, and nothing is waited for.
    EXPECT_EQ(prefetcher.finish(), DPC_OK);
  }
}

// With several slots, a batch stays until its slot is filled again.
TEST(Prefetcher, KeepsABatchInItsSlot) {
  const Labels labels(24);
  Prefetcher prefetcher(linear_2, 0);
  std::vector<std::vector<char>> memory;
  ASSERT_EQ(prefetcher.useSlots(3,
                                [&](uint64_t bytes, char **out) {
                                  *out = memory.emplace_back(bytes).data();
                                  return dpc_status_t(DPC_OK);
                                }),
            DPC_OK);
  ASSERT_EQ(prefetcher.next().bind(kLabel, labels.array, "labels"), DPC_OK);
  bindX(prefetcher.next());
  std::vector<std::pair<const char *, std::string>> batches; // where they are, and what they were
  for (uint64_t batch = 0; batch < 3; ++batch) {
    select(prefetcher.next(), batch);
    EXPECT_EQ(prefetcher.nextSlot(), (batch + 1) % 3);
    prefetcher.begin();
    ASSERT_EQ(prefetcher.finish(), DPC_OK) << dpc_last_error();
    EXPECT_EQ(prefetcher.slot(), (batch + 1) % 3);
    const char *values = prefetcher.values(kLabel, 1);
    batches.emplace_back(values, std::string(values, prefetcher.bytes(kLabel)));
  }
  for (size_t batch = 0; batch < 3; ++batch) {
    const auto &[values, were] = batches[batch];
    EXPECT_EQ(std::string(values, were.size()), were);
    EXPECT_NE(were, batches[(batch + 1) % 3].second);
  }
}

// A rank of another stage has no part of some inputs, and needs no data there.
TEST(Prefetcher, LeavesInputsOfWhichTheRankHoldsNothing) {
  const Labels labels(24);
  std::vector<dpc_input_t> inputs(linear_2.inputs, linear_2.inputs + linear_2.input_count);
  static const dpc_placement_t nothing = {};
  inputs[kX].placements = &nothing;
  dpc_program_t program = linear_2;
  program.inputs = inputs.data();
  Prefetcher prefetcher(program, 0);
  ASSERT_EQ(prefetcher.next().bind(kLabel, labels.array, "labels"), DPC_OK);
  prefetcher.begin();
  EXPECT_EQ(prefetcher.finish(), DPC_OK) << dpc_last_error();
  EXPECT_EQ(prefetcher.values(kX, 0), nullptr);
  EXPECT_NE(prefetcher.values(kLabel, 0), nullptr);
}

TEST(Prefetcher, ReportsABadBatchWhenItsTurnComes) {
  const Labels labels(24, 17);
  Prefetcher prefetcher(linear_2, 0);
  ASSERT_EQ(prefetcher.next().bind(kLabel, labels.array, "labels"), DPC_OK);
  bindX(prefetcher.next());
  for (uint64_t batch = 0; batch < 2; ++batch) {
    select(prefetcher.next(), batch);
    prefetcher.begin();
    EXPECT_EQ(prefetcher.finish(), DPC_OK) << dpc_last_error();
  }
  // Rank 0 holds the first half of each microbatch: rows 23, 22, 19, 18 and
  // then, in the next order, the bad one.
  select(prefetcher.next(), 2);
  std::swap(prefetcher.next().rows()[0], prefetcher.next().rows()[6]);
  prefetcher.begin();
  EXPECT_EQ(prefetcher.finish(), DPC_INVALID);
  EXPECT_NE(std::string(dpc_last_error()).find("sample 17"), std::string::npos) << dpc_last_error();
}

} // namespace
