// Memory plans: MiniMalloc's public problems, which have hardly a byte to spare.

#include "test/unit/passes/Memory/SolvedPlan.h"

#include <cstdio>
#include <ctime>
#include <fstream>

using namespace dpc;
using namespace dpc::test;

namespace {

constexpr int64_t capacity = 1048576;

/// Reads lines of `id,lower,upper,size`, upper exclusive, after a header.
MemoryProblem readProblem(const std::string &path) {
  MemoryProblem problem;
  problem.regions[0].name = "arena";
  problem.regions[0].capacity = capacity;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "id,lower,upper,size") << path;
  while (std::getline(file, line)) {
    long long lower, upper, size;
    if (std::sscanf(line.c_str(), "%*[^,],%lld,%lld,%lld", &lower, &upper, &size) != 3) {
      ADD_FAILURE() << path << ": " << line;
      continue;
    }
    LiveBuffer buffer;
    buffer.size = size;
    buffer.alignment = 1;
    buffer.firstUse = lower;
    buffer.lastUse = upper;
    problem.buffers.push_back(buffer);
  }
  return problem;
}

class MemoryPlanMiniMalloc : public testing::TestWithParam<char> {};

TEST_P(MemoryPlanMiniMalloc, FitsItsCapacity) {
  MemoryProblem problem =
      readProblem(std::string(DPC_MINIMALLOC) + "/" + GetParam() + ".1048576.csv");
  ASSERT_GT(problem.buffers.size(), 100u);
  MemoryPlanOptions options;
  options.searchBudget = 3'000'000'000;
  std::clock_t start = std::clock(); // processor time: other jobs do not count
  MemoryPlan plan = solve(problem, options);
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_EQ(plan.offsets.size(), problem.buffers.size());

  // Every pair, by nothing that the planner or verify() uses.
  int64_t peak = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const LiveBuffer &a = problem.buffers[i];
    ASSERT_GE(plan.offsets[i], 0);
    peak = std::max(peak, plan.offsets[i] + a.size);
    for (size_t j = 0; j < i; ++j) {
      const LiveBuffer &b = problem.buffers[j];
      bool together = a.firstUse < b.lastUse && b.firstUse < a.lastUse;
      bool apart = plan.offsets[i] + a.size <= plan.offsets[j] ||
                   plan.offsets[j] + b.size <= plan.offsets[i];
      ASSERT_TRUE(!together || apart) << i << " and " << j;
    }
  }
  EXPECT_LE(peak, capacity);
  EXPECT_EQ(peak, plan.regions[0].peak);
  std::printf("%c: %zu buffers in %.2f s, load %lld, first fit %lld, peak %lld\n", GetParam(),
              problem.buffers.size(), seconds, static_cast<long long>(plan.regions[0].lowerBound),
              static_cast<long long>(plan.regions[0].firstFitPeak), static_cast<long long>(peak));
#ifdef NDEBUG
  EXPECT_LT(seconds, 60);
#endif
}

INSTANTIATE_TEST_SUITE_P(Challenging, MemoryPlanMiniMalloc, testing::Range('A', char('K' + 1)),
                         [](const testing::TestParamInfo<char> &info) {
                           return std::string(1, info.param);
                         });

} // namespace
