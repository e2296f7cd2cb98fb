/* The tensors of a program as the host sees them: state, inputs, controls,
 * outputs and metrics; also the learning rate schedule and the source
 * locations. */
#ifndef DPC_RECORDS_H
#define DPC_RECORDS_H

#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maps pieces of a rank's buffer to pieces of the logical (global, row-major,
 * unpadded) tensor. A run is two nested loops of contiguous pieces: for i <
 * count[0] and j < count[1], the `length` elements at local + i*local_step[0] +
 * j*local_step[1] of the buffer are the elements at global + i*global_step[0] +
 * j*global_step[1] of the tensor. A single contiguous piece has counts 1, 1.
 * All numbers count elements. Elements of the buffer that no run covers are
 * padding; the runtime keeps them zero in state. */
typedef struct dpc_run_t {
  uint64_t local;
  uint64_t global;
  uint64_t length;
  uint64_t count[2];
  uint64_t local_step[2];
  uint64_t global_step[2];
} dpc_run_t;

/** The part of a tensor that a rank holds, and where it lies. Runs describe
 * shards, padding, flat storage of buckets and blocked memory layouts. */
typedef struct dpc_placement_t {
  uint32_t space;
  uint32_t owner;     /**< 1: this rank's copy may be saved; every element has at least one owner,
                           and the copies of several owners are equal */
  uint64_t offset;    /**< bytes from the start of the space */
  uint64_t elements;  /**< size of the local buffer, including padding */
  uint64_t run_count; /**< 0: the rank holds nothing */
  const dpc_run_t *runs;
} dpc_placement_t;

enum {
  DPC_STATE_PARAMETER = 0, /**< of the model; a frozen one never changes */
  DPC_STATE_BUFFER = 1,    /**< of the model: running statistics and similar state */
  DPC_STATE_OPTIMIZER = 2,
  DPC_STATE_CONSTANT = 3 /**< the compiler relied on its value, so it must not change */
};

/** Source of the initial value of a state tensor. */
enum {
  DPC_INIT_NONE = 0,     /**< none: --init-params or --resume must provide it (programs compiled
                              with --params=none) */
  DPC_INIT_EMBEDDED = 1, /**< `init_data`: the global tensor, row-major, of type init_dtype */
  DPC_INIT_SPLAT = 2,    /**< one value, `splat` */
  DPC_INIT_FILE = 3      /**< the tensor of the same name in the program's parameter file */
};

enum {
  DPC_HOLDS_ALL = 0,
  DPC_HOLDS_PART = 1,    /**< only some rows, or repeated rows: the state cannot be read from it */
  DPC_HOLDS_NOTHING = 2, /**< the exporter dropped the state because it was zero */
  DPC_HOLDS_TIED = 3     /**< not a tensor of the ONNX file, but another name that the module has
                              for a tied state; listed after all others */
};

/** A tensor of parameter files that corresponds to a parameter or buffer under
 * another name. Either the exporter changed the parameter and import restored
 * it: then this is the tensor of the ONNX file, which parameter files with the
 * ONNX file's names contain. Or the parameter is tied, and this is its other
 * name. */
typedef struct dpc_file_tensor_t {
  const char *name;
  uint32_t holds; /**< DPC_HOLDS_* */
  uint32_t dim_count;
  const int64_t *shape;
  const int64_t *strides; /**< HOLDS_ALL: [dim_count of the state] element [i, j, ..] of the state
                               is the row-major element i*strides[0] + j*strides[1] + .. of this
                               tensor */
  double shift;           /**< this tensor's elements minus the state's (0 for optimizer state) */
} dpc_file_tensor_t;

/** One logical state tensor. Its name is that of the ONNX initializer; optimizer
 * state is named "<slot>|<parameter>", for example "exp_avg|fc1.weight". Names
 * are unique. */
