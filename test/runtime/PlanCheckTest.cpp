// Each rule of the proof of a plan by a table that breaks it, and a twin beside
// it that does not: tables of a few actions, two ranks, 64 bytes a buffer.
#include "runtime/src/plan/PlanCheck.h"

#include "dpc/data.h"

#include <gtest/gtest.h>

#include <deque>

extern "C" const dpc_program_t linear_2;

using namespace dpc;

namespace {

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
  std::string check() {
    std::vector<uint32_t> members(world);
    for (uint32_t r = 0; r < world; ++r)
      members[r] = r;
    if (lines.empty())
      lines = members;
    const dpc_group_family_t families[] = {{"world", 1, world, members.data()},
                                           {"lines", 1, uint32_t(lines.size()), lines.data()}};
    const dpc_axis_t axis = {"data", world, 0};
    const dpc_run_t run = {0, 0, kElements, {1, 1}, {0, 0}, {0, 0}};
    std::vector<dpc_placement_t> statePlaces(world,
                                             {DPC_SPACE_ARENA, 1, stateOffset, kElements, 1, &run}),
        inputPlaces(world, {DPC_SPACE_ARENA, 1, 64, kElements, 1, &run});
    const int64_t stateShape[] = {kElements}, inputShape[] = {2, kElements};
    dpc_state_t state = {};
    state.name = "w";
    state.dtype = DPC_F64;
    state.dim_count = 1;
    state.shape = stateShape;
    state.parameter = DPC_NONE;
    state.placements = statePlaces.data();
    dpc_input_t input = {};
    input.name = "x";
    input.dtype = DPC_F64;
    input.dim_count = 2;
    input.shape = inputShape;
    input.micro_count = 2;
    input.micro_stride = 64;
    input.placements = inputPlaces.data();
    dpc_metric_t metric = {};
    metric.name = "loss";
    metric.dtype = DPC_F64;
    metric.entry = 1u << DPC_ENTRY_STEP;
    metric.holder = holder;
    metric.weight = DPC_NONE;
    metric.space = DPC_SPACE_SHARED;
    metric.offset = 128;
    std::vector<dpc_rank_t> ranks(world);
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
    dpc_program_t program = {};
    program.struct_size = sizeof program;
    program.abi_version = DPC_ABI_VERSION;
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
    input.batch_dim = 0;
    return checkPlan(program) ? dpc_last_error() : "";
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
};

/// A plan of two ranks that both do what `write` says.
Plan alike(const std::function<void(Plan &, uint32_t)> &write) {
  Plan plan;
  for (uint32_t rank : {0, 1})
    write(plan, rank);
  return plan;
}

void expectSays(Plan &&plan, const std::vector<std::string> &words) {
  const std::string text = plan.check();
  for (const std::string &word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << ": " << text;
}

void expectHolds(Plan &&plan) { EXPECT_EQ(plan.check(), ""); }

const auto sound = [](Plan &plan, uint32_t rank) { plan.sound(rank); };

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

TEST(PlanCheck, WhatIsReadWasWritten) {
  expectSays(alike([](Plan &plan, uint32_t rank) {
               plan.reduce(rank);
               plan.wait(rank, 0);
               plan.compute(rank, 0);
               plan.compute(rank, 1);
             }),
             {"rank 0, step, action 0, all-reduce 3",
              "reads bytes [0, 64) of shared as buffer 3 (grad)", "nothing has written byte 0"});
  // Another buffer took the bytes: an error only before the last read.
  auto overwritten = [](bool isBefore) {
    Plan plan;
    plan.function("first", {plan.write(kWide)}, 1);
    plan.function("second", {plan.write(kOther)}, 1);
    plan.function("third", {plan.read(kWide)}, 1);
    for (uint32_t rank : {0, 1}) {
      plan.compute(rank, 2);
      plan.compute(rank, isBefore ? 3 : 4);
      plan.compute(rank, isBefore ? 4 : 3);
      plan.sound(rank);
    }
    return plan;
  };
  expectHolds(overwritten(false));
  expectSays(overwritten(true),
             {"third: launch 0: reads bytes [192, 256) of shared as buffer 6 (wide), "
              "but byte 192 is that of buffer 7 (other) by now"});
  // What an action calls part of a buffer is one.
  Plan beyond = alike(sound);
  beyond.accessTables[0][1].bytes = 129;
  expectSays(
      std::move(beyond),
      {"make: launch 0: reads: bytes [64, 193) of arena as buffer 1 (input), which has bytes "
       "[64, 192) of arena"});
  Plan microbatch = alike([](Plan &plan, uint32_t rank) {
    for (int32_t micro : {0, 1, 2})
      plan.compute(rank, 0, micro);
    plan.sound(rank);
  });
  microbatch.functions[0].runs = 4;
  expectSays(std::move(microbatch),
             {"action 2, make", "bytes [192, 256) of arena as buffer 1 (input)"});
  Plan nameless = alike(sound);
  nameless.tables[0][1].out.buffer = kBuffers;
  expectSays(std::move(nameless), {"action 1, all-reduce 3", "writes: buffer 8 of 8"});
}

TEST(PlanCheck, ResultsAreWritten) {
  auto without = [](uint32_t holder) {
    Plan plan = alike(sound);
    plan.accessTables[1].pop_back();
    plan.functions[1].access_count = plan.accessTables[1].size();
    plan.holder = holder;
    return plan;
  };
  expectSays(without(DPC_NONE), {"rank 0, end of step: loss for the host: reads bytes [128, 136)",
                                 "nothing has written byte 128"});
  expectSays(without(1), {"rank 1, end of step: loss for the host"});
}

TEST(PlanCheck, KernelsWriteNotWhatTheyRead) {
  auto with = [](std::vector<dpc_access_t> accesses) {
    Plan plan;
    plan.function("kernel", std::move(accesses), 1);
    for (uint32_t rank : {0, 1}) {
      plan.sound(rank);
      plan.compute(rank, 2);
    }
    return plan;
  };
  Plan names;
  dpc_access_t shifted = names.write(kGrad), half = names.read(kGrad);
  half.bytes = 32;
  // In place: all of it or nothing.
  expectHolds(with({names.read(kGrad), shifted}));
  expectSays(with({half, shifted}), {"kernel: launch 0: writes bytes [0, 64) of shared of buffer 3 "
                                     "(grad) and reads bytes [0, 32)"});
  expectSays(with({names.write(kWide), names.write(kOther)}),
             {"writes bytes [192, 256)", "(wide) and writes", "(other)"});
  expectSays(with({names.read(kGrad), names.access(DPC_ACCESS_SCRATCH, kGrad)}),
             {"writes bytes [0, 64)", "and reads bytes [0, 64)"});
  // Not what another kernel of the function does.
  expectHolds(with({names.write(kWide), names.access(DPC_ACCESS_WRITE, kOther, 0, /*launch=*/1)}));
  expectSays(with({names.access(DPC_ACCESS_KIND_COUNT, kWide)}), {"access of kind 4"});
}

TEST(PlanCheck, NothingInFlightIsTouched) {
  auto with = [](bool reads, Buffer buffer) {
    Plan plan;
    plan.function("meanwhile", {reads ? plan.read(buffer) : plan.write(buffer)}, 1);
    for (uint32_t rank : {0, 1}) {
      plan.compute(rank, 0);
      plan.reduce(rank);
      plan.compute(rank, 2);
      plan.wait(rank, 0);
      plan.compute(rank, 1);
    }
    return plan;
  };
  expectSays(with(false, kGrad), {"meanwhile: launch 0: writes bytes [0, 64) of shared, which "
                                  "all-reduce 3 of action 1 uses until its wait"});
  expectSays(with(false, kSum), {"meanwhile: launch 0: writes bytes [64, 128)"});
  expectSays(with(true, kSum), {"meanwhile: launch 0: reads bytes [64, 128)"});
  expectHolds(with(true, kGrad));
  expectHolds(with(false, kWide));
}

TEST(PlanCheck, SumsAreReadBeforeTheyBeginAnew) {
  auto with = [](bool isRead) {
    Plan plan;
    plan.function("add", {plan.read(kTemp), plan.write(kTemp)}, 1);
    plan.function("take", {plan.read(kTemp)}, 1);
    for (uint32_t rank : {0, 1}) {
      plan.zero(rank, kTemp);
      plan.compute(rank, 2);
      if (isRead)
        plan.compute(rank, 3);
      plan.zero(rank, kTemp);
      if (!isRead)
        plan.compute(rank, 3);
      plan.sound(rank);
    }
    return plan;
  };
  expectHolds(with(true));
  expectSays(with(false),
             {"action 2, zero: zeroes bytes [192, 256) of arena of buffer 2 (temp), but "
              "nothing has read byte 192 since it was written"});
}

TEST(PlanCheck, InputAndOutputShareBytesAsTheOperationSays) {
  auto gather = [](uint64_t stride) {
    Plan plan;
    plan.function("fill", {plan.write(kWide)}, 1);
    plan.accessTables[2][0].bytes = 128;
    for (uint32_t rank : {0, 1}) {
      plan.sound(rank);
      plan.compute(rank, 2);
      plan.start(rank, DPC_OP_ALL_GATHER, 0, kWide, kWide).in.index_stride = stride;
      plan.wait(rank, 0);
    }
    return plan;
  };
  expectHolds(gather(64));
  expectSays(gather(32),
             {"rank 1, step, action 5, all-gather 3: reads bytes [224, 288) of shared and "
              "writes bytes [192, 320) of shared"});
}

TEST(PlanCheck, EachStartHasOneWait) {
  expectSays(alike([](Plan &plan, uint32_t rank) {
               plan.sound(rank);
               plan.reduce(rank, 1);
             }),
             {"rank 0, end of step: all-reduce 3 of action 4 is never waited for"});
  expectSays(alike([](Plan &plan, uint32_t rank) {
               plan.sound(rank);
               plan.wait(rank, 0);
             }),
             {"action 4, wait for event 0: nothing has been started as this event"});
  auto again = [](uint32_t event) {
    return alike([=](Plan &plan, uint32_t rank) {
      plan.sound(rank);
      plan.start(rank, DPC_OP_BARRIER, 2, kGrad, kGrad);
      plan.start(rank, DPC_OP_BARRIER, event, kGrad, kGrad);
      plan.wait(rank, 2);
      if (event != 2)
        plan.wait(rank, event);
    });
  };
  expectHolds(again(3));
  expectSays(again(2), {"action 5, barrier 3: starts event 2, which action 4 has started"});
}

TEST(PlanCheck, MembersStartTheSame) {
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
TEST(PlanCheck, MembersMeanTheSameBytes) {
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

// Of a scattered sum a rank has contents where its part of the input has.
TEST(PlanCheck, ScatteredSumsHaveContents) {
  auto with = [](uint64_t filled) {
    Plan plan;
    plan.function("fill", {plan.write(kWide)}, 1);
    plan.accessTables[2][0].bytes = filled;
    for (uint32_t rank : {0, 1}) {
      plan.compute(rank, 0);
      plan.compute(rank, 2);
      plan.start(rank, DPC_OP_REDUCE_SCATTER, 0, kWide, kSum);
      plan.wait(rank, 0);
      plan.compute(rank, 1);
    }
    return plan;
  };
  expectHolds(with(128));
  expectSays(with(96),
             {"rank 1, step, action 4, use", "reads bytes [64, 128) of shared as buffer 4 (sum), "
                                             "but nothing has written byte 96"});
}

TEST(PlanCheck, GroupsAreThoseOfTheRank) {
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

TEST(PlanCheck, SendsMeetTheirReceives) {
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
}

// The 65th operation of a group has to wait for the first.
TEST(PlanCheck, SixtyFourAreUnderWay) {
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
TEST(PlanCheck, StagesDiffer) {
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
