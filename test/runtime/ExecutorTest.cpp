// The executor on a program of one rank: what it gives a queue before the first
// action, and what it finds out after the last.
#include "runtime/src/program/Executor.h"
#include "test/runtime/TinyProgram.h"

#include <cmath>

using namespace dpc;
using namespace dpc::test;

namespace {

class ExecutorOfOneRank : public testing::Test {
protected:
  ExecutorOfOneRank() {
    tiny.functions[0].fn = [](dpc_call_t *) -> int32_t { return DPC_OK; };
  }
  dpc_status_t run() {
    rank = std::make_unique<OneRank>(tiny.program);
    InputLoader loader(tiny.program, 0);
    for (uint32_t i = 0; i < tiny.program.input_count; ++i)
      EXPECT_EQ(loader.bind(i, arrays[i], "data"), DPC_OK) << dpc_last_error();
    Controls controls;
    Trace trace;
    Executor executor(tiny.program, 0, *rank->queue, loader, controls, trace);
    // Memory that was used before, as it is in the second step.
    if (dpc_status_t status = executor.run(DPC_ENTRY_STEP))
      return status;
    return executor.run(DPC_ENTRY_STEP);
  }
  TinyProgram tiny;
  std::vector<dpc_array_t> arrays;
  std::unique_ptr<OneRank> rank;
};

// Code may compute with the padding of an input: it is zero, whatever the input
// before it was.
TEST_F(ExecutorOfOneRank, InputsArePaddedWithZeros) {
  static const int64_t six[] = {1, 6}, four[] = {1, 4};
  const dpc_run_t all = {0, 0, 6, {1, 1}, {0, 0}, {0, 0}};
  const dpc_run_t part = {0, 0, 4, {1, 1}, {0, 0}, {0, 0}};
  const dpc_placement_t first = {DPC_SPACE_ARENA, 1, 0, 6, 1, &all},
                        second = {DPC_SPACE_ARENA, 1, 64, 6, 1, &part};
  dpc_input_t inputs[2] = {};
  inputs[0].name = "a";
  inputs[1].name = "b";
  inputs[0].shape = six;
  inputs[1].shape = four;
  inputs[0].placements = &first;
  inputs[1].placements = &second;
  for (dpc_input_t &input : inputs) {
    input.dtype = DPC_F64;
    input.dim_count = 2;
    input.micro_count = 1;
  }
  tiny.program.inputs = inputs;
  tiny.program.input_count = 2;
  const std::vector<double> values(6, NAN);
  arrays = {{"", DPC_F64, 2, {1, 6}, values.data()}, {"", DPC_F64, 2, {1, 4}, values.data()}};
  ASSERT_EQ(run(), DPC_OK) << dpc_last_error();
  double b[6] = {};
  rank->queue->download(b, {DPC_SPACE_ARENA, 64}, sizeof b);
  EXPECT_TRUE(std::isnan(b[3]));
  EXPECT_EQ(b[4], 0);
  EXPECT_EQ(b[5], 0);
}

TEST_F(ExecutorOfOneRank, CommunicationIsWaitedFor) {
  tiny.actions[0].kind = DPC_ACTION_START;
  tiny.actions[0].op = DPC_OP_BARRIER;
  tiny.actions[0].group = 0;
  tiny.rank.entries[DPC_ENTRY_STEP].count = 1;
  EXPECT_EQ(run(), DPC_INVALID);
  EXPECT_STREQ(dpc_last_error(), "event 0 is never waited for");
}

TEST_F(ExecutorOfOneRank, AFailingFunctionIsNamed) {
  tiny.functions[0].fn = [](dpc_call_t *call) -> int32_t {
    return call->micro == 2 ? DPC_NUMERIC : DPC_OK;
  };
  EXPECT_EQ(run(), DPC_NUMERIC);
  EXPECT_STREQ(dpc_last_error(), "step.0 in step 1: failed with status 4");
}

} // namespace
