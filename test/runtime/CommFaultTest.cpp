// A rank that dies, freezes, leaves or departs from the plan: every survivor
// gets DPC_PEER naming it, in time.
#include "dpc/action.h"
#include "test/runtime/EveryTransport.h"

#include <algorithm>
#include <thread>

using namespace dpc::test;

namespace {

constexpr uint32_t kVictim = 2;

/// A rank's communicator and the memory that its collectives work on.
struct Member {
  dpc_comm_t *comm = nullptr;
  float *x = nullptr;

  int run(uint32_t op, uint32_t peer, uint64_t count, uint64_t buffer, uint32_t dtype = DPC_F32,
          uint32_t reduction = DPC_SUM, uint32_t family = 0) const {
    const dpc_comm_op_t request = {op,       family, peer,   dtype, reduction,
                                   DPC_NONE, count,  buffer, x,     x};
    return dpc_comm_run(comm, &request);
  }
  int allReduce(uint64_t count, uint64_t buffer, uint32_t dtype = DPC_F32,
                uint32_t reduction = DPC_SUM) const {
    return run(DPC_OP_ALL_REDUCE, 0, count, buffer, dtype, reduction);
  }
};

/// Runs `body` on `ranks` members, frozen after two seconds; reports what it
/// last failed of.
std::vector<RankResult>
onMembers(const std::string &transport, uint32_t ranks, double timeout,
          const std::function<int(const Member &)> &body,
          const std::function<void(const std::vector<pid_t> &)> &meanwhile = {},
          const std::function<void(WorldOptions &)> &adjust = {}) {
  TemporaryDirectory directory;
  return runRanks(
      transport, ranks,
      [&](uint32_t rank, RankReport &report) {
        WorldOptions world(rank, ranks, "file://" + directory.path, 1 << 20);
        world.options.frozen_seconds = 2;
        world.options.timeout_seconds = timeout;
        if (adjust)
          adjust(world);
        Member member;
        int code = createComm(transport, world.options, &member.comm);
        if (code == 0) {
          member.x = allocate<float>(member.comm, 1 << 20);
          code = body(member);
        }
        std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
        dpc_comm_release(member.comm);
        return code;
      },
      meanwhile);
}

/// Ranks all-reduce for ever; the victim does `fault` at its fifth iteration.
std::vector<RankResult>
withFault(const std::string &transport, uint32_t ranks,
          const std::function<int(const Member &)> &fault, double timeout = 20,
          const std::function<void(const std::vector<pid_t> &)> &meanwhile = {},
          uint32_t victim = kVictim) {
  return onMembers(
      transport, ranks, timeout,
      [&](const Member &member) {
        int code = 0;
        for (int i = 0; code == 0; ++i)
          code = i == 5 && member.comm->rank == victim ? fault(member) : member.allReduce(5000, 3);
        return code;
      },
      meanwhile);
}

void expectSurvivorsName(const std::vector<RankResult> &results, uint32_t victim, const char *words,
                         double within) {
  const std::string name = "rank " + std::to_string(victim) + " ";
  for (uint32_t r = 0; r < results.size(); ++r) {
    if (r == victim)
      continue;
    EXPECT_EQ(results[r].exitCode, DPC_PEER) << "rank " << r;
    EXPECT_EQ(results[r].message.rfind(name, 0), 0u) << results[r].message;
    EXPECT_NE(results[r].message.find(words), std::string::npos) << results[r].message;
    EXPECT_LT(results[r].seconds, within);
  }
}

void expectOneMessage(const std::vector<RankResult> &results, uint32_t victim) {
  const RankResult &first = results[victim ? 0 : 1];
  for (uint32_t r = 0; r < results.size(); ++r)
    if (r != victim) {
      EXPECT_EQ(results[r].message, first.message) << "rank " << r;
    }
}

/// A fault: the rank takes part in no operation until the run has failed.
int hang(const Member &member) {
  while (member.comm->vtable->check(member.comm) == DPC_OK)
    usleep(10000);
  return 77;
}

class CommFault : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, CommFault, testing::ValuesIn(allTransportNames()),
                         [](const auto &info) { return info.param; });

TEST_P(CommFault, KilledRankIsNoticedWithinASecond) {
  auto results = withFault(GetParam(), 4, [](const Member &) { return raise(SIGKILL); });
  expectSurvivorsName(results, kVictim, "died", results[kVictim].seconds + 1);
}

TEST_P(CommFault, RankThatExitsWithoutLeaving) {
  auto results = withFault(GetParam(), 4, [](const Member &) -> int { _exit(0); });
  expectSurvivorsName(results, kVictim, "died", results[kVictim].seconds + 1);
}

