// The proof of a plan: what it goes through, what it says, and what it finds in
// tables of buffers, functions and launches; each rule by a table that breaks it,
// and a twin that does not.
#include "test/runtime/PlanBuilder.h"

using namespace dpc;
using namespace dpc::test;

extern "C" const dpc_program_t linear_2;

namespace {

TEST(PlanCheck, ASoundPlanHolds) {
  expectHolds(alike(sound));
  EXPECT_EQ(checkPlan(linear_2), DPC_OK) << dpc_last_error();
  PlanSummary summary;
  EXPECT_EQ(checkPlan(linear_2, &summary), DPC_OK);
  // 8 actions and 2 turns of a loop; 3 and 2 in evaluation.
  EXPECT_EQ(summary.actions, 2u * (10 + 5));
  EXPECT_EQ(summary.communications, 2u * (3 + 1));
  EXPECT_EQ(summary.buffers, 20u);
}

// An error names rank, entry, action, what that does, the buffer and the node.
TEST(PlanCheck, ErrorsSayWhere) {
  Plan plan = alike(sound);
  plan.tables[1].erase(plan.tables[1].begin() + 2);
  plan.tables[1][2].location = 0;
  EXPECT_EQ(plan.check(), "plan of 2 ranks: rank 1, step, action 2, use (at /fc/MatMul): launch 0: "
                          "reads bytes [64, 128) of "
                          "shared, which all-reduce 3 of action 1 uses until its wait");
}

TEST(PlanCheck, Buffers) {
  Plan outside = alike(sound);
  outside.buffers[0][kWide].bytes = 129;
  expectSays(std::move(outside), {"rank 0: buffer 6 (wide) has bytes [192, 321) of shared", "320"});
  // What the host knows has its bytes alone; temporaries may share them.
  Plan shared = alike(sound);
  shared.buffers[0][kTemp].offset = 128;
  expectSays(std::move(shared), {"buffer 2 (temp) (bytes [128, 192) of arena)",
                                 "buffer 1 (input) (bytes [64, 192) of arena) share bytes"});
  Plan both = alike(sound);
  both.buffers[0][kState].bytes = 65;
  expectSays(std::move(both), {"buffer 0 (state)", "buffer 1 (input)", "share bytes"});
  Plan temporaries = alike(sound);
  temporaries.buffers[0][kOther].offset = 256;
  expectHolds(std::move(temporaries));
  // The host's records and the table agree.
  Plan moved = alike(sound);
  moved.stateOffset = 8;
  expectSays(std::move(moved), {"state w is at bytes [8, 72) of arena, where no buffer"});
  Plan result = alike(sound);
  result.buffers[0][kLoss].kind = DPC_BUFFER_TEMPORARY;
  expectSays(std::move(result), {"metric loss is at bytes [128, 136) of shared", "host reads"});
  Plan unknown = alike(sound);
  unknown.buffers[0][kLoss].kind = DPC_BUFFER_KIND_COUNT;
  expectSays(std::move(unknown), {"buffer 5 (loss) is of unknown kind 3"});
}

TEST(PlanCheck, FunctionsRunAsOftenAsTheySay) {
  expectSays(alike([](Plan &plan, uint32_t rank) {
               plan.compute(rank, 0);
               plan.sound(rank);
             }),
             {"rank 0, step, action 1, make", "microbatch 0, after 1 of the 1"});
  Plan skipped = alike(sound);
  skipped.functions[0].runs = 2;
  expectSays(std::move(skipped), {"rank 0, end of step: make has run for 1 of 2 microbatches"});
  auto twice = [](int32_t first, int32_t second) {
    Plan plan = alike([&](Plan &p, uint32_t rank) {
      p.compute(rank, 0, first);
      p.compute(rank, 0, second);
      p.reduce(rank);
      p.wait(rank, 0);
      p.compute(rank, 1);
    });
    plan.functions[0].runs = 2;
    return plan;
  };
  expectHolds(twice(0, 1));
  expectSays(twice(1, 0), {"action 0, make", "microbatch 1, after 0 of the 2"});
  // In a loop the microbatch is that of the turn.
  auto looped = [](uint32_t flags) {
    Plan plan = alike([&](Plan &p, uint32_t rank) {
      p.loop(rank, 2, [&] { p.compute(rank, 0, 0, flags); });
      p.reduce(rank);
      p.wait(rank, 0);
      p.compute(rank, 1);
    });
    plan.functions[0].runs = 2;
    return plan;
  };
  expectHolds(looped(DPC_ACTION_MICRO_RELATIVE));
  expectSays(looped(0), {"action 1, make", "microbatch 0, after 1 of the 2"});
  Plan evaluation = alike(sound);
  evaluation.functions[1].entry = DPC_ENTRY_EVAL;
  expectSays(std::move(evaluation), {"action 3, use", "is of eval, stage 0, not of step"});
  Plan stage = alike(sound);
  stage.functions[1].stage = 1;
  expectSays(std::move(stage), {"is of step, stage 1, not of step, stage 0"});
}

// What a device is told to do is what the function says, or less.
TEST(PlanCheck, LaunchesUseWhatTheirFunctionNames) {
  auto with = [](uint32_t kind, uint64_t offset, uint64_t bytes, uint64_t stride, bool isBack) {
    Plan plan = alike(sound);
    for (dpc_function_t &function : plan.functions)
      function.fn = nullptr;
    static dpc_kernel_t kernel = {"k", [](char *const *) {}, nullptr, nullptr, {}};
    static dpc_param_t params[2];
    params[0] = {DPC_SPACE_ARENA, DPC_NONE, offset, stride, 0, bytes};
    params[1] = {DPC_SPACE_SHARED, DPC_NONE, 0, 0, 0, bytes};
    if (isBack)
      std::swap(params[0], params[1]);
    static dpc_launch_t launch = {};
    launch.kind = kind;
    launch.param_count = 2;
    static const dpc_launches_t launches[] = {{0, 1}, {0, 0}};
    static dpc_device_program_t device = {};
    device.struct_size = sizeof device;
    device.kernel_count = device.launch_count = 1;
    device.param_count = 2;
    device.kernels = &kernel;
    device.launches = &launch;
    device.params = params;
    device.functions = launches;
    plan.device = &device;
    return plan;
  };
  // Function 0 reads a microbatch of 64 bytes at 64, and writes 64 bytes at 0.
  expectHolds(with(DPC_LAUNCH_COPY, 64, 64, 64, false));
  expectHolds(with(DPC_LAUNCH_KERNEL, 72, 32, 64, true));
  expectSays(
      with(DPC_LAUNCH_COPY, 64, 64, 64, true),
      {"make, launch 0 of the device: parameter 0 (space 1, offset 0, 64 bytes) is none of"});
  expectSays(with(DPC_LAUNCH_KERNEL, 72, 64, 64, false),
             {"parameter 0 (space 0, offset 72, 64 bytes)"});
  expectSays(with(DPC_LAUNCH_KERNEL, 56, 16, 64, false),
             {"parameter 0 (space 0, offset 56, 16 bytes)"});
  expectSays(with(DPC_LAUNCH_KERNEL, 64, 64, 0, false), {"parameter 0"});
}

TEST(PlanCheck, LoopsEnd) {
  Plan plan = alike(sound);
  for (uint32_t rank : {0, 1})
    plan.loop(rank, UINT64_MAX, [&] {});
  expectSays(std::move(plan), {"loops that have more than"});
}

} // namespace
