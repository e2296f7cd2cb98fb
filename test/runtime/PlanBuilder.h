// Plans of a few actions for tests of their proof: two ranks, buffers of 64 bytes.
#ifndef DPC_TEST_RUNTIME_PLANBUILDER_H
#define DPC_TEST_RUNTIME_PLANBUILDER_H

#include "dpc/data.h"
#include "runtime/src/plan/PlanCheck.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace dpc::test {

constexpr uint64_t kBytes = 64, kElements = 8; // of a buffer, in f64

/// The logical buffers, alike on all ranks; each has 64 bytes, `wide` 128.
enum Buffer : uint32_t { kState, kInput, kTemp, kGrad, kSum, kLoss, kWide, kOther, kBuffers };

/// A program as a test writes it. Function 0 makes `grad` from the state and a
/// microbatch of the input; function 1 makes the state and the loss from `sum`.
struct Plan {
  explicit Plan(uint32_t world = 2) : world(world), tables(world), buffers(world) {
    for (std::vector<dpc_logical_buffer_t> &ofRank : buffers)
      ofRank = {{"state", DPC_BUFFER_FILLED, DPC_SPACE_ARENA, 0, 64},
                {"input", DPC_BUFFER_FILLED, DPC_SPACE_ARENA, 64, 128},
                {"temp", DPC_BUFFER_TEMPORARY, DPC_SPACE_ARENA, 192, 64},
                {"grad", DPC_BUFFER_TEMPORARY, DPC_SPACE_SHARED, 0, 64},
                {"sum", DPC_BUFFER_TEMPORARY, DPC_SPACE_SHARED, 64, 64},
                {"loss", DPC_BUFFER_RESULT, DPC_SPACE_SHARED, 128, 64},
                {"wide", DPC_BUFFER_TEMPORARY, DPC_SPACE_SHARED, 192, 128},
                {"other", DPC_BUFFER_TEMPORARY, DPC_SPACE_SHARED, 192, 64}};
    function("make", {read(kState), read(kInput, 64), write(kGrad)}, 1);
    function("use", {read(kSum), read(kState), write(kState), write(kLoss)}, 1);
  }

  dpc_access_t access(uint32_t kind, Buffer buffer, uint64_t stride = 0, uint32_t launch = 0) {
    const dpc_logical_buffer_t &place = buffers[0][buffer];
    return {kind, buffer, place.space, DPC_NONE, place.offset, kBytes, stride, 0, launch, 0};
  }
  dpc_access_t read(Buffer buffer, uint64_t stride = 0) {
    return access(DPC_ACCESS_READ, buffer, stride);
  }
  dpc_access_t write(Buffer buffer) { return access(DPC_ACCESS_WRITE, buffer); }

  void function(const char *name, std::vector<dpc_access_t> accesses, uint64_t runs,
                uint32_t stage = 0) {
    accessTables.push_back(std::move(accesses));
    functions.push_back({[](dpc_call_t *) -> int32_t { return 0; }, name, DPC_ENTRY_STEP, 0, stage,
                         0, accessTables.back().data(), accessTables.back().size(), runs});
  }

  dpc_action_t &add(uint32_t rank, uint32_t kind) {
    dpc_action_t action = {};
    action.kind = kind;
    action.group = action.location = DPC_NONE;
    tables[rank].push_back(action);
    return tables[rank].back();
  }
  void compute(uint32_t rank, uint32_t function, int32_t micro = 0, uint32_t flags = 0) {
    dpc_action_t &action = add(rank, DPC_ACTION_COMPUTE);
    action.function = function;
    action.micro = micro;
    action.flags = flags;
  }
  dpc_action_t &start(uint32_t rank, uint32_t op, uint32_t event, Buffer in, Buffer out,
                      uint64_t count = kElements, uint64_t id = 3) {
    dpc_action_t &action = add(rank, DPC_ACTION_START);
    action.op = op;
    action.event = event;
    action.group = 0;
    action.dtype = DPC_F64;
    action.count = count;
    action.buffer_id = id;
    action.in = {buffers[rank][in].space, in, buffers[rank][in].offset, 0};
    action.out = {buffers[rank][out].space, out, buffers[rank][out].offset, 0};
    return action;
  }
  dpc_action_t &reduce(uint32_t rank, uint32_t event = 0) {
    return start(rank, DPC_OP_ALL_REDUCE, event, kGrad, kSum);
  }
  void message(uint32_t rank, uint32_t op, uint32_t event, Buffer buffer, uint32_t peer) {
    start(rank, op, event, buffer, buffer).peer = peer;
  }
  void wait(uint32_t rank, uint32_t event) { add(rank, DPC_ACTION_WAIT).event = event; }
  void zero(uint32_t rank, Buffer buffer, uint64_t count = kElements) {
    dpc_action_t &action = add(rank, DPC_ACTION_ZERO);
    action.dtype = DPC_F64;
    action.count = count;
    action.out = {buffers[rank][buffer].space, buffer, buffers[rank][buffer].offset, 0};
  }
  void loop(uint32_t rank, uint64_t count, const std::function<void()> &body) {
    const uint32_t begin = static_cast<uint32_t>(tables[rank].size());
    add(rank, DPC_ACTION_LOOP_BEGIN).count = count;
    body();
    tables[rank][begin].jump = static_cast<uint32_t>(tables[rank].size());
    add(rank, DPC_ACTION_LOOP_END).jump = begin;
  }
  /// What a rank does in a sound step.
  void sound(uint32_t rank) {
    compute(rank, 0);
    reduce(rank);
    wait(rank, 0);
    compute(rank, 1);
  }