typedef struct dpc_state_t {
  uint32_t struct_size;
  uint32_t kind; /**< DPC_STATE_* */
  const char *name;
  uint32_t dtype;
  uint32_t dim_count;
  const int64_t *shape; /**< global, unpadded */
  uint32_t init_kind;
  uint32_t init_dtype; /**< element type of `init_data`, which is converted to dtype */
  const void *init_data;
  double splat;
  uint32_t parameter;                    /**< OPTIMIZER: index of the state record it belongs to,
                         else DPC_NONE */
  uint32_t changes;                      /**< PARAMETER, BUFFER: 1 if the step changes it */
  const dpc_placement_t *placements;     /**< [world_size] */
  const dpc_file_tensor_t *file_tensors; /**< PARAMETER, BUFFER: the corresponding tensors of the
                                              ONNX file, the preferred one first; if empty, the
                                              state has its own name there */
  uint64_t file_tensor_count;
  uint32_t unsaved;   /**< BUFFER, CONSTANT: 1 if the module's own state dict lacks it, and so
                           parameter files do */
  uint32_t reordered; /**< PARAMETER: 1 if its rows are in the order in which the graph looks them
                           up, which differs from the module's order */
} dpc_state_t;

enum {
  DPC_INPUT_GRAPH = 0, /**< a graph input, which the data file has under the same name */
  DPC_INPUT_LABEL = 1  /**< the target of a loss outside the graph, which the data file has as
                            `label`; token targets are the tokens shifted by one */
};

/** The values that the next `count` elements of a sample may have: integers in
 * [lo, hi], or `ignore`. */
typedef struct dpc_bounds_t {
  uint64_t count;
  int64_t lo, hi;
  int64_t ignore;
  uint32_t has_ignore;
  uint32_t reserved;
} dpc_bounds_t;

/** One input. `shape` is the global shape, with the complete batch B. The batch
 * is cut into `micro_count` equal consecutive parts along batch_dim. Placements
 * describe the local buffer of one such part, whose shape has B / micro_count
 * at batch_dim. In a data file samples lie along the first dimension, whatever
 * batch_dim is; if that does not fit, they lie along batch_dim. The runtime
 * fills the buffers of all parts before the first action of an entry. */
typedef struct dpc_input_t {
  uint32_t struct_size;
  uint32_t role; /**< DPC_INPUT_GRAPH, DPC_INPUT_LABEL */
  const char *name;
  uint32_t dtype;
  uint32_t dim_count;
  const int64_t *shape;
  int32_t batch_dim; /**< -1: not batched; the complete array is the same at every step */
  uint32_t reserved;
  const dpc_bounds_t *bounds;        /**< bounds of one sample's elements, row-major (of the
                                          complete array if there is no batch dimension); the counts
                                          add up to the number of these elements */
  uint64_t bounds_count;             /**< 0: all values are valid */
  uint64_t micro_count;              /**< number of parts that the batch is cut into: the program's
                                          microbatches, or 1 */
  uint64_t micro_stride;             /**< bytes from one microbatch's buffer to the next one's */
  const dpc_placement_t *placements; /**< [world_size] */
  const int64_t *logits_shape;       /**< LABEL of classes: global shape of the logits that the
                                          labels are compared with, or null */
  uint32_t logits_dim_count;
  uint32_t class_axis; /**< the axis of the logits that labels lack */
} dpc_input_t;

enum {
  DPC_CONTROL_STEP = 0,          /**< steps done before this one: 0 in the first step (Adam's t is
                                      step + 1) */
  DPC_CONTROL_SEED = 1,          /**< key of all random numbers, together with the step and the op's
                                      ordinal */
  DPC_CONTROL_LEARNING_RATE = 2, /**< rate of this step, which the schedule gives */
  DPC_CONTROL_VALID_ROWS = 3,    /**< rows of the global batch that count; fewer than the batch only
                                      in the last batch of eval */
  DPC_CONTROL_COORDINATE = 4,    /**< the rank's coordinate on the mesh axis `axis` */
  DPC_CONTROL_KIND_COUNT = 5
};

/** A number that the host writes into a rank's memory before the first action of
 * every entry. Kernels read it through a pointer like any other buffer. Only
 * coordinates differ between ranks. */
