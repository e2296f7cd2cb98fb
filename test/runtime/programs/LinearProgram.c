/* A produced program written by hand: linear regression y = x w, f64, momentum
 * 0.9, batch 8 in 2 microbatches over WORLD ranks (1 or 2), the momentum stored
 * in flat shards over the ranks. It has what a compiled program has (loops,
 * reduce-scatter into shards, all-gather, masks for short eval batches) in the
 * smallest form.
 *
 * DPC_TEST_FAULT=kill|stop|throw|hang:RANK:STEP makes a rank fail; with
 * DPC_TEST_FAULT_ONCE=FILE only if FILE does not exist. */
#include "dpc/dpc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  kFeatures = 3,
  kPadded = 4,
  kBatch = 8,
  kMicros = 2,
  kRows = kBatch / kMicros / WORLD,
  kShare = kPadded / WORLD
};
enum {
  kMomentumAt = 0,
  kStepAt = 64,
  kRateAt = 128,
  kRowsAt = 192,
  kLabelAt = 256,
  kLabelStride = 64,
  kInputAt = 384,
  kInputStride = 128
};
enum { kGradAt = 0, kLossAt = 64, kLossTotalAt = 128, kWeightAt = 192, kGradShareAt = 256 };

static double *at(const dpc_call_t *call, uint32_t space, uint64_t offset) {
  return (double *)(call->base[space] + offset);
}

static const double *input(const dpc_call_t *call, int row) {
  return at(call, DPC_SPACE_ARENA, kInputAt + call->micro * kInputStride) + row * kFeatures;
}

/* The step, or how many rows count. */
static uint64_t number(const dpc_call_t *call, uint64_t offset) {
  return *(const uint64_t *)(call->base[DPC_SPACE_ARENA] + offset);
}

static double error(const dpc_call_t *call, int row) {
  const double *x = input(call, row), *w = at(call, DPC_SPACE_SHARED, kWeightAt);
  const double *y = at(call, DPC_SPACE_ARENA, kLabelAt + call->micro * kLabelStride);
  return x[0] * w[0] + x[1] * w[1] + x[2] * w[2] - y[row];
}

static int32_t fail_if_asked(const dpc_call_t *call) {
  const char *fault = getenv("DPC_TEST_FAULT"), *once = getenv("DPC_TEST_FAULT_ONCE");
  char kind[8];
  unsigned rank, step;
  if (!fault || sscanf(fault, "%7[a-z]:%u:%u", kind, &rank, &step) != 3 ||
      rank != call->group_index[0] || step != number(call, kStepAt))
    return DPC_OK;
  if (once && open(once, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) < 0)
    return DPC_OK;
  if (!strcmp(kind, "throw"))
    return DPC_NUMERIC;
  while (!strcmp(kind, "hang"))
    pause();
  raise(!strcmp(kind, "kill") ? SIGKILL : SIGSTOP);
  return DPC_OK;
}

static int32_t forward_backward(dpc_call_t *call) {
  double *grad = at(call, DPC_SPACE_SHARED, kGradAt), *loss = at(call, DPC_SPACE_SHARED, kLossAt);
  for (int row = 0; row < kRows; ++row) {
    const double e = error(call, row);
    *loss += e * e / kBatch;
    for (int k = 0; k < kFeatures; ++k)
      grad[k] += 2 * e * input(call, row)[k] / kBatch;
  }
  return fail_if_asked(call);
}

static int32_t update(dpc_call_t *call) {
  const double *grad = at(call, DPC_SPACE_SHARED, kGradShareAt);
  double *momentum = at(call, DPC_SPACE_ARENA, kMomentumAt);
  double *w = at(call, DPC_SPACE_SHARED, kWeightAt) + call->group_index[1] * kShare;
  const double rate = *at(call, DPC_SPACE_ARENA, kRateAt);
  for (int k = 0; k < kShare; ++k) {
    momentum[k] = 0.9 * momentum[k] + grad[k];
    w[k] -= rate * momentum[k];
  }
  return DPC_OK;
}

