/* Running a compiled program: from another program (dpc_session_*), or as its
 * main function (dpc_main).
 *
 * A session is one rank of a run. Calls marked "collective" are made by all
 * ranks in the same order. A session is used by one thread at a time; nothing
 * here ends the process. Every failure is a status, its text in
 * dpc_last_error(). */
#ifndef DPC_DPC_H
#define DPC_DPC_H

#include "dpc/comm.h"
#include "dpc/data.h"
#include "dpc/program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dpc_session dpc_session_t;

/** Start from dpc_session_options_default() and change what differs. */
typedef struct dpc_session_options_t {
  uint32_t struct_size;
  uint32_t rank;
  uint32_t world_size; /**< must be the program's */
  int32_t listen_fd;   /**< see dpc_comm_options_t */
  const char *rendezvous;
  const char *token;
  double timeout_seconds;
  double bandwidth;
  double latency;
  uint64_t seed;               /**< of random numbers in the program */
  uint64_t schedule_total;     /**< steps of the whole training, for schedules whose
                              total is 0 */
  const char *directory;       /**< where the program's parameter file lies; null:
                              where the executable lies */
  const char *trace;           /**< Chrome trace written at release, one file a rank;
                        null: none */
  uint32_t skip_initial_state; /**< 1: states start as zero, to be loaded before
                                  the first step */
  uint32_t no_graphs;          /**< 1: a device gets each launch by itself; else an entry
                            is one piece of work, which it keeps (without trace) */
  double learning_rate;        /**< in place of the base rate that the program was
                            compiled with, by which the whole schedule scales;
                            0: that rate */
  const char *transport;       /**< a name of dpc_transport_at; null: the default. In a
                            program for CUDA devices tensors then go through
                            the hosts by it; null or "nccl": by NCCL */
  const char *tune;            /**< a file that says how products of matrices are made
                        fastest on CUDA devices; what is not there is measured first,
                        and added; null: as cuBLASLt chooses */
} dpc_session_options_t;

/** Defaults, with rank, world size, rendezvous and token from the environment:
 * RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and the variables of dpc-run, Open
 * MPI, PMI and Slurm. Strings live until the process ends. */
dpc_status_t dpc_session_options_default(dpc_session_options_t *out_options);

/** Collective. Checks the program, meets the other ranks, takes memory, sets
 * the initial state. */
dpc_status_t dpc_session_create(const dpc_program_t *program, const dpc_session_options_t *options,
                                dpc_session_t **out_session);
/** Writes the trace, leaves the run and frees everything. null is allowed. */
void dpc_session_release(dpc_session_t *session);

const dpc_program_t *dpc_session_program(const dpc_session_t *session);
uint32_t dpc_session_rank(const dpc_session_t *session);
dpc_comm_t *dpc_session_comm(dpc_session_t *session);
/** Steps done so far. */
uint64_t dpc_session_steps_done(const dpc_session_t *session);

/** Binds input `name` (a label: "label") to an array of the whole global batch,
 * of any type that converts; for input with a batch dimension the sample is the
 * array's first dimension. The array must live until it is bound anew. */
dpc_status_t dpc_session_bind_input(dpc_session_t *session, const char *name,
                                    const dpc_array_t *array);

/** Collective. One training step on the bound inputs. DPC_NUMERIC when the loss
 * is not finite (the step is done). A program that scales its loss (f16) skips such
 * a step and halves the scale instead: DPC_OK, until the scale is too small. */
dpc_status_t dpc_session_step(dpc_session_t *session);
/** Collective. Metrics of one batch, of which the first `valid_rows` rows
 * count. DPC_INVALID for fewer than the batch has if the program takes its loss
 * from the graph, which computes it of whole batches. */
dpc_status_t dpc_session_eval(dpc_session_t *session, uint64_t valid_rows);
/** Collective. Outputs of one batch. */
dpc_status_t dpc_session_infer(dpc_session_t *session);

/** Value of a metric ("loss", ...) after the latest step or eval. */
dpc_status_t dpc_session_metric(const dpc_session_t *session, const char *name, double *out_value);

/** Collective. Assembles a logical output or state tensor of the program at
 * `destination` on rank 0 (others pass null). `destination_bytes` must be its
 * size. */
dpc_status_t dpc_session_read_output(dpc_session_t *session, const char *name, void *destination,
                                     uint64_t destination_bytes);
dpc_status_t dpc_session_read_state(dpc_session_t *session, const char *name, void *destination,
                                    uint64_t destination_bytes);
/** Collective; the array is the same on all ranks. Converts to the state's
 * type; the shape must be equal. */
dpc_status_t dpc_session_write_state(dpc_session_t *session, const char *name,
                                     const dpc_array_t *array);

/** Collective. Parameters (frozen ones too) and buffers from / to a safetensors
 * file; loading needs every parameter and running statistic, and takes the
 * folder of a checkpoint (directory/step-<N>) too. */
dpc_status_t dpc_session_load_params(dpc_session_t *session, const char *path);
dpc_status_t dpc_session_save_params(dpc_session_t *session, const char *path);
/** Collective. The model with its present parameters as an ONNX file. */
dpc_status_t dpc_session_save_onnx(dpc_session_t *session, const char *path);
/** Collective. Writes directory/step-<N>, complete or not at all, each rank what
 * it holds: the directory must be the same on all. Keeps the three newest sound
 * ones of this run, and all that others wrote. */
dpc_status_t dpc_session_save_checkpoint(dpc_session_t *session, const char *directory);
/** Collective. Loads the newest undamaged checkpoint that fits the program and
 * the seed, under whatever layout it was written. DPC_INVALID if there is
 * none. */
dpc_status_t dpc_session_resume(dpc_session_t *session, const char *directory);

/** The main function of a produced program. Returns its exit code. */
int dpc_main(int argc, char **argv, const dpc_program_t *program);

#ifdef __cplusplus
}
#endif
#endif /* DPC_DPC_H */