TEST_P(CommFault, RankThatLeavesEarly) {
  auto results =
      withFault(GetParam(), 4, [](const Member &) { return 77; }); // released by withFault
  expectSurvivorsName(results, kVictim, "has left", results[kVictim].seconds + 1);
}

TEST_P(CommFault, FrozenRankIsNamed) {
  pid_t frozen = 0;
  auto results = withFault(
      GetParam(), 4, [](const Member &) { return raise(SIGSTOP); }, 20,
      [&](const std::vector<pid_t> &pids) {
        frozen = pids[kVictim];
        sleep(4);
        kill(frozen, SIGKILL);
      });
  expectSurvivorsName(results, kVictim, "frozen", 5);
}

TEST_P(CommFault, SlowRankIsNamedAfterTheTimeout) {
  auto results = withFault(
      GetParam(), 3,
      [](const Member &) {
        sleep(3);
        return 77;
      },
      1);
  expectSurvivorsName(results, kVictim, "has not answered", 2.9);
}

// Rank 0 is alive, so it also decides between failures that name rank 0.
TEST_P(CommFault, RanksAgreeOnTheWaitForRankZero) {
  auto results = withFault(GetParam(), 4, hang, 1, {}, 0);
  expectSurvivorsName(results, 0, "has not answered", 5);
  expectOneMessage(results, 0);
}

// Each rank receives from the next one. The wait of the rank that is the farthest
// from the victim ends first, and its neighbour only waits itself.
TEST_P(CommFault, HangingRankIsNamedByAllThatWait) {
  for (const uint32_t victim : {kVictim, 0u}) {
    auto results = onMembers(GetParam(), 4, 1, [&](const Member &member) {
      const uint32_t distance = (victim + 4 - member.comm->rank) % 4;
      if (distance == 0)
        return hang(member);
      usleep((3 - distance) * 100000);
      return member.run(DPC_OP_RECV, (member.comm->rank + 1) % 4, 5, 3);
    });
    const std::string waiter = "rank " + std::to_string((victim + 3) % 4) + " waits for it";
    expectSurvivorsName(results, victim, waiter.c_str(), 5);
    expectOneMessage(results, victim);
  }
}

// A member of a collective that waits in another operation is not the cause.
TEST_P(CommFault, WaitingMemberIsNotNamed) {
  auto results = onMembers(GetParam(), 4, 1, [](const Member &member) {
    if (member.comm->rank == kVictim)
      return hang(member);
    if (member.comm->rank != 1)
      return member.allReduce(5000, 3);
    usleep(200000);
    return member.run(DPC_OP_RECV, kVictim, 5, 4);
  });
  expectSurvivorsName(results, kVictim, "rank 1 waits for it", 5);
  expectOneMessage(results, kVictim);
}

TEST_P(CommFault, RanksThatWaitInACycleAgree) {
  auto results = onMembers(GetParam(), 3, 1, [](const Member &member) {
    return member.run(DPC_OP_RECV, (member.comm->rank + 1) % 3, 5, 3);
  });
  for (uint32_t r = 0; r < 3; ++r)
    EXPECT_EQ(results[r].exitCode, DPC_PEER) << "rank " << r;
  const std::string &message = results[0].message;
  EXPECT_NE(message.find("has not answered for 1 s"), std::string::npos) << message;
  EXPECT_NE(message.find("waits for it in recv of buffer 3"), std::string::npos) << message;
  expectOneMessage(results, 3);
}

// The rank freezes during a wait, so the rank that it has published is out of
// date. The wait for it ends before the rank counts as frozen.
TEST(HostFault, RankThatFreezesInAWaitIsNamed) {
  for (const std::string &transport : transportNames()) {
    auto results = onMembers(
        transport, 3, 4,
        [](const Member &member) {
          const auto after = [](double seconds) { usleep(static_cast<useconds_t>(seconds * 1e6)); };
          if (member.comm->rank == 0) {
            after(0.1);
            return member.run(DPC_OP_RECV, kVictim, 5, 3);
          }
          if (member.comm->rank == 1) {
            after(2.75);
            const int code = member.run(DPC_OP_SEND, kVictim, 5, 3);
            return code ? code : member.run(DPC_OP_RECV, kVictim, 5, 3);
          }
          std::thread freeze([&] { // after the others know of the wait
            after(2.5);
            raise(SIGSTOP);
          });
          freeze.detach();
          return member.run(DPC_OP_RECV, 1, 5, 3);
        },
        [](const std::vector<pid_t> &pids) {
          sleep(5);
          kill(pids[kVictim], SIGKILL);
        });
    expectSurvivorsName(results, kVictim, "has not answered for 4 s", 5.5);
  }
}

