/* The main function of a compiled program whose rank does something wrong in a training step.
 *
 * DPC_TEST_FAULT=KIND:RANK:CALL:NUMBER: what the rank does in the step CALL, from 1.
 *   flip   flips bit NUMBER of its copy of the state $DPC_TEST_STATE, at the beginning
 *   sleep  sleeps for NUMBER milliseconds, at the beginning
 *   nan    writes NaN to element NUMBER of its largest sum over ranks, right before the sum starts
 *   init   begins with another bit NUMBER of $DPC_TEST_STATE (CALL is not used)
 *   max    computes a maximum in place of this sum, in every step (CALL and NUMBER are not used) */
#include "dpc/dpc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const dpc_program_t dpc_program;

static dpc_program_t program;
static dpc_fn_t function;
static dpc_action_t *sum;
static char kind[8];
static unsigned victim, first, number, calls;

static void *copy(const void *from, size_t bytes) { return memcpy(malloc(bytes), from, bytes); }

static uint32_t faulty_state(void) {
  const char *name = getenv("DPC_TEST_STATE");
  for (uint32_t s = 0; s < program.state_count; ++s)
    if (strcmp(program.states[s].name, name) == 0)
      return s;
  abort();
}

static void flip(dpc_call_t *call) {
  const dpc_placement_t *place = &program.states[faulty_state()].placements[victim];
  call->base[place->space][place->offset + number / 8] ^= 1 << number % 8;
}

static void change_initial_state(void) {
  dpc_state_t *states = copy(program.states, program.state_count * sizeof *states);
  dpc_state_t *state = &states[faulty_state()];
  size_t bytes = dpc_dtype_size(state->init_dtype);
  for (uint32_t d = 0; d < state->dim_count; ++d)
    bytes *= state->shape[d];
  if (state->init_kind != DPC_INIT_EMBEDDED || number / 8 >= bytes)
    abort();
  char *value = copy(state->init_data, bytes);
  value[number / 8] ^= 1 << number % 8;
  state->init_data = value;
  program.states = states;
}

static int32_t call_with_fault(dpc_call_t *call) {
  const int isNan = strcmp(kind, "nan") == 0, isNow = ++calls == first;
  if (isNow && strcmp(kind, "sleep") == 0)
    usleep(number * 1000);
  if (isNow && strcmp(kind, "flip") == 0)
    flip(call);
  const int32_t status = function(call);
  if (isNow && isNan)
    ((float *)(call->base[sum->in.space] + sum->in.offset))[number] = NAN;
  return status;
}

static void seed(void) {
  if (strcmp(kind, "init") == 0) {
    change_initial_state();
    return;
  }
  dpc_rank_t *ranks = copy(program.ranks, program.world_size * sizeof *ranks);
  dpc_actions_t *table = &ranks[victim].entries[DPC_ENTRY_STEP];
  dpc_action_t *actions = copy(table->actions, table->count * sizeof *actions);
  uint32_t piece = DPC_NONE, before = DPC_NONE, opening = DPC_NONE;
  for (uint64_t i = 0; i < table->count; ++i) {
    if (actions[i].kind == DPC_ACTION_COMPUTE)
      before = actions[i].function;
    if (opening == DPC_NONE)
      opening = before;
    const int adds = actions[i].op == DPC_OP_ALL_REDUCE || actions[i].op == DPC_OP_REDUCE_SCATTER;
    if (actions[i].kind != DPC_ACTION_START || !adds || (sum && actions[i].count <= sum->count))
      continue;
    sum = &actions[i];
    piece = before;
  }
  table->actions = actions;
  program.ranks = ranks;
  if (strcmp(kind, "max") == 0) {
    sum->reduction = DPC_MAX;
    return;
  }
  dpc_function_t *functions = copy(program.functions, program.function_count * sizeof *functions);
  dpc_function_t *faulty = &functions[strcmp(kind, "nan") == 0 ? piece : opening];
  function = faulty->fn;
  faulty->fn = call_with_fault;
  program.functions = functions;
}

int main(int argc, char **argv) {
  const char *fault = getenv("DPC_TEST_FAULT"), *rank = getenv("RANK");
  program = dpc_program;
  if (fault && *fault && rank) {
    if (sscanf(fault, "%7[a-z]:%u:%u:%u", kind, &victim, &first, &number) != 4)
      abort();
    if (victim == (unsigned)atoi(rank))
      seed();
  }
  return dpc_main(argc, argv, &program);
}
