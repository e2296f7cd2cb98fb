/* What the host must know of a program's tensors: state, inputs, controls,
 * outputs, metrics; and of its schedule and source. */
#ifndef DPC_RECORDS_H
#define DPC_RECORDS_H

#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maps a piece of a rank's buffer to a piece of the logical (global,
 * row-major, unpadded) tensor. Two nested loops of contiguous pieces: for i <
 * count[0], j < count[1], the `length` elements at local + i*local_step[0] +
 *  j*local_step[1] of the buffer are those at global + i*global_step[0] +
 * j*global_step[1] of the tensor. A contiguous piece has counts 1, 1. All in
 * elements. Padding is what no run names; the runtime keeps it zero in state.
 */
typedef struct dpc_run_t {
  uint64_t local;
  uint64_t global;
  uint64_t length;
  uint64_t count[2];
  uint64_t local_step[2];
  uint64_t global_step[2];
} dpc_run_t;

/** Where a rank holds (a part of) a tensor. Shards, padding, flat bucket
 * storage and blocked memory layouts are runs. */
typedef struct dpc_placement_t {
  uint32_t space;
  uint32_t owner;     /**< 1: this rank's copy may be saved (every element has an
                      owner; several have equal copies) */
  uint64_t offset;    /**< bytes from the start of the space */
  uint64_t elements;  /**< extent of the local buffer, padding included */
  uint64_t run_count; /**< 0: the rank holds nothing */
  const dpc_run_t *runs;
} dpc_placement_t;

enum {
  DPC_STATE_PARAMETER = 0, /**< of the model; frozen ones do not change */
  DPC_STATE_BUFFER = 1,    /**< of the model: running statistics and the like */
  DPC_STATE_OPTIMIZER = 2,
  DPC_STATE_CONSTANT = 3 /**< the compiler has reckoned with its value, which
                            therefore cannot be another one */
};

/** Where a state tensor's first value comes from. */
enum {
  DPC_INIT_NONE = 0,     /**< must come from --init-params or --resume (programs
                        compiled with --params=none) */
  DPC_INIT_EMBEDDED = 1, /**< `data`: the global tensor, row-major, of type init_dtype */
  DPC_INIT_SPLAT = 2,    /**< one value, `splat` */
  DPC_INIT_FILE = 3      /**< the tensor of the same name in the program's parameter file */
};

enum {
  DPC_HOLDS_ALL = 0,
  DPC_HOLDS_PART = 1,    /**< some rows, or repeated ones: the state cannot be
                            read from there */
  DPC_HOLDS_NOTHING = 2, /**< the exporter had dropped the state, being zero */
  DPC_HOLDS_TIED = 3     /**< no tensor of the file: another name that the
                              module has for the state; after all others */
};

/** Another name of a parameter or buffer in files of parameters: a tensor of
 * the ONNX file that stands for one which import put back (files that were
 * written under the file's names have it), or another name of a tied one. */
typedef struct dpc_file_tensor_t {
  const char *name;
  uint32_t holds; /**< DPC_HOLDS_* */
  uint32_t dim_count;
  const int64_t *shape;
  const int64_t *strides; /**< HOLDS_ALL: [dim_count of the state] element [i,
                             j, ..] of the state is the row-major element
                             i*strides[0] + j*strides[1] + .. of the tensor */
  double shift;           /**< which is larger by this (optimizer state is not) */
} dpc_file_tensor_t;

/** One logical state tensor. Names are the ONNX initializer names; optimizer
 * state is "<slot>|<parameter>", such as "exp_avg|fc1.weight". Names are
 * unique. */