typedef struct dpc_control_t {
  uint32_t kind;   /**< DPC_CONTROL_* */
  uint32_t dtype;  /**< type of the buffer, to which the host converts the number */
  uint32_t axis;   /**< COORDINATE: index of an axis that is not sequential,
                      else DPC_NONE */
  uint32_t space;  /**< where it is written */
  uint64_t offset; /**< bytes from the start of the space */
} dpc_control_t;

/** One output of an inference program (or logits of eval, if kept). The fields
 * are as in dpc_input_t, but a sample may have several indices of batch_dim, so
 * that the extent there is a multiple of the batch. An output without a batch
 * dimension is one value for the complete batch. */
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
  DPC_METRIC_LOSS = 0,      /**< the number reported as `loss`; must be finite unless the program
                                 has a DPC_METRIC_SCALE */
  DPC_METRIC_MEAN = 1,      /**< any other mean (accuracy, ...) */
  DPC_METRIC_SUM = 2,       /**< a count or sum; added over eval batches */
  DPC_METRIC_SCALE = 3,     /**< the loss scale after the step; at least DPC_LEAST_LOSS_SCALE */
  DPC_METRIC_GEOMETRIC = 4, /**< e to the power of a mean (perplexity): over eval batches, the
                                 logarithms are averaged */
  DPC_METRIC_WHOLE = 5      /**< one number per complete batch; its mean over eval batches leaves
                                 out partial ones */
};

/** The smallest normal number of f16. A loss scale below it means that gradients
 * are not finite at any scale. */
#define DPC_LEAST_LOSS_SCALE 6.103515625e-05

/** One scalar result. When the entry ends it is already reduced over ranks and
 * microbatches. */
typedef struct dpc_metric_t {
  uint32_t struct_size;
  uint32_t kind;      /**< DPC_METRIC_* */
  const char *name;   /**< "loss", "accuracy", ... */
  const char *tensor; /**< name of the tensor that the metric is computed as, for messages */
  uint32_t dtype;
  uint32_t entry;  /**< bit set: 1 << DPC_ENTRY_STEP, ... */
  uint32_t holder; /**< the only rank whose buffer has the value; DPC_NONE: all ranks have it */
  uint32_t weight; /**< the metric by which a mean over eval batches is weighted; DPC_NONE: it is
                        weighted by valid rows */
  uint32_t space;  /**< space of the value: SHARED unless holder is DPC_NONE */
  uint32_t reserved;
  uint64_t offset;
} dpc_metric_t;

enum { DPC_LR_CONSTANT = 0, DPC_LR_LINEAR = 1, DPC_LR_COSINE = 2 };

/** Schedule of the learning rate. The rate of step s (from 0) is lr * s / warmup
 * during warm-up. Then it is constant, or it falls from lr to min_lr over the
 * steps from warmup to total, linearly or by half a cosine; after total it is
 * min_lr. A total of 0 means --steps. A warmup_ppm other than 0 replaces
 * warmup: the warm-up takes so many millionths of the total. */
typedef struct dpc_schedule_t {
  uint32_t kind;
  uint32_t warmup_ppm;
  double learning_rate;
  double min_learning_rate;
  uint64_t warmup;
  uint64_t total;
} dpc_schedule_t;

/** The part of the model that an action was made from. */
typedef struct dpc_location_t {
  const char *node;   /**< ONNX node name(s), or "bucket 0: fc3.weight, fc3.bias" */
  const char *module; /**< module path of the exporter, or "" */
} dpc_location_t;

/** A place in the ONNX template where --save-onnx inserts the value of a state
 * tensor as little-endian raw data, row-major. The saved file is the template
 * with all values inserted between its bytes. */
typedef struct dpc_onnx_patch_t {
  uint64_t offset; /**< number of template bytes before the value; patches are sorted by offset */
  uint64_t bytes;
  uint32_t state; /**< state record index */
  uint32_t dtype; /**< type in the file, to which the value is converted */
} dpc_onnx_patch_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_RECORDS_H */