// Whatever a transport lets rank 0 do for all, it must do without it too.
TEST_P(CommFault, RankZeroIsNamedLikeAnyOther) {
  auto results = withFault(GetParam(), 3, [](const Member &) { return raise(SIGKILL); }, 20, {}, 0);
  expectSurvivorsName(results, 0, "died", results[0].seconds + 1);
  results = withFault(
      GetParam(), 3, [](const Member &) { return raise(SIGSTOP); }, 20,
      [&](const std::vector<pid_t> &pids) {
        sleep(4);
        kill(pids[0], SIGKILL);
      },
      0);
  expectSurvivorsName(results, 0, "frozen", 5);
}

/// Four ranks on two hosts: ranks 2 and 3 reduce among themselves, and ranks 0 and 1 wait for them.
std::vector<RankResult> onTwoHosts(const std::function<int(const Member &)> &fault) {
  static const uint32_t ranks[] = {0, 1, 2, 3};
  static const dpc_group_family_t families[] = {{"world", 1, 4, ranks}, {"host", 2, 2, ranks}};
  const auto adjust = [](WorldOptions &world) {
    world.options.families = families;
    world.options.family_count = 2;
  };
  return onMembers(
      "hosts", 4, 1,
      [&](const Member &member) {
        if (member.comm->rank < 2)
          return member.allReduce(5000, 3);
        int code = 0;
        for (int i = 0; code == 0; ++i)
          code = i == 5 && member.comm->rank == kVictim
                     ? fault(member)
                     : member.run(DPC_OP_ALL_REDUCE, 0, 5000, 4, DPC_F32, DPC_SUM, 1);
        return code;
      },
      {}, adjust);
}

// The ranks of a host notice a fault in the memory that they share, and tell the other host.
TEST(HostsFault, IsToldToTheOtherHosts) {
  auto results = onTwoHosts([](const Member &) { return raise(SIGKILL); });
  expectSurvivorsName(results, kVictim, "died", results[kVictim].seconds + 1);
  results = onTwoHosts([](const Member &) { return 77; });
  expectSurvivorsName(results, kVictim, "has left", results[kVictim].seconds + 1);
  results = onTwoHosts(hang);
  expectSurvivorsName(results, kVictim, "has not answered", 5);
  expectOneMessage(results, kVictim);
  results = onTwoHosts([](const Member &member) {
    return member.run(DPC_OP_ALL_REDUCE, 0, 4000, 4, DPC_F32, DPC_SUM, 1);
  });
  // Of two ranks that differ, the first one counts as right.
  expectSurvivorsName(results, 3, "does not follow the plan", 5);
  expectOneMessage(results, 3);
}

// The same where rank 0 has left before.
TEST_P(CommFault, DeathIsNoticedWithoutRankZero) {
  auto results = onMembers(GetParam(), 3, 20, [](const Member &member) {
    const uint32_t rank = member.comm->rank;
    int code = rank == 0 ? 0 : member.run(rank == 1 ? DPC_OP_SEND : DPC_OP_RECV, 3 - rank, 5, 3);
    if (rank == 1) {
      usleep(300000);
      raise(SIGKILL);
    }
    return rank == 0 || code ? code : member.run(DPC_OP_RECV, 3 - rank, 5, 3);
  });
  // Under MPI, no rank ends before the others: mpirun ends rank 0 with them.
  EXPECT_TRUE(results[0].exitCode == 0 || findMpirun(GetParam())) << results[0].message;
  EXPECT_EQ(results[2].exitCode, DPC_PEER);
  EXPECT_EQ(results[2].message.rfind("rank 1 died", 0), 0u) << results[2].message;
  EXPECT_LT(results[2].seconds - results[1].seconds, 0.9);
}

// Where ranks have announced their operations before, only the watch over the
// device is left.
TEST(NcclFault, IsNoticedWhileTheDeviceWorks) {
  for (const bool isFrozen : {false, true}) {
    pid_t victim = 0;
    auto results = withFault(
        "nccl-known", 4, [&](const Member &) { return raise(isFrozen ? SIGSTOP : SIGKILL); }, 20,
        [&](const std::vector<pid_t> &pids) {
          victim = pids[kVictim];
          sleep(isFrozen ? 4 : 0);
          if (isFrozen)
            kill(victim, SIGKILL);
        });
    expectSurvivorsName(results, kVictim, isFrozen ? "frozen" : "died",
                        isFrozen ? 5 : results[kVictim].seconds + 1);
  }
}

struct Mismatch {
  const char *name;
  const char *words;
  int (*fault)(const Member &);
};

class CommMismatch : public testing::TestWithParam<std::tuple<std::string, Mismatch>> {};

