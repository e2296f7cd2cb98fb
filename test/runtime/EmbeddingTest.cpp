// The embedding API on hand-written programs of one and two ranks, and what the
// runtime refuses in a program record.
#include "dpc/dpc.h"
#include "dpc/schedule.h"
#include "runtime/src/data/Dataset.h"
#include "runtime/src/program/ProgramCheck.h"
#include "runtime/src/session/Session.h"
#include "test/runtime/ForkRanks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>

using namespace dpc::test;

extern "C" const dpc_program_t linear_1, linear_2;

namespace {
std::atomic<bool> counting{false};
std::atomic<int> allocations{0};
} // namespace

#if !defined(__SANITIZE_ADDRESS__)
// Counts every allocation of the process, the C library's included.
extern "C" void *__libc_malloc(size_t);
extern "C" void *malloc(size_t bytes) {
  if (counting)
    ++allocations;
  return __libc_malloc(bytes);
}
#endif

namespace {

const float kX[24] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 2, 0, 1};
const double kY[8] = {1, 2, 3, 3, 5, 4, 6, 7};

/// Runs body(session) on every rank of a program; the exit codes must be 0.
void onSession(const dpc_program_t &program, const std::function<int(dpc_session_t *)> &body,
               const std::function<void(dpc_session_options_t &)> &adjust = {}) {
  TemporaryDirectory directory;
  const std::string address = "file://" + directory.path;
  auto results = forkRanks(program.world_size, [&](uint32_t rank, RankReport &report) {
    dpc_session_options_t options;
    dpc_session_t *session = nullptr;
    int code = dpc_session_options_default(&options);
    options.rank = rank;
    options.world_size = program.world_size;
    options.rendezvous = address.c_str();
    if (adjust)
      adjust(options);
    if (code == 0)
      code = dpc_session_create(&program, &options, &session);
    const dpc_array_t x = {"", DPC_F32, 2, {8, 3}, kX};
    const dpc_array_t y = {"", DPC_F64, 1, {8}, kY};
    if (code == 0)
      code = dpc_session_bind_input(session, "x", &x);
    if (code == 0)
      code = dpc_session_bind_input(session, "label", &y);
    if (code == 0)
      code = body(session);
    std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
    dpc_session_release(session);
    return code;
  });
  for (uint32_t r = 0; r < program.world_size; ++r)
    EXPECT_EQ(results[r].exitCode, 0) << "rank " << r << ": " << results[r].message;
}

/// Loss and weights after ten steps.
int trainTen(dpc_session_t *session, double *outLoss, double *outWeights) {
  for (int i = 0; i < 10; ++i)
    if (int code = dpc_session_step(session))
      return code;
  if (int code = dpc_session_metric(session, "loss", outLoss))
    return code;
  return dpc_session_read_state(session, "fc.weight", outWeights, 24);
}

class Embedding : public testing::TestWithParam<int> {
protected:
  const dpc_program_t &program() { return GetParam() == 1 ? linear_1 : linear_2; }
};

TEST_P(Embedding, StepsReduceTheLoss) {
  onSession(program(), [](dpc_session_t *session) {
    double first = 0, last = 0, w[3];
    if (int code = dpc_session_step(session))
      return code;
    dpc_session_metric(session, "loss", &first);
    if (int code = trainTen(session, &last, w))
      return code;
    if (dpc_session_steps_done(session) != 11 || !(last < first / 2))
      return 9;
    if (dpc_session_metric(session, "accuracy", &last) != DPC_INVALID)
      return 9;
    return 0;
  });
}