  /// What the proof says of the program; "" where it holds.
  std::string check() { return checkPlan(build()) ? dpc_last_error() : ""; }

  /// The program as it is now; it lasts until the plan changes or goes.
  const dpc_program_t &build() {
    members.clear();
    for (uint32_t r = 0; r < world; ++r)
      members.push_back(r);
    if (lines.empty())
      lines = members;
    families[0] = {"world", 1, world, members.data()};
    families[1] = {"lines", 1, uint32_t(lines.size()), lines.data()};
    axis = {"data", world, 0};
    buildTensors();
    buildRanks();
    program = {};
    program.struct_size = sizeof program;
    program.abi_version = DPC_ABI_VERSION;
    program.command = "a plan of a test";
    program.axes = &axis;
    program.axis_count = 1;
    program.world_size = world;
    program.families = families;
    program.family_count = 2;
    program.functions = functions.data();
    program.function_count = static_cast<uint32_t>(functions.size());
    program.ranks = ranks.data();
    program.batch = 2;
    program.states = &state;
    program.inputs = &input;
    program.metrics = &metric;
    program.state_count = program.input_count = program.metric_count = 1;
    program.locations = &location;
    program.location_count = 1;
    program.device = device;
    return program;
  }

  const uint32_t world;
  std::vector<std::vector<dpc_action_t>> tables;
  std::vector<std::vector<dpc_logical_buffer_t>> buffers;
  std::deque<std::vector<dpc_access_t>> accessTables;
  std::vector<dpc_function_t> functions;
  std::vector<uint32_t> stages;
  std::vector<uint32_t> lines; ///< members of the second family; empty: all
  bool ownBuffers = false;
  uint64_t stateOffset = 0;
  uint32_t holder = DPC_NONE;
  const dpc_device_program_t *device = nullptr;
  dpc_location_t location = {"/fc/MatMul", ""};

private:
  void buildTensors() {
    statePlaces.assign(world, {DPC_SPACE_ARENA, 1, stateOffset, kElements, 1, &run});
    inputPlaces.assign(world, {DPC_SPACE_ARENA, 1, 64, kElements, 1, &run});
    state = {};
    state.name = "w";
    state.dtype = DPC_F64;
    state.dim_count = 1;
    state.shape = inputShape + 1;
    state.parameter = DPC_NONE;
    state.placements = statePlaces.data();
    input = {};
    input.name = "x";
    input.dtype = DPC_F64;
    input.dim_count = 2;
    input.shape = inputShape;
    input.micro_count = 2;
    input.micro_stride = 64;
    input.placements = inputPlaces.data();
    metric = {};
    metric.name = "loss";
    metric.dtype = DPC_F64;
    metric.entry = 1u << DPC_ENTRY_STEP;
    metric.weight = DPC_NONE;
    metricPlaces.assign(world, {DPC_SPACE_SHARED, 0, 128});
    metric.places = metricPlaces.data();
    for (uint32_t &each : metric.holders)
      each = holder;
  }

  void buildRanks() {
    ranks.assign(world, {});
    for (uint32_t r = 0; r < world; ++r) {
      ranks[r].stage = r < stages.size() ? stages[r] : 0;
      ranks[r].event_count = 80;
      ranks[r].arena_bytes = 256;
      ranks[r].shared_bytes = 320;
      ranks[r].entries[DPC_ENTRY_STEP] = {tables[r].data(), tables[r].size()};
      // Ranks share a table of buffers unless a test gives them their own.
      const auto &table = ownBuffers ? buffers[r] : buffers[0];
      ranks[r].buffers = table.data();
      ranks[r].buffer_count = table.size();
    }
  }

  static constexpr dpc_run_t run = {0, 0, kElements, {1, 1}, {0, 0}, {0, 0}};
  static constexpr int64_t inputShape[] = {2, kElements};
  std::vector<uint32_t> members;
  dpc_group_family_t families[2];
  dpc_axis_t axis;
  std::vector<dpc_placement_t> statePlaces, inputPlaces;
  dpc_state_t state;
  dpc_input_t input;
  dpc_metric_t metric;
  std::vector<dpc_place_t> metricPlaces;
  std::vector<dpc_rank_t> ranks;
  dpc_program_t program;
};

/// A plan of two ranks that both do what `write` says.
inline Plan alike(const std::function<void(Plan &, uint32_t)> &write) {
  Plan plan;
  for (uint32_t rank : {0, 1})
    write(plan, rank);
  return plan;
}

inline void expectSays(Plan &&plan, const std::vector<std::string> &words) {
  const std::string text = plan.check();
  for (const std::string &word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << ": " << text;
}

inline void expectHolds(Plan &&plan) { EXPECT_EQ(plan.check(), ""); }

/// What all ranks of a sound plan do, for `alike`.
const auto sound = [](Plan &plan, uint32_t rank) { plan.sound(rank); };

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_PLANBUILDER_H
