/* Trains a compiled model from a C program: feeds it the batches of a data
 * file, in file order, and prints the loss of every step.
 *
 *   embed DATA.npz STEPS         one rank
 *   dpc-run -n 2 ./embed ...     two, of a model compiled with --mesh=data=2
 *
 * Each array of the file has the name of an input of the model. The array of the
 * labels, which the loss compares with the model's output, is called `label`. */
#include <dpc/dpc.h>

#include <stdio.h>
#include <stdlib.h>

/* The compiled model: made by dpc-compile --emit=object or --emit=shared. */
extern const dpc_program_t dpc_program;

/* Binds every input to its rows of batch `step`. The data starts again from the
 * first row when fewer rows than a batch are left. */
static dpc_status_t bind_batch(dpc_session_t *session, const dpc_array_file_t *data,
                               uint64_t step) {
  const dpc_program_t *program = dpc_session_program(session);
  for (uint32_t i = 0; i < program->input_count; ++i) {
    const dpc_input_t *input = &program->inputs[i];
    const char *name = input->role == DPC_INPUT_LABEL ? "label" : input->name;
    const dpc_array_t *whole = dpc_array_file_find(data, name);
    dpc_array_t batch;
    if (!whole) {
      fprintf(stderr, "the data has no array %s\n", name);
      return DPC_INVALID;
    }
    batch = *whole;
    if (input->batch_dim >= 0) {
      const uint64_t rows = (uint64_t)whole->shape[0], batches = rows / program->batch;
      if (batches == 0) {
        fprintf(stderr, "array %s has fewer samples than a batch\n", name);
        return DPC_INVALID;
      }
      const uint64_t bytes = dpc_array_elements(whole) / rows * dpc_dtype_size(whole->dtype);
      batch.shape[0] = (int64_t)program->batch;
      batch.data = (const char *)whole->data + step % batches * program->batch * bytes;
    }
    dpc_status_t status = dpc_session_bind_input(session, name, &batch);
    if (status != DPC_OK)
      return status;
  }
  return DPC_OK;
}

static dpc_status_t train(dpc_session_t *session, const dpc_array_file_t *data, uint64_t steps) {
  for (uint64_t step = 0; step < steps; ++step) {
    double loss = 0;
    dpc_status_t status = bind_batch(session, data, step);
    if (status == DPC_OK)
      status = dpc_session_step(session);
    if (status == DPC_OK)
      status = dpc_session_metric(session, "loss", &loss);
    if (status != DPC_OK)
      return status;
    if (dpc_session_rank(session) == 0)
      printf("step %llu loss %.17g\n", (unsigned long long)step + 1, loss);
  }
  return DPC_OK;
}

int main(int argc, char **argv) {
  dpc_session_options_t options;
  dpc_session_t *session = NULL;
  dpc_array_file_t *data = NULL;
  if (argc != 3) {
    fprintf(stderr, "usage: embed DATA.npz STEPS\n");
    return DPC_USAGE;
  }
  dpc_status_t status = dpc_npz_open(argv[1], &data);
  if (status == DPC_OK)
    status = dpc_session_options_default(&options);
  if (status == DPC_OK)
    status = dpc_session_create(&dpc_program, &options, &session);
  if (status == DPC_OK)
    status = train(session, data, strtoull(argv[2], NULL, 10));
  if (status != DPC_OK)
    fprintf(stderr, "embed: %s\n", dpc_last_error());
  dpc_session_release(session);
  dpc_array_file_close(data);
  return status;
}