typedef struct dpc_state_t {
  uint32_t struct_size;
  uint32_t kind; /**< DPC_STATE_* */
  const char *name;
  uint32_t dtype;
  uint32_t dim_count;
  const int64_t *shape; /**< global, unpadded */
  uint32_t init_kind;
  uint32_t init_dtype; /**< of `data`; converted to dtype when they differ */
  const void *init_data;
  double splat;
  uint32_t parameter;                    /**< OPTIMIZER: index of the state record it belongs to,
                         else DPC_NONE */
  uint32_t changes;                      /**< PARAMETER, BUFFER: 1 if the step changes it */
  const dpc_placement_t *placements;     /**< [world_size] */
  const dpc_file_tensor_t *file_tensors; /**< PARAMETER, BUFFER: where the ONNX
                                            file had it, the one to read from
                                            first; none: under its name */
  uint64_t file_tensor_count;
  uint32_t unsaved;   /**< BUFFER, CONSTANT: 1 if the module's own list of state lacks it, and
                         so files of parameters */
  uint32_t reordered; /**< PARAMETER: 1 if its rows are in the order in which the graph looks
                         them up, not the module's */
} dpc_state_t;

enum {
  DPC_INPUT_GRAPH = 0, /**< a graph input, found in the data under its name */
  DPC_INPUT_LABEL = 1  /**< the target of a loss outside the graph, found under
                          `label`; tokens arrive shifted by one */
};

/** What the next `count` elements of a sample may be: integers in [lo, hi], or
 * equal to `ignore`. */
typedef struct dpc_bounds_t {
  uint64_t count;
  int64_t lo, hi;
  int64_t ignore;
  uint32_t has_ignore;
  uint32_t reserved;
} dpc_bounds_t;

/** One input. `shape` is global, of the whole batch B; the batch is cut into
 * `micro_count` equal consecutive parts along batch_dim, and placements
 * describe the local buffer of one such part (shape with B / micro_count at
 * batch_dim). In a data file the sample is the first dimension whatever
 * batch_dim is, or where that does not fit it is batch_dim. The runtime fills
 * the buffers of all parts before the first action of an entry. */
typedef struct dpc_input_t {
  uint32_t struct_size;
  uint32_t role; /**< DPC_INPUT_GRAPH, DPC_INPUT_LABEL */
  const char *name;
  uint32_t dtype;
  uint32_t dim_count;
  const int64_t *shape;
  int32_t batch_dim; /**< -1: a whole array, the same at every step */
  uint32_t reserved;
  const dpc_bounds_t *bounds;        /**< of one sample's elements, row-major (of the
                                 whole array without a batch dimension);
                                 together as many as it has */
  uint64_t bounds_count;             /**< 0: anything goes */
  uint64_t micro_count;              /**< parts the batch is cut into: the program's
                                 microbatches, or 1 */
  uint64_t micro_stride;             /**< bytes from one microbatch's buffer to the next */
  const dpc_placement_t *placements; /**< [world_size] */
  const int64_t *logits_shape;       /**< LABEL of classes: global shape of what they
                                  are compared with, or null */
  uint32_t logits_dim_count;
  uint32_t class_axis; /**< the axis of it that labels lack */
} dpc_input_t;

enum {
  DPC_CONTROL_STEP = 0,          /**< steps already done when this one begins: 0
                                    in the first (Adam's t is step + 1) */
  DPC_CONTROL_SEED = 1,          /**< key of every random number, with the step
                                    and the op's ordinal */
  DPC_CONTROL_LEARNING_RATE = 2, /**< of this step, after the schedule */
  DPC_CONTROL_VALID_ROWS = 3,    /**< rows of the global batch that count; fewer
                                    than the batch only in eval's last batch */
  DPC_CONTROL_COORDINATE = 4,    /**< of the rank on the mesh axis `axis` */
  DPC_CONTROL_KIND_COUNT = 5
};

/** A number that the host writes into a rank's memory before the first action
 * of every entry, so that kernels read it through a pointer like any other
 * buffer. All but coordinates are equal on all ranks. */
typedef struct dpc_control_t {
  uint32_t kind;   /**< DPC_CONTROL_* */
  uint32_t dtype;  /**< of the buffer: the number is converted to it */
  uint32_t axis;   /**< COORDINATE: index of an axis that is not sequential,
                      else DPC_NONE */
  uint32_t space;  /**< where it is written */
  uint64_t offset; /**< bytes from the start of the space */
} dpc_control_t;