static int32_t evaluate(dpc_call_t *call) {
  const uint64_t valid = number(call, kRowsAt);
  for (int row = 0; row < kRows; ++row) {
    const uint64_t global =
        call->micro * (kBatch / kMicros) + call->group_index[1] * kRows + (uint64_t)row;
    const double e = error(call, row);
    if (global < valid)
      *at(call, DPC_SPACE_SHARED, kLossAt) += e * e / (double)valid;
  }
  return DPC_OK;
}

/* The buffers, by their index in the table of a rank. */
enum {
  kMomentum,
  kStep,
  kRate,
  kValidRows,
  kLabel,
  kInput,
  kSums,
  kLossTotal,
  kWeight,
  kGradShare
};
static const dpc_logical_buffer_t buffers[] = {
    {"momentum", DPC_BUFFER_FILLED, DPC_SPACE_ARENA, kMomentumAt, kShare * 8},
    {"step", DPC_BUFFER_FILLED, DPC_SPACE_ARENA, kStepAt, 8},
    {"rate", DPC_BUFFER_FILLED, DPC_SPACE_ARENA, kRateAt, 8},
    {"rows", DPC_BUFFER_FILLED, DPC_SPACE_ARENA, kRowsAt, 8},
    {"label", DPC_BUFFER_FILLED, DPC_SPACE_ARENA, kLabelAt, kMicros *kLabelStride},
    {"x", DPC_BUFFER_FILLED, DPC_SPACE_ARENA, kInputAt, kMicros *kInputStride},
    {"sums", DPC_BUFFER_TEMPORARY, DPC_SPACE_SHARED, kGradAt, 128},
    {"loss", DPC_BUFFER_RESULT, DPC_SPACE_SHARED, kLossTotalAt, 8},
    {"weight", DPC_BUFFER_FILLED, DPC_SPACE_SHARED, kWeightAt, kPadded * 8},
    {"", DPC_BUFFER_TEMPORARY, DPC_SPACE_SHARED, kGradShareAt, kShare * 8}};