TEST_P(Embedding, StateCanBeReadAndWritten) {
  onSession(program(), [](dpc_session_t *session) {
    const double w[3] = {1, 2, 3};
    const dpc_array_t array = {"", DPC_F64, 1, {3}, w};
    const dpc_array_t wrong = {"", DPC_F64, 2, {3, 1}, w};
    double back[3] = {}, loss = -1, momentum[3] = {9, 9, 9};
    if (dpc_session_write_state(session, "fc.weight", &wrong) != DPC_INVALID)
      return 9;
    if (int code = dpc_session_write_state(session, "fc.weight", &array))
      return code;
    if (int code = dpc_session_eval(session, 7))
      return code;
    dpc_session_metric(session, "loss", &loss);
    if (int code = dpc_session_read_state(session, "fc.weight", back, 24))
      return code;
    if (int code = dpc_session_read_state(session, "momentum|fc.weight", momentum, 24))
      return code;
    // The labels are x * (1, 2, 3), but for the last row, which does not count.
    const bool reads =
        dpc_session_rank(session) != 0 || (back[2] == 3 && momentum[0] == 0 && momentum[2] == 0);
    return reads && std::fabs(loss) < 1e-24 ? 0 : 9;
  });
}

TEST_P(Embedding, NoAllocationAfterTheFirstStep) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer owns malloc";
#endif
  onSession(program(), [](dpc_session_t *session) {
    if (int code = dpc_session_step(session))
      return code;
    allocations = 0;
    counting = true;
    for (int i = 2; i <= 10; ++i)
      if (int code = dpc_session_step(session))
        return code;
    counting = false;
    return allocations.load() == 0 ? 0 : 9;
  });
}

// Generated code is entered only through the action table: an edited entry
// changes the run.
TEST_P(Embedding, EditedActionChangesTheRun) {
  static double weights[2][3];
  for (bool edit : {false, true}) {
    dpc_program_t program = this->program();
    std::vector<dpc_rank_t> ranks(program.ranks, program.ranks + program.world_size);
    std::vector<dpc_action_t> actions(ranks[0].entries[0].actions,
                                      ranks[0].entries[0].actions + ranks[0].entries[0].count);
    for (dpc_action_t &action : actions)
      if (edit && action.kind == DPC_ACTION_LOOP_BEGIN)
        action.count = 1; // half of the microbatches
    for (dpc_rank_t &rank : ranks)
      rank.entries[0].actions = actions.data();
    program.ranks = ranks.data();
    auto *shared = static_cast<double *>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    onSession(program, [&](dpc_session_t *session) {
      double loss, w[3];
      if (int code = trainTen(session, &loss, w))
        return code;
      if (dpc_session_rank(session) == 0)
        std::memcpy(shared, w, sizeof w);
      return 0;
    });
    std::memcpy(weights[edit], shared, sizeof weights[edit]);
    munmap(shared, 4096);
  }
  EXPECT_NE(weights[0][0], weights[1][0]);
}

TEST_P(Embedding, TwoRanksEqualOne) {
  onSession(program(), [](dpc_session_t *session) {
    double loss, w[3];
    if (int code = trainTen(session, &loss, w))
      return code;
    // Computed plainly.
    double v[3] = {0.5, -0.25, 0}, m[3] = {};
    for (int s = 0; s < 10; ++s) {
      double grad[3] = {};
      for (int b = 0; b < 8; ++b) {
        double e = -kY[b];
        for (int k = 0; k < 3; ++k)
          e += kX[b * 3 + k] * v[k];
        for (int k = 0; k < 3; ++k)
          grad[k] += 2 * e * kX[b * 3 + k] / 8;
      }
      for (int k = 0; k < 3; ++k) {
        m[k] = 0.9 * m[k] + grad[k];
        v[k] -= 0.05 * m[k];
      }
    }
    for (int k = 0; k < 3 && dpc_session_rank(session) == 0; ++k)
      if (std::fabs(v[k] - w[k]) > 1e-12)
        return 9;
    return 0;
  });
}

// A schedule that falls until the last step needs to know it.
TEST_P(Embedding, ScheduleToTheLastStepNeedsIt) {
  dpc_program_t program = this->program();
  program.schedule.kind = DPC_LR_LINEAR;
  onSession(program, [](dpc_session_t *session) {
    return dpc_session_step(session) == DPC_USAGE && std::strstr(dpc_last_error(), "schedule_total")
               ? 0
               : 9;
  });
  program.schedule.total = 20;
  onSession(program, [](dpc_session_t *session) { return dpc_session_step(session); });
}

