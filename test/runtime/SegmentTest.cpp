// What the ranks of one host know of each other.
#include "runtime/src/comm/local/Segment.h"
#include "test/runtime/ForkRanks.h"

#include <gtest/gtest.h>

using namespace dpc::test;

namespace {

/// The cores that this process may run on.
std::vector<int> coresHere() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set))
        cores.push_back(core);
  return cores;
}

/// Two ranks, each bound to one core, count `expected` cores together.
void expectCores(const std::vector<int> &coreOfRank, uint32_t expected) {
  TemporaryDirectory directory;
  auto results = forkRanks(2, [&](uint32_t rank, RankReport &report) {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(coreOfRank[rank], &own);
    if (sched_setaffinity(0, sizeof own, &own) != 0)
      return 8;
    WorldOptions world(rank, 2, "file://" + directory.path, 4096);
    dpc::Lobby lobby;
    dpc::local::Segment segment;
    if (int code = lobby.open(world.options, "local"))
      return code;
    if (int code = segment.open(world.options, lobby, dpc::Hosts(2, 0)))
      return code;
    std::snprintf(report.message, sizeof report.message, "%u cores", segment.usableCores());
    return segment.usableCores() == expected ? 0 : 9;
  });
  for (const RankResult &result : results)
    EXPECT_EQ(result.exitCode, 0) << result.message;
}

// A rank bound to a core of its own sees one core, and does not share it.
TEST(Segment, BoundRanksCountTheirCoresTogether) {
  std::vector<int> cores = coresHere();
  if (cores.size() < 2)
    GTEST_SKIP() << "needs two cores";
  expectCores({cores[0], cores[1]}, 2);
}

TEST(Segment, RanksBoundToOneCoreShareIt) {
  std::vector<int> cores = coresHere();
  ASSERT_FALSE(cores.empty());
  expectCores({cores[0], cores[0]}, 1);
}

} // namespace
