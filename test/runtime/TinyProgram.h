// A program of one rank with a few buffers, for tests of queues: two events, an
// arena and a shared space, and whatever tables a test gives it.
#ifndef DPC_TEST_RUNTIME_TINYPROGRAM_H
#define DPC_TEST_RUNTIME_TINYPROGRAM_H

#include "dpc/program.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/device/Queue.h"
#include "test/runtime/ForkRanks.h"

#include <gtest/gtest.h>

namespace dpc::test {

constexpr uint64_t kArenaBytes = 4u << 20, kSharedBytes = 256;

/// A launch table of two functions. Function 0 copies 16 bytes, adds 1 to two
/// doubles and writes the number of the microbatch; function 1 does nothing.
struct TinyDevice {
  static void addOne(char *const *buffers) {
    for (int i = 0; i < 2; ++i)
      reinterpret_cast<double *>(buffers[1])[i] =
          reinterpret_cast<const double *>(buffers[0])[i] + 1;
  }
  TinyDevice() {
    device.struct_size = sizeof device;
    device.kernel_count = 1;
    device.launch_count = 3;
    device.param_count = 5;
    device.kernels = kernels;
    device.launches = launches;
    device.params = params;
    device.functions = functions;
  }
  dpc_kernel_t kernels[1] = {{"add_one", addOne, {}}};
  dpc_launch_t launches[3] = {
      {DPC_LAUNCH_COPY, DPC_NONE, 0, 2, 0, 0, {}},
      {DPC_LAUNCH_KERNEL, 0, 2, 2, 0, 0, {}},
      {DPC_LAUNCH_FILL, DPC_NONE, 4, 1, 100, 10, {}},
  };
  dpc_param_t params[5] = {
      {DPC_SPACE_ARENA, DPC_NONE, 0, 16, 0, 16},  {DPC_SPACE_SHARED, 0, 64, 0, 16, 16},
      {DPC_SPACE_SHARED, DPC_NONE, 64, 0, 0, 16}, {DPC_SPACE_ARENA, DPC_NONE, 1024, 0, 0, 16},
      {DPC_SPACE_ARENA, DPC_NONE, 2048, 0, 0, 8},
  };
  dpc_launches_t functions[2] = {{0, 3}, {0, 0}};
  dpc_device_program_t device = {};
};

struct TinyProgram {
  TinyProgram() {
    rank.struct_size = sizeof rank;
    rank.event_count = 2;
    rank.arena_bytes = kArenaBytes;
    rank.shared_bytes = kSharedBytes;
    rank.entries[DPC_ENTRY_STEP] = {actions, 3};
    program.struct_size = sizeof program;
    program.abi_version = DPC_ABI_VERSION;
    program.name = "tiny";
    program.world_size = 1;
    program.families = &family;
    program.family_count = 1;
    program.functions = functions;
    program.function_count = 2;
    program.ranks = &rank;
    program.batch = program.microbatches = 1;
    actions[0].kind = DPC_ACTION_LOOP_BEGIN;
    actions[0].count = 4;
    actions[0].jump = 2;
    actions[1].kind = DPC_ACTION_COMPUTE;
    actions[1].flags = DPC_ACTION_MICRO_RELATIVE;
    actions[2].kind = DPC_ACTION_LOOP_END;
    for (dpc_action_t &action : actions)
      action.group = action.location = DPC_NONE;
  }
  TinyProgram(const TinyProgram &) = delete;

  uint32_t members[1] = {0};
  dpc_group_family_t family = {"world", 1, 1, members};
  dpc_function_t functions[2] = {{nullptr, "step.0", 0, 0, 0, 0}, {nullptr, "step.1", 0, 1, 0, 0}};
  dpc_action_t actions[3] = {};
  dpc_rank_t rank = {};
  dpc_program_t program = {};
};

/// The queue that a program asks for, over a communicator of one rank.
struct OneRank {
  explicit OneRank(const dpc_program_t &program)
      : world(0, 1, "", RankMemory::sharedBytes(program, 0, /*isStaged=*/false)) {
    EXPECT_EQ(dpc_comm_create("local", &world.options, &comm), DPC_OK) << dpc_last_error();
    EXPECT_EQ(memory.open(program, *comm, /*isStaged=*/false), DPC_OK) << dpc_last_error();
    EXPECT_EQ(makeQueue(program, *comm, memory, {}, &queue), DPC_OK) << dpc_last_error();
  }
  ~OneRank() {
    queue.reset();
    dpc_comm_release(comm);
  }
  WorldOptions world;
  dpc_comm_t *comm = nullptr;
  RankMemory memory;
  std::unique_ptr<Queue> queue;
};

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_TINYPROGRAM_H