/** One output of an inference program (and logits of eval, where kept). Fields
 * as in dpc_input_t, but a sample may be several indices of batch_dim: its
 * extent is a multiple of the batch. Without a batch dimension it is one value
 * of the whole batch. */
typedef struct dpc_output_t {
  uint32_t struct_size;
  uint32_t dtype;
  const char *name;
  uint32_t dim_count;
  int32_t batch_dim;
  const int64_t *shape;
  uint64_t micro_count;
  uint64_t micro_stride;
  const dpc_placement_t *placements; /**< [world_size] */
} dpc_output_t;

enum {
  DPC_METRIC_LOSS = 0,      /**< the number reported as `loss`; must be finite where there is no
                          DPC_METRIC_SCALE */
  DPC_METRIC_MEAN = 1,      /**< any other mean (accuracy, ...) */
  DPC_METRIC_SUM = 2,       /**< a count or sum; added over eval batches */
  DPC_METRIC_SCALE = 3,     /**< the loss scale after the step; at least DPC_LEAST_LOSS_SCALE */
  DPC_METRIC_GEOMETRIC = 4, /**< e to a mean (perplexity): of eval batches, the logarithms have
                               a mean */
  DPC_METRIC_WHOLE = 5      /**< one number of all rows of a batch; the mean is over whole ones */
};

/** A loss scale below this, the least normal number of f16, says that gradients
 * are not finite at any scale. */
#define DPC_LEAST_LOSS_SCALE 6.103515625e-05

/** One scalar result, complete (already reduced over ranks and microbatches)
 * when the entry ends. */
typedef struct dpc_metric_t {
  uint32_t struct_size;
  uint32_t kind;      /**< DPC_METRIC_* */
  const char *name;   /**< "loss", "accuracy", ... */
  const char *tensor; /**< name of the tensor it is, for messages */
  uint32_t dtype;
  uint32_t entry;  /**< bit set: 1 << DPC_ENTRY_STEP, ... */
  uint32_t holder; /**< the rank whose buffer has the value, or DPC_NONE: all
                      have it */
  uint32_t weight; /**< means over eval batches are weighted by this metric;
                      DPC_NONE: by valid rows */
  uint32_t space;  /**< where the value is: SHARED unless holder is DPC_NONE */
  uint32_t reserved;
  uint64_t offset;
} dpc_metric_t;

enum { DPC_LR_CONSTANT = 0, DPC_LR_LINEAR = 1, DPC_LR_COSINE = 2 };

/** Learning rate of step s (from 0): during warm-up lr * s / warmup; then
 * constant, or falling from lr to min_lr over the steps from warmup to total,
 * linearly or by half a cosine; min_lr after total. total 0 means --steps.
 * warmup_ppm other than 0 stands for warmup: so many millionths of the total. */
typedef struct dpc_schedule_t {
  uint32_t kind;
  uint32_t warmup_ppm;
  double learning_rate;
  double min_learning_rate;
  uint64_t warmup;
  uint64_t total;
} dpc_schedule_t;

/** Where an action comes from. */
typedef struct dpc_location_t {
  const char *node;   /**< ONNX node name(s), or "bucket 0: fc3.weight, fc3.bias" */
  const char *module; /**< module path of the exporter, or "" */
} dpc_location_t;

/** A place in the ONNX template where --save-onnx puts the value of a state
 * tensor: little-endian raw data, row-major. The file is the template with the
 * values put in between its bytes. */
typedef struct dpc_onnx_patch_t {
  uint64_t offset; /**< bytes of the template before it; patches are in the
                      order of their offsets */
  uint64_t bytes;
  uint32_t state; /**< state record index */
  uint32_t dtype; /**< in the file; the value is converted */
} dpc_onnx_patch_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_RECORDS_H */
