/* The main function of a compiled program with a fault in a piece of its pipeline.
 *
 * DPC_TEST_FAULT=kill|stop|hang:RANK:FUNCTION:CALL:COUNT: the rank sends itself SIGKILL or SIGSTOP
 * when it begins call CALL (from 1) of the function whose name contains FUNCTION, and again at each
 * of the next COUNT - 1 calls. With `hang` this call never returns, but the process runs.
 * DPC_TEST_ENDINGS=FOLDER: each rank that returns from dpc_main writes its exit code and its last
 * error to FOLDER/RANK. */
#include "dpc/dpc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const dpc_program_t dpc_program;

static dpc_fn_t function;
static unsigned calls, first, count;
static int signal_number; /* 0: the call hangs */

static int32_t call_with_fault(dpc_call_t *call) {
  ++calls;
  if (calls >= first && calls < first + count) {
    if (signal_number)
      raise(signal_number);
    while (!signal_number)
      pause();
  }
  return function(call);
}

/* Replaces the function that the fault names, if the fault is of this rank. */
static void seed(dpc_program_t *program, const char *fault, const char *rank) {
  char kind[8], name[100];
  unsigned victim;
  if (sscanf(fault, "%7[a-z]:%u:%99[^:]:%u:%u", kind, &victim, name, &first, &count) != 5)
    abort();
  if (victim != (unsigned)atoi(rank))
    return;
  signal_number = !strcmp(kind, "kill") ? SIGKILL : !strcmp(kind, "stop") ? SIGSTOP : 0;
  const size_t bytes = program->function_count * sizeof(dpc_function_t);
  dpc_function_t *functions = memcpy(malloc(bytes), program->functions, bytes);
  uint32_t f = 0;
  while (!strstr(functions[f].name, name))
    if (++f == program->function_count)
      abort();
  function = functions[f].fn;
  functions[f].fn = call_with_fault;
  program->functions = functions;
}

int main(int argc, char **argv) {
  const char *fault = getenv("DPC_TEST_FAULT"), *endings = getenv("DPC_TEST_ENDINGS");
  const char *rank = getenv("RANK");
  dpc_program_t program = dpc_program;
  if (fault && rank)
    seed(&program, fault, rank);
  const int code = dpc_main(argc, argv, &program);
  if (endings && rank) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", endings, rank);
    FILE *file = fopen(path, "w");
    if (!file || fprintf(file, "%d %s\n", code, dpc_last_error()) < 0 || fclose(file))
      abort();
  }
  return code;
}
