// Tests how a HostQueue calls host code, and that the memory of a ShadowQueue is accessible
// only through the queue. QueueConformanceTest tests the contract of all queues.
#include "test/runtime/TinyProgram.h"

#include <cstring>

using namespace dpc;
using namespace dpc::test;

namespace {

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

// Between calls of the queue, the host may access the vote, but not the spaces: if a rank
// reads or writes a space, its process ends. One exception: while a communication is
// outstanding, SHARED is accessible, because the transport may use it.
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
      const dpc_comm_op_t sum = {DPC_OP_ALL_REDUCE, 0, 0, DPC_F64, DPC_SUM,
                                 DPC_NONE,          2, 7, nullptr, nullptr};
      rank.queue->start(sum, at, at, 1);
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
