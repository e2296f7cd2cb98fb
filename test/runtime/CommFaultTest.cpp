// A rank that dies, freezes, leaves or departs from the plan: every survivor
// gets DPC_PEER naming it, in time.
#include "dpc/action.h"
#include "test/runtime/ForkRanks.h"

#include <gtest/gtest.h>

using namespace dpc::test;

namespace {

constexpr uint32_t kVictim = 2;

int allReduce(dpc_comm_t *comm, uint64_t count, uint64_t buffer,
              uint32_t dtype = DPC_F32, uint32_t reduction = DPC_SUM) {
  char *x = comm->shared[comm->rank];
  dpc_comm_op_t op = {DPC_OP_ALL_REDUCE, 0,     0,      dtype, reduction,
                      DPC_NONE,          count, buffer, x,     x};
  return dpc_comm_run(comm, &op);
}

/// Ranks all-reduce for ever; the victim does `fault` at its fifth turn.
/// `ranks` of them, frozen after two seconds.
std::vector<RankResult> withFault(
    uint32_t ranks, const std::function<int(dpc_comm_t *)> &fault,
    double timeout = 20,
    const std::function<void(const std::vector<pid_t> &)> &meanwhile = {}) {
  TemporaryDirectory directory;
  return forkRanks(
      ranks,
      [&](uint32_t rank, RankReport &report) {
        WorldOptions world(rank, ranks, "file://" + directory.path, 1 << 20);
        world.options.frozen_seconds = 2;
        world.options.timeout_seconds = timeout;
        dpc_comm_t *comm;
        int code = dpc_comm_create_local(&world.options, &comm);
        for (int turn = 0; code == 0; ++turn)
          code = turn == 5 && rank == (ranks > kVictim ? kVictim : ranks - 1)
                     ? fault(comm)
                     : allReduce(comm, 5000, 3);
        std::snprintf(report.message, sizeof report.message, "%s",
                      dpc_last_error());
        dpc_comm_release(comm);
        return code;
      },
      meanwhile);
}

void expectSurvivorsName(const std::vector<RankResult> &results,
                         uint32_t victim, const char *words, double within) {
  const std::string name = "rank " + std::to_string(victim) + " ";
  for (uint32_t r = 0; r < results.size(); ++r) {
    if (r == victim)
      continue;
    EXPECT_EQ(results[r].exitCode, DPC_PEER) << "rank " << r;
    EXPECT_EQ(results[r].message.rfind(name, 0), 0u) << results[r].message;
    EXPECT_NE(results[r].message.find(words), std::string::npos)
        << results[r].message;
    EXPECT_LT(results[r].seconds, within);
  }
}

TEST(CommFault, KilledRankIsNoticedWithinASecond) {
  auto results = withFault(4, [](dpc_comm_t *) { return raise(SIGKILL); });
  expectSurvivorsName(results, kVictim, "died", results[kVictim].seconds + 1);
}

TEST(CommFault, RankThatExitsWithoutLeaving) {
  auto results = withFault(4, [](dpc_comm_t *) -> int { _exit(0); });
  expectSurvivorsName(results, kVictim, "died", results[kVictim].seconds + 1);
}

TEST(CommFault, RankThatLeavesEarly) {
  auto results =
      withFault(4, [](dpc_comm_t *) { return 77; }); // released by withFault
  expectSurvivorsName(results, kVictim, "has left",
                      results[kVictim].seconds + 1);
}

TEST(CommFault, FrozenRankIsNamed) {
  pid_t frozen = 0;
  auto results = withFault(
      4, [](dpc_comm_t *) { return raise(SIGSTOP); }, 20,
      [&](const std::vector<pid_t> &pids) {
        frozen = pids[kVictim];
        sleep(4);
        kill(frozen, SIGKILL);
      });
  expectSurvivorsName(results, kVictim, "frozen", 5);
}

TEST(CommFault, SlowRankIsNamedAfterTheTimeout) {
  auto results = withFault(
      3,
      [](dpc_comm_t *) {
        sleep(3);
        return 77;
      },
      1);
  expectSurvivorsName(results, kVictim, "has not answered", 2.9);
}

struct Mismatch {
  const char *name;
  const char *words;
  int (*fault)(dpc_comm_t *);
};

class CommMismatch : public testing::TestWithParam<Mismatch> {};

// Found before data moves: the victim's buffer is checked to be untouched.
TEST_P(CommMismatch, IsNamedBeforeDataMoves) {
  auto results = withFault(4, [](dpc_comm_t *comm) {
    float *x = reinterpret_cast<float *>(comm->shared[comm->rank]);
    for (int i = 0; i < 5000; ++i)
      x[i] = 123;
    int code = GetParam().fault(comm);
    for (int i = 0; i < 5000; ++i)
      if (x[i] != 123)
        return 9;
    return code;
  });
  expectSurvivorsName(results, kVictim, GetParam().words, 5);
  EXPECT_EQ(results[kVictim].exitCode, DPC_PEER);
}

INSTANTIATE_TEST_SUITE_P(
    All, CommMismatch,
    testing::Values(
        Mismatch{"Count", "4999",
                 [](dpc_comm_t *c) { return allReduce(c, 4999, 3); }},
        Mismatch{"DType", "i32",
                 [](dpc_comm_t *c) { return allReduce(c, 5000, 3, DPC_I32); }},
        Mismatch{"Reduction", "max",
                 [](dpc_comm_t *c) {
                   return allReduce(c, 5000, 3, DPC_F32, DPC_MAX);
                 }},
        Mismatch{"Buffer", "buffer 4",
                 [](dpc_comm_t *c) { return allReduce(c, 5000, 4); }},
        Mismatch{"Operation", "broadcast",
                 [](dpc_comm_t *c) {
                   char *x = c->shared[c->rank];
                   dpc_comm_op_t op = {
                       DPC_OP_BROADCAST, 0,    0, DPC_F32, DPC_SUM,
                       DPC_NONE,         5000, 3, x,       x};
                   return int(dpc_comm_run(c, &op));
                 }}),
    [](const auto &info) { return info.param.name; });

// All the rest of a broadcast is alike, but one rank takes another's data.
TEST(CommFault, RootsDisagree) {
  TemporaryDirectory directory;
  auto results = forkRanks(3, [&](uint32_t rank, RankReport &report) {
    WorldOptions world(rank, 3, "file://" + directory.path, 1 << 20);
    dpc_comm_t *comm;
    int code = dpc_comm_create_local(&world.options, &comm);
    if (code)
      return code;
    char *x = comm->shared[rank];
    dpc_comm_op_t op = {DPC_OP_BROADCAST,
                        0,
                        rank == kVictim ? 1u : 0u,
                        DPC_F32,
                        DPC_SUM,
                        DPC_NONE,
                        5,
                        3,
                        x,
                        x};
    code = dpc_comm_run(comm, &op);
    std::snprintf(report.message, sizeof report.message, "%s",
                  dpc_last_error());
    dpc_comm_release(comm);
    return code;
  });
  expectSurvivorsName(results, kVictim, "peer 1", 5);
  EXPECT_EQ(results[kVictim].exitCode, DPC_PEER);
}

TEST(CommFault, AbortTellsTheReason) {
  auto results = withFault(3, [](dpc_comm_t *comm) {
    comm->vtable->abort(comm, "the disk is full");
    return 5;
  });
  expectSurvivorsName(results, kVictim, "the disk is full", 5);
}

TEST(CommFault, SendAndReceiveDisagree) {
  TemporaryDirectory directory;
  auto results = forkRanks(2, [&](uint32_t rank, RankReport &report) {
    WorldOptions world(rank, 2, "file://" + directory.path, 1 << 20);
    dpc_comm_t *comm;
    int code = dpc_comm_create_local(&world.options, &comm);
    if (code)
      return code;
    char *x = comm->shared[rank];
    dpc_comm_op_t op = {rank ? uint32_t(DPC_OP_RECV) : uint32_t(DPC_OP_SEND),
                        0,
                        1 - rank,
                        DPC_F32,
                        0,
                        DPC_NONE,
                        rank ? 100u : 101u,
                        1,
                        x,
                        x};
    code = dpc_comm_run(comm, &op);
    std::snprintf(report.message, sizeof report.message, "%s",
                  dpc_last_error());
    dpc_comm_release(comm);
    return code;
  });
  for (const RankResult &result : results) {
    EXPECT_EQ(result.exitCode, DPC_PEER);
    EXPECT_NE(result.message.find("101"), std::string::npos) << result.message;
  }
}

} // namespace