#define READ(buffer, space, at, bytes)                                                             \
  {DPC_ACCESS_READ, buffer, DPC_SPACE_##space, DPC_NONE, at, bytes, 0, 0, 0, 0}
#define WRITE(buffer, space, at, bytes)                                                            \
  {DPC_ACCESS_WRITE, buffer, DPC_SPACE_##space, DPC_NONE, at, bytes, 0, 0, 0, 0}
#define ROWS                                                                                       \
  {DPC_ACCESS_READ,                                                                                \
   kInput,                                                                                         \
   DPC_SPACE_ARENA,                                                                                \
   DPC_NONE,                                                                                       \
   kInputAt,                                                                                       \
   kRows * kFeatures * 8,                                                                          \
   kInputStride,                                                                                   \
   0,                                                                                              \
   0,                                                                                              \
   0},                                                                                             \
      {DPC_ACCESS_READ,                                                                            \
       kLabel,                                                                                     \
       DPC_SPACE_ARENA,                                                                            \
       DPC_NONE,                                                                                   \
       kLabelAt,                                                                                   \
       kRows * 8,                                                                                  \
       kLabelStride,                                                                               \
       0,                                                                                          \
       0,                                                                                          \
       0}
#define WEIGHT_SHARE(kind)                                                                         \
  {kind, kWeight, DPC_SPACE_SHARED, 1, kWeightAt, kShare * 8, 0, kShare * 8, 0, 0}
static const dpc_access_t forward_backward_accesses[] = {ROWS,
                                                         READ(kWeight, SHARED, kWeightAt, 32),
                                                         READ(kStep, ARENA, kStepAt, 8),
                                                         READ(kSums, SHARED, kGradAt, 32),
                                                         READ(kSums, SHARED, kLossAt, 8),
                                                         WRITE(kSums, SHARED, kGradAt, 32),
                                                         WRITE(kSums, SHARED, kLossAt, 8)};
static const dpc_access_t update_accesses[] = {READ(kGradShare, SHARED, kGradShareAt, kShare * 8),
                                               READ(kMomentum, ARENA, kMomentumAt, kShare * 8),
                                               READ(kRate, ARENA, kRateAt, 8),
                                               WEIGHT_SHARE(DPC_ACCESS_READ),
                                               WRITE(kMomentum, ARENA, kMomentumAt, kShare * 8),
                                               WEIGHT_SHARE(DPC_ACCESS_WRITE)};
static const dpc_access_t evaluate_accesses[] = {
    ROWS, READ(kWeight, SHARED, kWeightAt, 32), READ(kValidRows, ARENA, kRowsAt, 8),
    READ(kSums, SHARED, kLossAt, 8), WRITE(kSums, SHARED, kLossAt, 8)};
static const dpc_function_t functions[] = {
    {forward_backward, "forward_backward", DPC_ENTRY_STEP, 0, 0, 0, forward_backward_accesses, 8,
     kMicros},
    {update, "update", DPC_ENTRY_STEP, 1, 0, 0, update_accesses, 6, 1},
    {evaluate, "evaluate", DPC_ENTRY_EVAL, 0, 0, 0, evaluate_accesses, 6, kMicros}};
static const dpc_stage_t stages[] = {{"all", 1, 0, 3, 0}};
static const dpc_axis_t axes[] = {{"micro", kMicros, 1}, {"data", WORLD, 0}};
static const uint32_t world[] = {0, 1};
static const dpc_group_family_t families[] = {{"world", 1, WORLD, world},
                                              {"data", 1, WORLD, world}};
static const dpc_location_t locations[] = {{"/fc/MatMul", "model.fc"}, {"bucket 0: fc.weight", ""}};

#define NO_BUFFER {0, 0, 0, 0}
#define SHARED(buffer, offset) {DPC_SPACE_SHARED, buffer, offset, 0}
#define COMPUTE(function, flags)                                                                   \
  {DPC_ACTION_COMPUTE, flags,     function, 0, 0, 0, DPC_NONE, 0, 0, 0, 0, 0, 0, 0,                \
   NO_BUFFER,          NO_BUFFER, 0}
#define LOOP(kind, to, turns)                                                                      \
  {kind, 0, 0, 0, 0, 0, DPC_NONE, 0, 0, 0, to, DPC_NONE, turns, 0, NO_BUFFER, NO_BUFFER, 0}
#define START(op, event, count, id, in, out)                                                       \
  {DPC_ACTION_START, 0, 0, op, 0, event, 1, 0, DPC_F64, DPC_SUM, 0, 1, count, id, in, out, 0}
#define WAIT(event)                                                                                \
  {DPC_ACTION_WAIT, 0, 0, 0, 0, event, DPC_NONE, 0, 0, 0, 0, 1, 0, 0, NO_BUFFER, NO_BUFFER, 0}
#define ZERO(offset, count)                                                                        \
  {                                                                                                \
      DPC_ACTION_ZERO,                                                                             \
      0,                                                                                           \
      0,                                                                                           \
      0,                                                                                           \
      0,                                                                                           \
      0,                                                                                           \
      DPC_NONE,                                                                                    \
      0,                                                                                           \
      DPC_F64,                                                                                     \
      0,                                                                                           \
      0,                                                                                           \
      DPC_NONE,                                                                                    \
      count,                                                                                       \
      0,                                                                                           \
      NO_BUFFER,                                                                                   \
      SHARED(kSums, offset),                                                                       \
      0}

static const dpc_action_t step[] = {
    ZERO(kGradAt, 16),
    LOOP(DPC_ACTION_LOOP_BEGIN, 3, kMicros),
    COMPUTE(0, DPC_ACTION_MICRO_RELATIVE),
    LOOP(DPC_ACTION_LOOP_END, 1, 0),
    START(DPC_OP_ALL_REDUCE, 0, 1, 10, SHARED(kSums, kLossAt), SHARED(kLossTotal, kLossTotalAt)),
    START(DPC_OP_REDUCE_SCATTER, 1, kShare, 11, SHARED(kSums, kGradAt),
          SHARED(kGradShare, kGradShareAt)),
    WAIT(1),
    COMPUTE(1, 0),
    {DPC_ACTION_START,
     0,
     0,
     DPC_OP_ALL_GATHER,
     0,
     2,
     1,
     0,
     DPC_F64,
     0,
     0,
     1,
     kShare,
     12,
     {DPC_SPACE_SHARED, kWeight, kWeightAt, kShare * 8},
     SHARED(kWeight, kWeightAt),
     0},
    WAIT(2),
    WAIT(0),
};
static const dpc_action_t eval[] = {
    ZERO(kGradAt, 16),
    LOOP(DPC_ACTION_LOOP_BEGIN, 3, kMicros),
    COMPUTE(2, DPC_ACTION_MICRO_RELATIVE),
    LOOP(DPC_ACTION_LOOP_END, 1, 0),
    START(DPC_OP_ALL_REDUCE, 0, 1, 13, SHARED(kSums, kLossAt), SHARED(kLossTotal, kLossTotalAt)),
    WAIT(0),
};
#define RANK(steps)                                                                                \
  {sizeof(dpc_rank_t), 0, 3, 0, 640, 320, 1024, {{step, steps}, {eval, 6}, {0, 0}}, buffers, 10}
/* Built with BROKEN the last rank forgets its last wait. */
#ifdef BROKEN
static const dpc_rank_t ranks[] = {RANK(11), RANK(10)};
#else
static const dpc_rank_t ranks[] = {RANK(11), RANK(11)};
#endif

/* Rank r holds rows [r * kRows, (r + 1) * kRows) of each microbatch. */
#define PIECE(local, global, length) {local, global, length, {1, 1}, {0, 0}, {0, 0}}
static const dpc_run_t x_runs[] = {PIECE(0, 0, kRows *kFeatures),
                                   PIECE(0, kRows *kFeatures, kRows *kFeatures)};
static const dpc_run_t label_runs[] = {PIECE(0, 0, kRows), PIECE(0, kRows, kRows)};
static const dpc_run_t weight_runs[] = {PIECE(0, 0, kFeatures)};
static const dpc_run_t momentum_runs[] = {PIECE(0, 0, WORLD == 1 ? 3 : 2), PIECE(0, 2, 1)};
static const dpc_placement_t x_places[] = {
    {DPC_SPACE_ARENA, 0, kInputAt, kRows *kFeatures, 1, &x_runs[0]},
    {DPC_SPACE_ARENA, 0, kInputAt, kRows *kFeatures, 1, &x_runs[1]}};
static const dpc_placement_t label_places[] = {
    {DPC_SPACE_ARENA, 0, kLabelAt, kRows, 1, &label_runs[0]},
    {DPC_SPACE_ARENA, 0, kLabelAt, kRows, 1, &label_runs[1]}};
static const dpc_placement_t weight_places[] = {
    {DPC_SPACE_SHARED, 1, kWeightAt, kPadded, 1, weight_runs},
    {DPC_SPACE_SHARED, 0, kWeightAt, kPadded, 1, weight_runs}};
static const dpc_placement_t momentum_places[] = {
    {DPC_SPACE_ARENA, 1, kMomentumAt, kShare, 1, &momentum_runs[0]},
    {DPC_SPACE_ARENA, 1, kMomentumAt, kShare, 1, &momentum_runs[1]}};

static const int64_t x_shape[] = {kBatch, kFeatures}, label_shape[] = {kBatch},
                     weight_shape[] = {kFeatures};
static const float initial[] = {0.5f, -0.25f, 0};
static const dpc_state_t states[] = {
    {sizeof(dpc_state_t), DPC_STATE_PARAMETER, "fc.weight", DPC_F64, 1, weight_shape,
     DPC_INIT_EMBEDDED, DPC_F32, initial, 0, DPC_NONE, 1, weight_places, 0, 0},
    {sizeof(dpc_state_t), DPC_STATE_OPTIMIZER, "momentum|fc.weight", DPC_F64, 1, weight_shape,
     DPC_INIT_SPLAT, 0, 0, 0, 0, 0, momentum_places, 0, 0}};
static const dpc_bounds_t label_bounds[] = {{1, -1000, 1000, 0, 0, 0}};
static const dpc_input_t inputs[] = {
    {sizeof(dpc_input_t), DPC_INPUT_GRAPH, "x", DPC_F64, 2, x_shape, 0, 0, 0, 0, kMicros,
     kInputStride, x_places, 0, 0, 0},
    {sizeof(dpc_input_t), DPC_INPUT_LABEL, "label", DPC_F64, 1, label_shape, 0, 0, label_bounds, 1,
     kMicros, kLabelStride, label_places, 0, 0, 0}};
static const dpc_place_t step_places[] = {{DPC_SPACE_ARENA, 0, kStepAt},
                                          {DPC_SPACE_ARENA, 0, kStepAt}},
                         rate_places[] = {{DPC_SPACE_ARENA, 0, kRateAt},
                                          {DPC_SPACE_ARENA, 0, kRateAt}},
                         rows_places[] = {{DPC_SPACE_ARENA, 0, kRowsAt},
                                          {DPC_SPACE_ARENA, 0, kRowsAt}},
                         loss_places[] = {{DPC_SPACE_SHARED, 0, kLossTotalAt},
                                          {DPC_SPACE_SHARED, 0, kLossTotalAt}};
static const dpc_control_t controls[] = {
    {DPC_CONTROL_STEP, DPC_U64, DPC_NONE, 0, step_places},
    {DPC_CONTROL_LEARNING_RATE, DPC_F64, DPC_NONE, 0, rate_places},
    {DPC_CONTROL_VALID_ROWS, DPC_I64, DPC_NONE, 0, rows_places}};
static const dpc_metric_t metrics[] = {{sizeof(dpc_metric_t),
                                        DPC_METRIC_LOSS,
                                        "loss",
                                        "mse_loss",
                                        DPC_F64,
                                        1 << DPC_ENTRY_STEP | 1 << DPC_ENTRY_EVAL,
                                        DPC_NONE,
                                        {WORLD - 1, WORLD - 1, DPC_NONE},
                                        loss_places}};
static const uint8_t onnx_template[] = "pretend  onnx";
static const dpc_onnx_patch_t patches[] = {{8, 12, 0, DPC_F32}};

const dpc_program_t dpc_program = {sizeof(dpc_program_t),
                                   DPC_ABI_VERSION,
                                   {WORLD, 7},
                                   "linear",
                                   "dpc-compile linear.onnx",
                                   axes,
                                   2,
                                   WORLD,
                                   families,
                                   2,
                                   DPC_ISA_BASELINE,
                                   functions,
                                   stages,
                                   3,
                                   1,
                                   ranks,
                                   kBatch,
                                   kMicros,
                                   states,
                                   inputs,
                                   controls,
                                   0,
                                   metrics,
                                   2,
                                   2,
                                   3,
                                   0,
                                   1,
                                   0,
                                   {DPC_LR_CONSTANT, 0, 0.05, 0, 0, 0},
                                   locations,
                                   2,
                                   0,
                                   onnx_template,
                                   sizeof onnx_template - 1,
                                   patches,
                                   1,
                                   0,
                                   0,
                                   0,
                                   0,
                                   {0}};
