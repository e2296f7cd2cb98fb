// Cuts of forward passes into chunks, against all cuts of small graphs.

#include "planning/StageCut.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <tuple>

using namespace dpc;

namespace {

/// A chain of ops in which op i computes a value of `bytes` bytes that op i + 1 reads.
StageCutProblem chain(const std::vector<double> &seconds, unsigned chunks, int64_t bytes = 1) {
  StageCutProblem problem;
  for (double time : seconds)
    problem.ops.push_back({time, 0});
  for (unsigned op = 0; op + 1 < seconds.size(); ++op)
    problem.values.push_back({op, {op + 1}, bytes});
  problem.chunks = chunks;
  problem.inFlight.assign(chunks, 1);
  return problem;
}

std::string messageOf(llvm::Error error) { return llvm::toString(std::move(error)); }

TEST(StageCut, BalancesTheTimesOfChunks) {
  llvm::Expected<StageCut> cut = cutStages(chain({1, 1, 1, 3, 1, 1}, 2));
  ASSERT_TRUE(bool(cut));
  EXPECT_EQ(cut->starts, (std::vector<unsigned>{0, 3}));
}

TEST(StageCut, SendsFewBytesAmongEquallyFastCuts) {
  // The op of 4 seconds is the slowest chunk wherever the other two cuts are.
  StageCutProblem problem = chain({1, 1, 1, 4, 1}, 3, 8);
  problem.values[1].bytes = 2;
  llvm::Expected<StageCut> cut = cutStages(problem);
  ASSERT_TRUE(bool(cut));
  EXPECT_EQ(cut->starts, (std::vector<unsigned>{0, 3, 4}));
  problem.values[3].bytes = 100;
  problem.ops[4].seconds = 0;
  cut = cutStages(problem);
  ASSERT_TRUE(bool(cut));
  EXPECT_EQ(cut->starts, (std::vector<unsigned>{0, 2, 3}));
}

TEST(StageCut, CountsTheTimeOfMessages) {
  StageCutProblem problem = chain({2, 2, 2, 2}, 2, 10);
  problem.values[0].bytes = 0;
  problem.secondsPerByte = 1;
  llvm::Expected<StageCut> cut = cutStages(problem);
  ASSERT_TRUE(bool(cut));
  EXPECT_EQ(cut->starts, (std::vector<unsigned>{0, 1}));
}

TEST(StageCut, ReceivesAValueOncePerChunk) {
  StageCutProblem problem = chain({1, 1, 1, 1}, 2, 0);
  problem.values.push_back({0, {2, 3}, 5});
  const StageCut cut{{0, 2}};
  const std::vector<ChunkPrice> prices = cut.priceChunks(problem);
  ASSERT_EQ(prices.size(), 2u);
  EXPECT_EQ(prices[0].receivedBytes, 0);
  EXPECT_EQ(prices[1].receivedBytes, 5);
}

TEST(StageCut, HoldsATiedStateInEachChunkThatReadsIt) {
  StageCutProblem problem = chain({1, 1, 1, 1}, 2, 0);
  problem.states.push_back({{0, 1, 3}, 7});
  problem.ops[2].keptBytes = 3;
  problem.inFlight = {2, 4};
  const std::vector<ChunkPrice> prices = StageCut{{0, 2}}.priceChunks(problem);
  EXPECT_EQ(prices[0].heldBytes, 7);
  EXPECT_EQ(prices[1].heldBytes, 7 + 4 * 3);
}

TEST(StageCut, KeepsToTheCapacity) {
  StageCutProblem problem = chain({1, 1, 1, 1}, 2);
  for (unsigned op : {0u, 1u})
    problem.states.push_back({{op}, 10});
  problem.capacity = 10;
  llvm::Expected<StageCut> cut = cutStages(problem);
  ASSERT_TRUE(bool(cut));
  EXPECT_EQ(cut->starts, (std::vector<unsigned>{0, 1}));
  problem.capacity = 9;
  cut = cutStages(problem);
  ASSERT_FALSE(bool(cut));
  EXPECT_EQ(messageOf(cut.takeError()), "no cut into 2 chunks fits: a chunk may hold 9 bytes");
}

TEST(StageCut, RefusesProblemsThatAreNotSound) {
  auto refused = [](auto change) {
    StageCutProblem problem = chain({1, 1, 1}, 2);
    change(problem);
    llvm::Expected<StageCut> cut = cutStages(problem);
    EXPECT_FALSE(bool(cut));
    return cut ? "" : messageOf(cut.takeError());
  };
  EXPECT_EQ(refused([](auto &p) { p.chunks = 4, p.inFlight.assign(4, 1); }),
            "a forward pass of 3 ops cannot be cut into 4 chunks");
  EXPECT_EQ(refused([](auto &p) { p.chunks = 0, p.inFlight.clear(); }), "a cut into 0 chunks");
  EXPECT_EQ(refused([](auto &p) { p.inFlight.clear(); }),
            "2 chunks, but microbatches in flight for 0");
  EXPECT_EQ(refused([](auto &p) { p.values[1].readers = {1}; }),
            "op 1 reads value 1, but only ops 2 to 2 may");
  EXPECT_EQ(refused([](auto &p) { p.values[0].readers = {2, 1}; }),
            "value 0 lists reader 1 after reader 2");
  EXPECT_EQ(refused([](auto &p) { p.values[0].op = 3; }),
            "value 0 of 1 bytes is computed by op 3 of 3");
  EXPECT_EQ(refused([](auto &p) { p.states.push_back({{3}, 1}); }),
            "op 3 reads state 0, but only ops 0 to 2 may");
  EXPECT_EQ(refused([](auto &p) { p.ops[1].keptBytes = -1; }),
            "op 1 takes 1.00 seconds and keeps -1 bytes");
}

TEST(StageCut, VerifyFindsFaultyCuts) {
  StageCutProblem problem = chain({1, 1, 1}, 2);
  EXPECT_FALSE(bool((StageCut{{0, 1}}).verify(problem)));
  EXPECT_EQ(messageOf(StageCut{{0}}.verify(problem)), "a cut into 1 chunks, not 2");
  EXPECT_EQ(messageOf(StageCut{{1, 2}}.verify(problem)), "chunk 0 has the ops from 1 to before 2");
  EXPECT_EQ(messageOf(StageCut{{0, 3}}.verify(problem)), "chunk 1 has the ops from 3 to before 3");
  problem.states.push_back({{0}, 5});
  problem.capacity = 4;
  EXPECT_EQ(messageOf(StageCut{{0, 1}}.verify(problem)),
            "chunk 0 holds 5 bytes, more than the capacity 4");
}

/// The price of a chunk by its definition, without the increments of the search.
ChunkPrice priceOf(const StageCutProblem &problem, unsigned chunk, unsigned start, unsigned end) {
  ChunkPrice price;
  auto isRead = [&](const std::vector<unsigned> &readers) {
    return std::any_of(readers.begin(), readers.end(),
                       [&](unsigned reader) { return reader >= start && reader < end; });
  };
  for (unsigned op = start; op < end; ++op) {
    price.seconds += problem.ops[op].seconds;
    price.heldBytes += problem.ops[op].keptBytes * problem.inFlight[chunk];
  }
  for (const auto &value : problem.values)
    if (value.op < start && isRead(value.readers))
      price.receivedBytes += value.bytes;
  for (const auto &state : problem.states)
    if (isRead(state.readers))
      price.heldBytes += state.bytes;
  price.seconds += price.receivedBytes * problem.secondsPerByte;
  return price;
}

TEST(StageCut, RandomGraphsAgainstAllCuts) {
  using Cost = std::tuple<double, int64_t, double>;
  unsigned impossible = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto pick = [&](int64_t count) { return int64_t(random() % count); };
    StageCutProblem problem;
    const unsigned ops = 1 + pick(12);
    // Small integers and quarters, so that sums are exact and ties are frequent.
    for (unsigned op = 0; op < ops; ++op)
      problem.ops.push_back({double(pick(6)), pick(4)});
    auto pickReaders = [&](unsigned first) {
      std::vector<unsigned> readers;
      for (unsigned op = first; op < ops; ++op)
        if (pick(3) == 0)
          readers.push_back(op);
      return readers;
    };
    for (unsigned op = 0; op < ops; ++op)
      for (int64_t values = pick(3); values > 0; --values)
        problem.values.push_back({op, pickReaders(op + 1), pick(5)});
    for (int64_t states = pick(5); states > 0; --states)
      problem.states.push_back({pickReaders(0), pick(9)});
    problem.chunks = 1 + pick(std::min(ops, 5u));
    for (unsigned chunk = 0; chunk < problem.chunks; ++chunk)
      problem.inFlight.push_back(pick(4));
    problem.secondsPerByte = pick(3) * 0.25;
    problem.capacity = pick(3) ? 0 : 5 + pick(30);

    const Cost none = {std::numeric_limits<double>::infinity(), 0, 0};
    Cost best = none;
    // The smallest capacity that some cut satisfies.
    int64_t least = std::numeric_limits<int64_t>::max();
    std::vector<unsigned> starts;
    std::function<void(unsigned, Cost, int64_t)> visit = [&](unsigned start, Cost cost,
                                                             int64_t held) {
      if (starts.size() == problem.chunks) {
        if (start < ops)
          return;
        least = std::min(least, held);
        if (problem.capacity == 0 || held <= problem.capacity)
          best = std::min(best, cost);
        return;
      }
      for (unsigned end = start + 1; end <= ops; ++end) {
        const ChunkPrice price = priceOf(problem, starts.size(), start, end);
        starts.push_back(start);
        visit(end,
              {std::max(std::get<0>(cost), price.seconds), std::get<1>(cost) + price.receivedBytes,
               std::get<2>(cost) + price.seconds * price.seconds},
              std::max(held, price.heldBytes));
        starts.pop_back();
      }
    };
    visit(0, {0, 0, 0}, 0);

    llvm::Expected<StageCut> cut = cutStages(problem);
    if (best == none) {
      ++impossible;
      EXPECT_FALSE(bool(cut));
      llvm::consumeError(cut.takeError());
      StageCutProblem relaxed = problem;
      cut = cutStagesWithin(relaxed);
      ASSERT_TRUE(bool(cut)) << messageOf(cut.takeError());
      EXPECT_FALSE(bool(cut->verify(relaxed)));
      EXPECT_GE(relaxed.capacity, least);
      EXPECT_LE(relaxed.capacity, least + least / 50);
      continue;
    }
    StageCutProblem same = problem;
    llvm::Expected<StageCut> within = cutStagesWithin(same);
    ASSERT_TRUE(bool(within)) << messageOf(within.takeError());
    EXPECT_EQ(same.capacity, problem.capacity);
    EXPECT_EQ(within->starts, cut->starts);
    ASSERT_TRUE(bool(cut)) << messageOf(cut.takeError());
    EXPECT_FALSE(bool(cut->verify(problem)));
    Cost found = {0, 0, 0};
    const std::vector<ChunkPrice> prices = cut->priceChunks(problem);
    for (size_t chunk = 0; chunk < prices.size(); ++chunk) {
      const unsigned end = chunk + 1 < prices.size() ? cut->starts[chunk + 1] : ops;
      const ChunkPrice own = priceOf(problem, chunk, cut->starts[chunk], end);
      EXPECT_EQ(prices[chunk].seconds, own.seconds);
      EXPECT_EQ(prices[chunk].receivedBytes, own.receivedBytes);
      EXPECT_EQ(prices[chunk].heldBytes, own.heldBytes);
      found = {std::max(std::get<0>(found), own.seconds), std::get<1>(found) + own.receivedBytes,
               std::get<2>(found) + own.seconds * own.seconds};
    }
    EXPECT_EQ(found, best);
  }
  // The capacity must matter in some of the cases, but not in most.
  EXPECT_GT(impossible, 20u);
  EXPECT_LT(impossible, 300u);
}

} // namespace