// Found before data moves: the victim's buffer is checked to be untouched.
TEST_P(CommMismatch, IsNamedBeforeDataMoves) {
  const auto &[transport, mismatch] = GetParam();
  auto results = withFault(transport, 4, [fault = mismatch.fault](const Member &member) {
    std::fill(member.x, member.x + 5000, 123.f);
    const int code = fault(member);
    for (int i = 0; i < 5000; ++i)
      if (member.x[i] != 123)
        return 9;
    return code;
  });
  expectSurvivorsName(results, kVictim, mismatch.words, 5);
  EXPECT_EQ(results[kVictim].exitCode, DPC_PEER);
}

const Mismatch kMismatches[] = {
    {"Count", "4999", [](const Member &m) { return m.allReduce(4999, 3); }},
    {"DType", "i32", [](const Member &m) { return m.allReduce(5000, 3, DPC_I32); }},
    {"Reduction", "max", [](const Member &m) { return m.allReduce(5000, 3, DPC_F32, DPC_MAX); }},
    {"Buffer", "buffer 4", [](const Member &m) { return m.allReduce(5000, 4); }},
    {"Operation", "broadcast",
     [](const Member &m) { return m.run(DPC_OP_BROADCAST, 0, 5000, 3); }}};

INSTANTIATE_TEST_SUITE_P(All, CommMismatch,
                         testing::Combine(testing::ValuesIn(allTransportNames()),
                                          testing::ValuesIn(kMismatches)),
                         [](const auto &info) {
                           return std::get<0>(info.param) + std::get<1>(info.param).name;
                         });

// All the rest of a broadcast is alike, but one rank takes another's data.
TEST_P(CommFault, RootsDisagree) {
  auto results = onMembers(GetParam(), 3, 20, [](const Member &member) {
    return member.run(DPC_OP_BROADCAST, member.comm->rank == kVictim, 5, 3);
  });
  expectSurvivorsName(results, kVictim, "peer 1", 5);
  EXPECT_EQ(results[kVictim].exitCode, DPC_PEER);
}

TEST_P(CommFault, AbortTellsTheReason) {
  auto results = withFault(GetParam(), 3, [](const Member &member) {
    member.comm->vtable->abort(member.comm, "the disk is full");
    return 5;
  });
  expectSurvivorsName(results, kVictim, "the disk is full", 5);
}

TEST_P(CommFault, LongReasonIsCut) {
  auto results = withFault(GetParam(), 3, [](const Member &member) {
    member.comm->vtable->abort(member.comm, std::string(5000, 'x').c_str());
    return 5;
  });
  expectSurvivorsName(results, kVictim, "failed: xxx", 5);
}

TEST_P(CommFault, SendAndReceiveDisagree) {
  auto results = onMembers(GetParam(), 2, 20, [](const Member &member) {
    return member.comm->rank ? member.run(DPC_OP_RECV, 0, 100, 1)
                             : member.run(DPC_OP_SEND, 1, 101, 1);
  });
  for (const RankResult &result : results) {
    EXPECT_EQ(result.exitCode, DPC_PEER);
    EXPECT_NE(result.message.find("101"), std::string::npos) << result.message;
  }
}

// Ranks that fail at the same time agree on who was first.
TEST_P(CommFault, OneOfSeveralIsFirst) {
  auto results = onMembers(GetParam(), 4, 20, [](const Member &member) {
    member.allReduce(5, 3); // fails where another has failed already
    return member.comm->vtable->abort(member.comm, "the disk is full") ? 40 : 41;
  });
  EXPECT_EQ(std::count_if(results.begin(), results.end(),
                          [](const RankResult &r) { return r.exitCode == 40; }),
            1);
  EXPECT_EQ(std::count_if(results.begin(), results.end(),
                          [](const RankResult &r) { return r.exitCode == 41; }),
            3);
}

// Of all that fail, one tells the user: the rank that knows the cause itself,
// or one of those that saw it.
TEST_P(CommFault, OneRankTells) {
  for (const bool itself : {true, false}) {
    auto results = onMembers(GetParam(), 4, 20, [&](const Member &member) {
      dpc_comm_t *comm = member.comm;
      if (comm->rank == kVictim && !itself)
        raise(SIGKILL);
      if (comm->rank == kVictim)
        return comm->vtable->abort(comm, "the disk is full") == 1 ? 40 : 41;
      int code = 0;
      while (code == 0)
        code = member.allReduce(5000, 3);
      const bool first = comm->vtable->abort(comm, "my peer failed") == 1;
      if (code != DPC_PEER || first)
        return 42;
      return comm->vtable->told_elsewhere(comm) ? 41 : 40;
    });
    EXPECT_EQ(std::count_if(results.begin(), results.end(),
                            [](const RankResult &r) { return r.exitCode == 40; }),
              1);
    EXPECT_EQ(std::count_if(results.begin(), results.end(),
                            [](const RankResult &r) { return r.exitCode == 41; }),
              itself ? 3 : 2);
  }
}

} // namespace
