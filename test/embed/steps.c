/* A compiled model looked at from inside its process:
 *
 *   steps DATA.npz count    trains 10 steps, prints `before M later N`: how
 * often memory was asked for up to step 1 and in steps 2 to 10 steps DATA.npz
 * edit     trains with the last computation of the action table turned into
 * nothing, prints the losses steps DATA.npz          prints the losses */
#include <dpc/dpc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const dpc_program_t dpc_program;

/* Every allocation of the process, the C library's and C++'s included. */
static volatile int later;
static int allocations[2];
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
void *malloc(size_t bytes) {
  ++allocations[later];
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  ++allocations[later];
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  ++allocations[later];
  return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations[later];
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  *out = aligned_alloc(alignment, bytes);
  return *out ? 0 : 12;
}

/* A copy of the program whose last COMPUTE action does nothing. */
static dpc_program_t edited(void) {
  dpc_program_t program = dpc_program;
  const dpc_actions_t *step = &dpc_program.ranks[0].entries[DPC_ENTRY_STEP];
  dpc_rank_t *ranks = malloc(program.world_size * sizeof *ranks);
  dpc_action_t *actions = malloc(step->count * sizeof *actions);
  memcpy(ranks, program.ranks, program.world_size * sizeof *ranks);
  memcpy(actions, step->actions, step->count * sizeof *actions);
  for (uint64_t i = step->count; i-- > 0;)
    if (actions[i].kind == DPC_ACTION_COMPUTE) {
      memset(&actions[i].out, 0, sizeof actions[i].out);
      actions[i].kind = DPC_ACTION_ZERO;
      actions[i].dtype = DPC_U8;
      actions[i].count = 0;
      break;
    }
  ranks[0].entries[DPC_ENTRY_STEP].actions = actions;
  program.ranks = ranks;
  return program;
}

int main(int argc, char **argv) {
  const char *mode = argc > 2 ? argv[2] : "";
  const dpc_program_t copy = edited();
  const dpc_program_t *program = strcmp(mode, "edit") == 0 ? &copy : &dpc_program;
  dpc_session_options_t options;
  dpc_session_t *session = NULL;
  dpc_array_file_t *data = NULL;
  dpc_status_t status = dpc_npz_open(argv[1], &data);
  if (status == DPC_OK)
    status = dpc_session_options_default(&options);
  if (status == DPC_OK)
    status = dpc_session_create(program, &options, &session);
  for (uint32_t i = 0; status == DPC_OK && i < program->input_count; ++i) {
    const dpc_input_t *input = &program->inputs[i];
    const char *name = input->role == DPC_INPUT_LABEL ? "label" : input->name;
    const dpc_array_t *array = dpc_array_file_find(data, name);
    status = array ? dpc_session_bind_input(session, name, array) : DPC_INVALID;
  }
  for (int step = 1; status == DPC_OK && step <= 10; ++step) {
    double loss = 0;
    later = step >= 2;
    status = dpc_session_step(session);
    if (status == DPC_OK)
      status = dpc_session_metric(session, "loss", &loss);
    later = 0;
    if (strcmp(mode, "count") != 0)
      printf("step %d loss %.17g\n", step, loss);
  }
  if (strcmp(mode, "count") == 0)
    printf("before %d later %d\n", allocations[0], allocations[1]);
  if (status != DPC_OK)
    fprintf(stderr, "steps: %s\n", dpc_last_error());
  dpc_session_release(session);
  dpc_array_file_close(data);
  return status;
}
