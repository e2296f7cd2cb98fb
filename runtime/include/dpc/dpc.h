/* Functions that run a compiled program, either from another program
 * (dpc_session_*) or as its main function (dpc_main).
 *
 * A session is one rank of a run. Calls marked "collective" must be made by all
 * ranks in the same order. Only one thread at a time may use a session. No
 * function here ends the process. A function that returns a dpc_status_t reports
 * every failure by this status, with a message in dpc_last_error(). */
#ifndef DPC_DPC_H
#define DPC_DPC_H

#include "dpc/comm.h"
#include "dpc/data.h"
#include "dpc/program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dpc_session dpc_session_t;

/** Options of a session. Start from dpc_session_options_default() and change the
 * fields that differ. */
typedef struct dpc_session_options_t {
  uint32_t struct_size;
  uint32_t rank;
  uint32_t world_size; /**< must equal the world size that the program was compiled for */
  int32_t listen_fd;   /**< dpc_comm_options_t explains this field and the next five */
  const char *rendezvous;
  const char *token;
  double timeout_seconds;
  double bandwidth;
  double latency;
  uint64_t seed;               /**< key of the random numbers in the program */
  uint64_t schedule_total;     /**< steps of the entire training, for schedules whose total is 0 */
  const char *directory;       /**< the folder of the program's parameter file; null: the folder of
                                    the executable */
  const char *trace;           /**< path of the Chrome traces, one file per rank, which
                                    dpc_session_release writes; null: no trace */
  uint32_t skip_initial_state; /**< 1: states start as zero, and the caller loads them before the
                                    first step */
  uint32_t no_graphs;          /**< 1: a CUDA device receives each launch separately; 0: unless the
                                    session writes a trace, an entry is one CUDA graph, which the
                                    entry's first run captures */
  double learning_rate;        /**< replaces the base rate that the program was compiled with; all
                                    rates of the schedule change by the same factor; 0: the
                                    compiled rate */
  const char *transport;       /**< name of a transport that dpc_transport_at lists; null: the
                                    default one. A program for CUDA devices may also name "nccl". If
                                    the field is null or "nccl", NCCL moves the tensors of such a
                                    program; else the transport moves them through the hosts */
  const char *tune;            /**< path of a file that says, for each product of matrices on CUDA
                                    devices, which algorithm is the fastest. The session measures
                                    the products that the file lacks, and adds them to the file;
                                    null: cuBLASLt chooses the algorithms */
  const char *listen;          /**< dpc_comm_options_t explains this field and the next one */
  double frozen_seconds;       /**< must be equal on all ranks */
  const char *profile;         /**< path of files with the time that a CUDA device takes for each
                                    launch, one file per rank, which dpc_session_release writes.
                                    The device then receives each launch separately; null: none */
} dpc_session_options_t;

/** Sets all options to their defaults. Takes rank, world size, rendezvous and
 * token from the environment: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and the
 * variables of dpc-run, Open MPI, PMI and Slurm. The strings of the result live
 * until the process ends. */
dpc_status_t dpc_session_options_default(dpc_session_options_t *out_options);

/** Collective. Checks the program, meets the other ranks, allocates memory and
 * sets the initial state. */
dpc_status_t dpc_session_create(const dpc_program_t *program, const dpc_session_options_t *options,
                                dpc_session_t **out_session);
/** Writes the trace, leaves the run and frees the session. Does nothing for
 * null. */
void dpc_session_release(dpc_session_t *session);

const dpc_program_t *dpc_session_program(const dpc_session_t *session);
uint32_t dpc_session_rank(const dpc_session_t *session);
dpc_comm_t *dpc_session_comm(dpc_session_t *session);
/** Number of training steps done so far. A resumed run counts the steps before
 * its checkpoint too. */
uint64_t dpc_session_steps_done(const dpc_session_t *session);

/** Binds the input `name` to an array that has the entire global batch. The name
 * of a label is "label". The session converts the elements to the type of the
 * input, but an integer input takes no floats. If the input has a batch
 * dimension, samples lie along the array's first dimension, or along the input's
 * batch dimension if the shape fits only so. The array must live until the input
 * is bound again or the session is released. */
dpc_status_t dpc_session_bind_input(dpc_session_t *session, const char *name,
                                    const dpc_array_t *array);

/** Collective. Runs one training step on the bound inputs. Returns DPC_NUMERIC if
 * the loss is not finite; the step has then already changed the state. A program
 * that scales its loss (f16) instead skips a step whose loss or gradients are not
 * finite: the call halves the scale, keeps the other state and returns DPC_OK.
 * For such a program, the call returns DPC_NUMERIC only if the scale falls below
 * DPC_LEAST_LOSS_SCALE. */
dpc_status_t dpc_session_step(dpc_session_t *session);
/** Collective. Computes the metrics of one batch, in which only the first
 * `valid_rows` rows count. If the ONNX graph itself computes the loss, the batch
 * must be complete: returns DPC_INVALID if `valid_rows` is less than its size. */
dpc_status_t dpc_session_eval(dpc_session_t *session, uint64_t valid_rows);
/** Collective. Computes the outputs of one batch; dpc_session_read_output reads
 * them. */
dpc_status_t dpc_session_infer(dpc_session_t *session);

/** Value of a metric ("loss", ...) after the latest step or eval. */
dpc_status_t dpc_session_metric(const dpc_session_t *session, const char *name, double *out_value);

/** Collective. Rank 0 receives the complete logical tensor of an output or state
 * at `destination`; other ranks pass null. `destination_bytes` must be the size
 * of the tensor. */
dpc_status_t dpc_session_read_output(dpc_session_t *session, const char *name, void *destination,
                                     uint64_t destination_bytes);
dpc_status_t dpc_session_read_state(dpc_session_t *session, const char *name, void *destination,
                                    uint64_t destination_bytes);
/** Collective. Sets a state tensor; all ranks pass the same array. The array
 * must have the shape of the state. Its elements are converted to the type of
 * the state. */
dpc_status_t dpc_session_write_state(dpc_session_t *session, const char *name,
                                     const dpc_array_t *array);

/** Collective. Loads or saves parameters (frozen ones too) and buffers as a
 * safetensors file. A loaded file must have every parameter and every running
 * statistic. In place of a file, loading also accepts the folder of a
 * checkpoint (directory/step-<N>). */
dpc_status_t dpc_session_load_params(dpc_session_t *session, const char *path);
dpc_status_t dpc_session_save_params(dpc_session_t *session, const char *path);
/** Collective. Saves the model with its current parameters as an ONNX file. */
dpc_status_t dpc_session_save_onnx(dpc_session_t *session, const char *path);
/** Collective. Writes directory/step-<N>, which appears complete or not at all.
 * Each rank writes the elements that it holds, so `directory` must be the same on
 * all ranks. Of the undamaged checkpoints of this run, only the three newest
 * stay. Damaged checkpoints and checkpoints of other runs are not removed. */
dpc_status_t dpc_session_save_checkpoint(dpc_session_t *session, const char *directory);
/** Collective. Loads the newest undamaged checkpoint in `directory` that fits
 * the program and the seed. A program with other layouts, for example for
 * another mesh, may have written the checkpoint. Returns DPC_INVALID if the
 * directory has no checkpoint that fits. */
dpc_status_t dpc_session_resume(dpc_session_t *session, const char *directory);

/** The main function of a compiled program. Returns the exit code. */
int dpc_main(int argc, char **argv, const dpc_program_t *program);

#ifdef __cplusplus
}
#endif
#endif /* DPC_DPC_H */
