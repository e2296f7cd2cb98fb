// What every queue does with memory and communication, and that the memory of a
// device can be reached through its queue alone.
#include "test/runtime/TinyProgram.h"

#include <cstring>

using namespace dpc;
using namespace dpc::test;

namespace {

class EveryQueue : public testing::TestWithParam<bool> {
protected:
  EveryQueue() {
    if (GetParam())
      tiny.program.device = &device.device;
  }
  TinyDevice device;
  TinyProgram tiny;
};

TEST_P(EveryQueue, CarriesBytesThereAndBack) {
  OneRank rank(tiny.program);
  for (uint32_t space : {DPC_SPACE_ARENA, DPC_SPACE_SHARED}) {
    const double given[3] = {1, 2, 3};
    double back[3] = {};
    ASSERT_EQ(rank.queue->upload({space, 128}, given, sizeof given), DPC_OK);
    ASSERT_EQ(rank.queue->zero({space, 136}, 8), DPC_OK);
    ASSERT_EQ(rank.queue->download(back, {space, 128}, sizeof back), DPC_OK);
    EXPECT_EQ(back[0], 1);
    EXPECT_EQ(back[1], 0);
    EXPECT_EQ(back[2], 3);
  }
  EXPECT_EQ(rank.queue->finish(), DPC_OK);
}

dpc_comm_op_t sumOfTwo() {
  return {DPC_OP_ALL_REDUCE, 0, 0, DPC_F64, DPC_SUM, DPC_NONE, 2, 7, nullptr, nullptr};
}

TEST_P(EveryQueue, Communicates) {
  OneRank rank(tiny.program);
  const double given[2] = {4, 5};
  double back[2] = {};
  ASSERT_EQ(rank.queue->upload({DPC_SPACE_SHARED, 0}, given, 16), DPC_OK);
  ASSERT_EQ(rank.queue->start(sumOfTwo(), {DPC_SPACE_SHARED, 0}, {DPC_SPACE_SHARED, 64}, 1), DPC_OK)
      << dpc_last_error();
  ASSERT_EQ(rank.queue->wait(1), DPC_OK);
  ASSERT_EQ(rank.queue->download(back, {DPC_SPACE_SHARED, 64}, 16), DPC_OK);
  EXPECT_EQ(back[1], 5);
  // A barrier has no buffers.
  dpc_comm_op_t barrier = sumOfTwo();
  barrier.op = DPC_OP_BARRIER;
  barrier.count = 0;
  ASSERT_EQ(rank.queue->start(barrier, {}, {}, 0), DPC_OK) << dpc_last_error();
  EXPECT_EQ(rank.queue->wait(0), DPC_OK);
  EXPECT_EQ(rank.queue->finish(), DPC_OK);
}

TEST_P(EveryQueue, RefusesEventsOutOfOrder) {
  OneRank rank(tiny.program);
  EXPECT_EQ(rank.queue->wait(1), DPC_INVALID);
  EXPECT_STREQ(dpc_last_error(), "event 1 is waited for before its start");
  const DeviceAddress at = {DPC_SPACE_SHARED, 0};
  ASSERT_EQ(rank.queue->start(sumOfTwo(), at, at, 1), DPC_OK);
  EXPECT_EQ(rank.queue->start(sumOfTwo(), at, at, 1), DPC_INVALID);
  EXPECT_STREQ(dpc_last_error(), "event 1 is started twice");
  EXPECT_EQ(rank.queue->finish(), DPC_INVALID);
  EXPECT_STREQ(dpc_last_error(), "event 1 is never waited for");
  EXPECT_EQ(rank.queue->wait(1), DPC_OK);
  EXPECT_EQ(rank.queue->finish(), DPC_OK);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryQueue, testing::Bool(),
                         [](const testing::TestParamInfo<bool> &info) {
                           return info.param ? "Shadow" : "Host";
                         });

TEST(HostQueue, CallsHostCode) {
  TinyProgram tiny;
  tiny.functions[1].fn = [](dpc_call_t *call) -> int32_t {
    const double *from = static_cast<const double *>(call->args);
    std::memcpy(call->base[DPC_SPACE_ARENA] + 64 * call->micro, from + call->group_index[0], 8);
    return *from < 0 ? DPC_NUMERIC : DPC_OK;
  };
  OneRank rank(tiny.program);
  double given = 6, back = 0;
  EXPECT_EQ(rank.queue->compute(1, 2, &given), DPC_OK);
  ASSERT_EQ(rank.queue->download(&back, {DPC_SPACE_ARENA, 128}, 8), DPC_OK);
  EXPECT_EQ(back, 6);
  given = -1;
  EXPECT_EQ(rank.queue->compute(1, 2, &given), DPC_NUMERIC);
}

TEST(ShadowQueue, PerformsLaunches) {
  TinyDevice device;
  TinyProgram tiny;
  tiny.program.device = &device.device;
  OneRank rank(tiny.program);
  const double given[4] = {0, 0, 10, 20};
  double sums[2] = {};
  int64_t number = 0;
  ASSERT_EQ(rank.queue->upload({DPC_SPACE_ARENA, 0}, given, sizeof given), DPC_OK);
  ASSERT_EQ(rank.queue->compute(0, 1, nullptr), DPC_OK);
  ASSERT_EQ(rank.queue->download(sums, {DPC_SPACE_ARENA, 1024}, 16), DPC_OK);
  ASSERT_EQ(rank.queue->download(&number, {DPC_SPACE_ARENA, 2048}, 8), DPC_OK);
  EXPECT_EQ(sums[0], 11); // of the second microbatch
  EXPECT_EQ(sums[1], 21);
  EXPECT_EQ(number, 110);
}

// The host may exchange votes while no one can reach the spaces; a rank that
// reads or writes one outside of a queue call is gone. Only SHARED is open
// while a transport may be at work there.
TEST(ShadowQueue, StrayTouchesEndTheProcess) {
  enum Touch {
    vote,
    sharedUnderWay,
    arenaUnderWay,
    readArena,
    writeArena,
    lastOfArena,
    readShared
  };
  for (Touch touch :
       {vote, sharedUnderWay, arenaUnderWay, readArena, writeArena, lastOfArena, readShared}) {
    const RankResult result = forkRanks(1, [&](uint32_t, RankReport &) {
      TinyDevice device;
      TinyProgram tiny;
      tiny.program.device = &device.device;
      OneRank rank(tiny.program);
      const double one = 1;
      rank.queue->upload({DPC_SPACE_ARENA, 0}, &one, 8);
      volatile char *arena = rank.memory.base(DPC_SPACE_ARENA),
                    *shared = rank.memory.base(DPC_SPACE_SHARED);
      rank.memory.vote()[0] = 1;
      const DeviceAddress at = {DPC_SPACE_SHARED, 0};
      rank.queue->start(sumOfTwo(), at, at, 1);
      if (touch == sharedUnderWay)
        (void)shared[0];
      else if (touch == arenaUnderWay)
        (void)arena[0];
      rank.queue->wait(1);
      if (touch == readArena)
        (void)arena[0];
      else if (touch == writeArena)
        arena[64] = 1;
      else if (touch == lastOfArena)
        (void)arena[kArenaBytes - 1];
      else if (touch == readShared)
        (void)shared[kSharedBytes - 1];
      return 0;
    })[0];
    const bool mayBe = touch == vote || touch == sharedUnderWay;
    EXPECT_EQ(result.exitCode, mayBe ? 0 : 128 + SIGSEGV) << touch;
  }
}

} // namespace
