// What the proof of a plan finds where ranks communicate, by tables that break
// one rule each, and twins that do not.
#include "test/runtime/PlanBuilder.h"

using namespace dpc;
using namespace dpc::test;

namespace {

TEST(PlanGroups, MembersStartTheSame) {
  const struct {
    const char *first, *second;
    std::function<void(dpc_action_t &)> edit;
  } cases[] = {
      {"kind 1", "kind 2",
       [](dpc_action_t &a) {
         a.op = DPC_OP_REDUCE_SCATTER;
         a.count = 4;
       }},
      {"element type 1", "element type 5", [](dpc_action_t &a) { a.dtype = DPC_I64; }},
      {"count 8", "count 7", [](dpc_action_t &a) { a.count = 7; }},
      {"reduction 0", "reduction 1", [](dpc_action_t &a) { a.reduction = DPC_MAX; }},
      {"root 0", "root 1", [](dpc_action_t &a) { a.peer = 1; }},
      {"logical buffer 3", "logical buffer 4", [](dpc_action_t &a) { a.buffer_id = 4; }},
  };
  for (const auto &one : cases) {
    Plan plan = alike([](Plan &p, uint32_t rank) {
      p.sound(rank);
      p.start(rank, DPC_OP_ALL_REDUCE, 0, kGrad, kWide); // of which nobody reads the result
      p.wait(rank, 0);
    });
    one.edit(plan.tables[1][4]);
    expectSays(std::move(plan), {std::string("rank 0, step, action 4, all-reduce 3: ") + one.first,
                                 "rank 1, step, action 4, ", std::string(": ") + one.second,
                                 "(operation 1 of group 0 of world)"});
  }
}

// Parts of buffers are compared between ranks that lay them out alike; what has
// contents is, between all that sum it.
TEST(PlanGroups, MembersMeanTheSameBytes) {
  auto halves = [](bool isSecond, bool own) {
    Plan plan;
    plan.ownBuffers = own;
    plan.function("fill",
                  {plan.access(DPC_ACCESS_WRITE, kWide), plan.access(DPC_ACCESS_WRITE, kWide)}, 1);
    plan.accessTables[2][1].offset += 64;
    for (uint32_t rank : {0, 1}) {
      plan.compute(rank, 0);
      plan.compute(rank, 2);
      dpc_action_t &action = plan.start(rank, DPC_OP_ALL_REDUCE, 0, kWide, kSum);
      action.in.offset += rank == 1 && isSecond ? 64 : 0;
      plan.wait(rank, 0);
      plan.compute(rank, 1);
    }
    return plan;
  };
  expectHolds(halves(false, false));
  expectSays(halves(true, false), {"input begins at byte 0", "input begins at byte 64"});
  expectHolds(halves(true, true));
  auto filled = [](uint64_t bytes) {
    Plan plan;
    plan.function("part", {plan.write(kOther)}, 1, /*stage=*/1);
    plan.function("whole", {plan.write(kOther)}, 1, /*stage=*/2);
    plan.stages = {1, 2};
    for (dpc_function_t &function : plan.functions)
      function.stage = function.stage ? function.stage : 3;
    plan.accessTables[2][0].bytes = bytes;
    plan.holder = 0;
    plan.accessTables[2].push_back(plan.access(DPC_ACCESS_WRITE, kLoss, 0, 1));
    plan.functions[2].accesses = plan.accessTables[2].data();
    plan.functions[2].access_count = 2;
    for (uint32_t rank : {0, 1}) {
      plan.compute(rank, 2 + rank);
      plan.start(rank, DPC_OP_ALL_REDUCE, 0, kOther, kSum);
      plan.wait(rank, 0);
    }
    return plan;
  };
  expectHolds(filled(64));
  expectSays(filled(32), {"rank 0, step, action 1, all-reduce 3: the input has bytes [0, 32)",
                          "rank 1, step, action 1, all-reduce 3: it has bytes [0, 64)"});
}

TEST(PlanGroups, GroupsAreThoseOfTheRank) {
  Plan stranger = alike(sound);
  stranger.lines = {0, 2};
  expectSays(std::move(stranger), {"group family lines names rank 2 of 2"});
  Plan twice = alike(sound);
  twice.lines = {1, 1};
  expectSays(std::move(twice), {"group family lines names rank 1 twice"});
  Plan absent = alike(sound);
  absent.lines = {0};
  expectHolds(std::move(absent));
  Plan used = alike(sound);
  used.lines = {0};
  used.tables[1][1].group = 1;
  expectSays(std::move(used),
             {"rank 1, step, action 1, all-reduce 3: is in group family lines, of which "
              "this rank is not"});
  Plan peer = alike(sound);
  peer.tables[0][1].peer = 2;
  expectSays(std::move(peer), {"names member 2 of 2 in group family world"});
  Plan family = alike(sound);
  family.tables[0][1].group = 1;
  expectSays(std::move(family),
             {"2 of 2 ranks wait for ever",
              "waits for operation 0 of group 0 of lines, which rank 1 has not "
              "started",
              "waits for operation 0 of group 0 of world, which rank 0 has not"});
}

TEST(PlanGroups, SendsMeetTheirReceives) {
  auto exchange = [](bool isCrossed, uint32_t peer = 1) {
    Plan plan;
    for (uint32_t rank : {0, 1})
      plan.sound(rank);
    // Each sends before it waits, or both wait first.
    plan.message(0, DPC_OP_SEND, 1, kGrad, peer);
    plan.message(0, DPC_OP_RECV, 2, kWide, 1);
    plan.wait(0, 1);
    plan.wait(0, 2);
    if (isCrossed)
      plan.message(1, DPC_OP_SEND, 1, kGrad, 0);
    plan.message(1, DPC_OP_RECV, 2, kWide, 0);
    plan.wait(1, 2);
    if (!isCrossed)
      plan.message(1, DPC_OP_SEND, 1, kGrad, 0);
    plan.wait(1, 1);
    return plan;
  };
  expectHolds(exchange(true));
  expectHolds(exchange(false));
  expectSays(exchange(true, 0), {"rank 0, step, action 4, send 3: is with this rank itself"});
  // Both wait for a message before they send one.
  Plan circle;
  for (uint32_t rank : {0, 1}) {
    circle.sound(rank);
    circle.message(rank, DPC_OP_RECV, 2, kWide, 1 - rank);
    circle.wait(rank, 2);
    circle.message(rank, DPC_OP_SEND, 1, kGrad, 1 - rank);
    circle.wait(rank, 1);
  }
  expectSays(
      std::move(circle),
      {"2 of 2 ranks wait for ever: rank 0, step, action 5, wait for event 2 waits for operation "
       "0 of rank 1 to rank 0, which rank 1 has not started; rank 1, step, action 5"});
  // A message of another size.
  Plan size;
  for (uint32_t rank : {0, 1})
    size.sound(rank);
  size.message(0, DPC_OP_SEND, 1, kGrad, 1);
  size.wait(0, 1);
  size.message(1, DPC_OP_RECV, 1, kWide, 0);
  size.tables[1].back().count = 4;
  size.wait(1, 1);
  expectSays(std::move(size), {"count 8", "count 4", "(operation 0 of rank 0 to rank 1)"});
  // A message of another microbatch.
  for (int32_t received : {1, 0}) {
    Plan micro;
    for (uint32_t rank : {0, 1})
      micro.sound(rank);
    micro.message(0, DPC_OP_SEND, 1, kGrad, 1);
    micro.tables[0].back().micro = 1;
    micro.wait(0, 1);
    micro.message(1, DPC_OP_RECV, 1, kWide, 0);
    micro.tables[1].back().micro = received;
    micro.wait(1, 1);
    if (received == 1)
      expectHolds(std::move(micro));
    else
      expectSays(std::move(micro),
                 {"microbatch 1", "microbatch 0", "(operation 0 of rank 0 to rank 1)"});
  }
}

// A message is a whole part of a value: all its bytes are written, and it is the same part for all
// ranks of the sender's stage.
TEST(PlanGroups, MessagesAreWritten) {
  auto with = [](uint64_t stride, uint64_t offset) {
    Plan plan;
    for (uint32_t rank : {0, 1})
      plan.sound(rank);
    plan.function("half", {plan.write(kWide)}, 1);
    for (uint32_t rank : {0, 1})
      plan.compute(rank, 2);
    plan.message(0, DPC_OP_RECV, 1, kGrad, 1);
    plan.wait(0, 1);
    plan.message(1, DPC_OP_SEND, 1, kWide, 0);
    plan.tables[1].back().in.index_stride = stride;
    plan.tables[1].back().in.offset += offset;
    plan.wait(1, 1);
    return plan;
  };
  expectHolds(with(0, 0));
  expectSays(with(16, 0),
             {"rank 1, step, action 5, send 3: moves a message by 16 bytes per index"});
  expectSays(with(0, 16), {"rank 1, step, action 5, send 3: reads bytes [208, 272)",
                           "but nothing has written byte 256"});
}

// All calls of a function get the same part of a buffer as a frame.
TEST(PlanGroups, FramesArePlaces) {
  auto with = [](uint64_t moved) {
    Plan plan;
    dpc_access_t term = plan.read(kWide), sum = plan.write(kWide);
    for (dpc_access_t *access : {&term, &sum}) {
      access->frame = 1;
      access->offset = 0;
    }
    plan.function("add", {term, sum}, 2);
    plan.functions[2].frame_count = 1;
    plan.function("take", {plan.read(kWide)}, 1);
    static dpc_frame_t frames[2];
    frames[0] = frames[1] = {plan.buffers[0][kWide].offset, kWide, 0};
    frames[1].offset += moved;
    for (uint32_t rank : {0, 1}) {
      plan.zero(rank, kWide, 2 * kElements);
      for (int32_t micro : {0, 1}) {
        plan.compute(rank, 2, micro);
        plan.tables[rank].back().args = &frames[micro];
      }
      plan.compute(rank, 3);
      plan.sound(rank);
    }
    return plan;
  };
  expectHolds(with(0));
  expectSays(with(64),
             {"rank 0, step, action 2, add: gets buffer 6 (wide) from byte 64 on as frame "
              "1, but the first call got this frame from byte 0 of its buffer on"});
}

// Two ranks send to each other before they receive. Hosts move both messages at once. Devices wait
// for ever, because each moves its operations one after another.
TEST(PlanGroups, DevicesMoveOneAfterAnother) {
  static const dpc_launches_t none[2] = {};
  static dpc_device_program_t device = {};
  device.struct_size = sizeof device;
  device.functions = none;
  auto exchange = [](bool onDevice, bool isCrossed) {
    Plan plan;
    for (uint32_t rank : {0, 1}) {
      plan.sound(rank);
      const uint32_t first = isCrossed || rank == 0 ? DPC_OP_SEND : DPC_OP_RECV,
                     second = first == DPC_OP_SEND ? DPC_OP_RECV : DPC_OP_SEND;
      plan.message(rank, first, 1, first == DPC_OP_SEND ? kGrad : kWide, 1 - rank);
      plan.message(rank, second, 2, second == DPC_OP_SEND ? kGrad : kWide, 1 - rank);
      plan.wait(rank, 1);
      plan.wait(rank, 2);
    }
    if (onDevice) {
      plan.device = &device;
      for (dpc_function_t &function : plan.functions)
        function.fn = nullptr;
    }
    return plan;
  };
  expectHolds(exchange(false, true));
  expectHolds(exchange(true, false));
  expectSays(exchange(true, true),
             {"2 of 2 ranks wait for ever: rank 0, step, action 5, recv 3 ",
              "waits for operation 0 of rank 0 to rank 1, which rank 1 has not started"});
}

// The 65th operation of a group has to wait for the first.
TEST(PlanGroups, SixtyFourAreUnderWay) {
  auto with = [](uint32_t count) {
    Plan plan;
    for (uint32_t rank : {0, 1})
      plan.sound(rank);
    for (uint32_t i = 0; i < count; ++i)
      plan.message(0, DPC_OP_SEND, 1 + i, kGrad, 1);
    plan.start(0, DPC_OP_BARRIER, 0, kGrad, kGrad);
    plan.wait(0, 0);
    plan.start(1, DPC_OP_BARRIER, 0, kGrad, kGrad);
    plan.wait(1, 0);
    for (uint32_t i = 0; i < count; ++i) {
      plan.wait(0, 1 + i);
      plan.message(1, DPC_OP_RECV, 1, kWide, 0);
      plan.wait(1, 1);
    }
    return plan;
  };
  expectHolds(with(64));
  expectSays(with(65), {"2 of 2 ranks wait for ever: rank 0, step, action 68, send 3 waits for "
                        "operation 0 of rank 0 to rank 1, which rank 1 has not started"});
}

// Ranks of two stages have tables of their own, and functions of their own.
TEST(PlanGroups, StagesDiffer) {
  auto pipeline = [](uint32_t stageOfSecond) {
    Plan plan;
    plan.functions[1].stage = stageOfSecond;
    plan.stages = {0, 1};
    plan.holder = 1;
    plan.ownBuffers = true;
    plan.compute(0, 0);
    plan.message(0, DPC_OP_SEND, 0, kGrad, 1);
    plan.wait(0, 0);
    plan.message(1, DPC_OP_RECV, 0, kSum, 0);
    plan.wait(1, 0);
    plan.compute(1, 1);
    return plan;
  };
  expectHolds(pipeline(1));
  expectSays(pipeline(0), {"rank 0, end of step: use has run for 0 of 1 microbatches"});
}

} // namespace