TEST_P(Embedding, RefusesWhatDoesNotFit) {
  onSession(program(), [](dpc_session_t *session) {
    const dpc_array_t narrow = {"", DPC_F32, 2, {8, 2}, kX};
    const dpc_array_t few = {"", DPC_F32, 2, {7, 3}, kX};
    double x = 0;
    return dpc_session_bind_input(session, "x", &narrow) == DPC_INVALID &&
                   dpc_session_bind_input(session, "x", &few) == DPC_INVALID &&
                   dpc_session_bind_input(session, "z", &few) == DPC_INVALID &&
                   dpc_session_read_output(session, "y", &x, 8) == DPC_INVALID &&
                   dpc_session_read_state(session, "y", &x, 8) == DPC_INVALID
               ? 0
               : 9;
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Embedding, testing::Values(1, 2),
                         testing::PrintToStringParamName());

TEST(Schedule, WarmUpThenFall) {
  const dpc_schedule_t cosine = {DPC_LR_COSINE, 0, 1.0, 0.1, 10, 110};
  EXPECT_EQ(dpc_learning_rate(&cosine, 0, 0), 0);
  EXPECT_EQ(dpc_learning_rate(&cosine, 0, 5), 0.5);
  EXPECT_EQ(dpc_learning_rate(&cosine, 0, 10), 1);
  EXPECT_NEAR(dpc_learning_rate(&cosine, 0, 60), 0.55, 1e-15);
  EXPECT_EQ(dpc_learning_rate(&cosine, 0, 110), 0.1);
  EXPECT_EQ(dpc_learning_rate(&cosine, 0, 1000), 0.1);
  const dpc_schedule_t linear = {DPC_LR_LINEAR, 0, 1.0, 0, 0, 0};
  EXPECT_EQ(dpc_learning_rate(&linear, 4, 1), 0.75); // total from --steps
  EXPECT_TRUE(dpc_schedule_has_end(&linear, 4));
  EXPECT_FALSE(dpc_schedule_has_end(&linear, 0));
  EXPECT_TRUE(dpc_schedule_has_end(&cosine, 0));
  const dpc_schedule_t constant = {DPC_LR_CONSTANT, 0, 0.3, 0, 0, 0};
  EXPECT_TRUE(dpc_schedule_has_end(&constant, 0));
  EXPECT_EQ(dpc_learning_rate(&constant, 4, 100), 0.3);
}

// A share of the schedule's own total, else of the run's, rounded up.
TEST(Schedule, WarmUpIsAShare) {
  dpc_schedule_t schedule = {DPC_LR_CONSTANT, 50000, 1.0, 0, 0, 0};
  EXPECT_FALSE(dpc_schedule_has_end(&schedule, 0));
  EXPECT_TRUE(dpc_schedule_has_end(&schedule, 100));
  EXPECT_EQ(dpc_warmup_steps(&schedule, 100), 5u);
  EXPECT_EQ(dpc_warmup_steps(&schedule, 101), 6u);
  EXPECT_EQ(dpc_warmup_steps(&schedule, uint64_t(1) << 62), 230584300921369396u);
  EXPECT_EQ(dpc_learning_rate(&schedule, 100, 2), 0.4);
  EXPECT_EQ(dpc_learning_rate(&schedule, 100, 5), 1);
  schedule.kind = DPC_LR_LINEAR, schedule.total = 40;
  EXPECT_EQ(dpc_warmup_steps(&schedule, 100), 2u);
  EXPECT_EQ(dpc_learning_rate(&schedule, 100, 21), 0.5);
}

/// A copy of the two-rank program whose tables may be changed.
struct Mutable {
  Mutable()
      : program(linear_2), ranks(linear_2.ranks, linear_2.ranks + 2),
        actions(ranks[0].entries[0].actions,
                ranks[0].entries[0].actions + ranks[0].entries[0].count),
        states(linear_2.states, linear_2.states + linear_2.state_count),
        inputs(linear_2.inputs, linear_2.inputs + linear_2.input_count),
        controls(linear_2.controls, linear_2.controls + linear_2.control_count),
        metrics(linear_2.metrics, linear_2.metrics + linear_2.metric_count) {
    ranks[0].entries[0].actions = actions.data();
    program.ranks = ranks.data();
    program.states = states.data();
    program.inputs = inputs.data();
    program.controls = controls.data();
    program.metrics = metrics.data();
  }
  /// The place of `number`, a control or metric, on rank 0.
  template <typename Number> dpc_place_t &place(Number &number) {
    places.assign(number.places, number.places + 2);
    number.places = places.data();
    return places[0];
  }
  dpc_program_t program;
  std::vector<dpc_rank_t> ranks;
  std::vector<dpc_action_t> actions;
  std::vector<dpc_state_t> states;
  std::vector<dpc_input_t> inputs;
  std::vector<dpc_control_t> controls;
  std::vector<dpc_metric_t> metrics;
  std::vector<dpc_place_t> places;
};

TEST(ProgramCheck, AcceptsTheTestPrograms) {
  EXPECT_EQ(dpc::checkProgram(linear_1, 0), DPC_OK) << dpc_last_error();
  EXPECT_EQ(dpc::checkProgram(linear_2, 0), DPC_OK) << dpc_last_error();
  EXPECT_EQ(dpc::checkProgram(linear_2, 1), DPC_OK) << dpc_last_error();
}

TEST(ProgramCheck, RefusesEveryBrokenEntry) {
  const struct {
    const char *words;
    std::function<void(Mutable &)> breakIt;
  } cases[] = {
      {"runtime ABI", [](Mutable &m) { m.program.abi_version = 99; }},
      {"runtime ABI", [](Mutable &m) { m.program.struct_size = 8; }},
      {"instruction set", [](Mutable &m) { m.program.isa = 77; }},
      {"the mesh has", [](Mutable &m) { m.program.world_size = 3; }},
      {"unknown kind", [](Mutable &m) { m.actions[2].kind = 42; }},
      {"function 9", [](Mutable &m) { m.actions[2].function = 9; }},
      {"location 9", [](Mutable &m) { m.actions[4].location = 9; }},
      {"group family 9", [](Mutable &m) { m.actions[4].group = 9; }},
      {"operation 0", [](Mutable &m) { m.actions[4].op = 0; }},
      {"event 3", [](Mutable &m) { m.actions[4].event = 3; }},
      {"event 3", [](Mutable &m) { m.actions[6].event = 3; }},
      {"unknown element type", [](Mutable &m) { m.actions[4].dtype = 0; }},
      {"outside its space", [](Mutable &m) { m.actions[4].count = 100; }},
      {"outside its space", [](Mutable &m) { m.actions[4].count = 1ull << 62; }},
      {"outside its space", [](Mutable &m) { m.actions[5].in.offset = 312; }},
      {"outside its space", [](Mutable &m) { m.actions[5].in.space = 5; }},
      {"outside its space", [](Mutable &m) { m.actions[4].in.index_stride = 1ull << 40; }},
      {"private memory", [](Mutable &m) { m.actions[5].in.space = DPC_SPACE_ARENA; }},
      {"the end of no loop", [](Mutable &m) { m.actions[3].jump = 0; }},
      {"a loop without end", [](Mutable &m) { m.actions[3].kind = DPC_ACTION_COMPUTE; }},
      {"control 0: unknown kind 5",
       [](Mutable &m) { m.controls[0].kind = DPC_CONTROL_KIND_COUNT; }},
      {"control 1: its buffer (space 0, offset 640",
       [](Mutable &m) { m.place(m.controls[1]).offset = 640; }},
      {"control 1: its buffer", [](Mutable &m) { m.controls[1].dtype = 0; }},
      {"control 1: its buffer", [](Mutable &m) { m.place(m.controls[1]).space = 2; }},
      {"coordinate on axis 0 of 2, or a sequential one",
       [](Mutable &m) {
         m.controls[2].kind = DPC_CONTROL_COORDINATE;
         m.controls[2].axis = 0;
       }},
      {"coordinate on axis 2 of 2",
       [](Mutable &m) {
         m.controls[2].kind = DPC_CONTROL_COORDINATE;
         m.controls[2].axis = 2;
       }},
      {"state fc.weight",
       [](Mutable &m) {
         static const dpc_placement_t place = {
             DPC_SPACE_SHARED, 1, 300, 4, 1, linear_2.states[0].placements[0].runs};
         m.states[0].placements = &place;
       }},
      {"state momentum",
       [](Mutable &m) {
         static const dpc_run_t run = {0, 2, 2, {1, 1}, {0, 0}, {0, 0}};
         static const dpc_placement_t place = {0, 1, 0, 2, 1, &run};
         m.states[1].placements = &place;
       }},
      {"state momentum|fc.weight: rank 1: a run",
       [](Mutable &m) {
         static const dpc_run_t run = {0, 2, 2, {1, 1}, {0, 0}, {0, 0}};
         static dpc_placement_t places[] = {m.states[1].placements[0],
                                            {DPC_SPACE_ARENA, 1, 0, 2, 1, &run}};
         m.states[1].placements = places;
       }},
      {"past tensor w.t of the ONNX file",
       [](Mutable &m) {
         static const int64_t shape[] = {2}, strides[] = {1};
         static const dpc_file_tensor_t tensor = {"w.t", DPC_HOLDS_ALL, 1, shape, strides, 0};
         m.states[0].file_tensors = &tensor;
         m.states[0].file_tensor_count = 1;
       }},
      {"past tensor w of the ONNX file",
       [](Mutable &m) {
         static const dpc_file_tensor_t tensor = {"w", 4, 0, nullptr, nullptr, 0};
         m.states[0].file_tensors = &tensor;
         m.states[0].file_tensor_count = 1;
       }},
      {"input x", [](Mutable &m) { m.inputs[0].micro_count = 3; }},
      {"input x", [](Mutable &m) { m.inputs[0].batch_dim = 2; }},
      {"input label", [](Mutable &m) { m.inputs[1].micro_stride = 1000; }},
      {"metric loss", [](Mutable &m) { m.metrics[0].holders[0] = 0, m.metrics[0].dtype = 0; }},
      {"belongs to state 9", [](Mutable &m) { m.states[1].parameter = 9; }},
      {"weighted by metric 9", [](Mutable &m) { m.metrics[0].weight = 9; }},
      {"of state 9 of",
       [](Mutable &m) {
         static const dpc_onnx_patch_t patch = {0, 4, 9, 0};
         m.program.onnx_patches = &patch;
         m.program.onnx_patch_count = 1;
       }},
      {"metric loss is on rank 5 of 2", [](Mutable &m) { m.metrics[0].holders[0] = 5; }},
      {"metric loss",
       [](Mutable &m) { m.metrics[0].holders[1] = 0, m.place(m.metrics[0]).space = DPC_NONE; }},
      {"metric loss",
       [](Mutable &m) { m.metrics[0].holders[0] = 0, m.place(m.metrics[0]).offset = 320; }},
  };
  for (const auto &broken : cases) {
    Mutable copy;
    broken.breakIt(copy);
    EXPECT_EQ(dpc::checkProgram(copy.program, 0), DPC_INVALID) << broken.words;
    EXPECT_NE(std::string(dpc_last_error()).find(broken.words), std::string::npos)
        << broken.words << ": " << dpc_last_error();
  }
}

// The shuffle visits every row once, and differs by key.
TEST(Shuffle, IsAPermutation) {
  for (uint64_t count : {1, 2, 3, 7, 64, 1000, 1025}) {
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t at = dpc::permuted(i, count, 5);
      EXPECT_LT(at, count);
      seen.insert(at);
    }
    EXPECT_EQ(seen.size(), count);
  }
  int moved = 0, same = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    moved += dpc::permuted(i, 1000, 5) != i;
    same += dpc::permuted(i, 1000, 5) == dpc::permuted(i, 1000, 6);
  }
  EXPECT_GT(moved, 980);
  EXPECT_LT(same, 20);
}

} // namespace
