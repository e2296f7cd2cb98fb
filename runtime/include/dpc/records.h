/* The tensors of a program that the host reads or writes: state, inputs,
 * controls, outputs and metrics; also the learning rate schedule and the source
 * locations. */
#ifndef DPC_RECORDS_H
#define DPC_RECORDS_H

#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maps pieces of a rank's buffer to pieces of the logical (global, row-major,
 * unpadded) tensor. A piece has `length` contiguous elements. A run has one
 * piece for each i < count[0] and j < count[1]. This piece begins at element
 * local + i*local_step[0] + j*local_step[1] of the buffer, and at element
 * global + i*global_step[0] + j*global_step[1] of the tensor. A single piece has
 * counts 1, 1. All numbers count elements. Elements of the buffer that no run
 * covers are padding, which stays zero in buffers of state. */
typedef struct dpc_run_t {
  uint64_t local;
  uint64_t global;
  uint64_t length;
  uint64_t count[2];
  uint64_t local_step[2];
  uint64_t global_step[2];
} dpc_run_t;

/** The elements of a tensor that a rank holds, and the buffer that has them.
 * Runs can describe shards, padding, the flat storage of a bucket, and blocked
 * memory layouts. */
typedef struct dpc_placement_t {
  uint32_t space;
  uint32_t owner;     /**< 1: this rank is an owner of the elements, so its copy may be saved. Every
                           element has at least one owner; if it has several, their copies are
                           equal */
  uint64_t offset;    /**< bytes from the start of the space */
  uint64_t elements;  /**< size of the local buffer, including padding */
  uint64_t run_count; /**< 0: the rank holds nothing */
  const dpc_run_t *runs;
} dpc_placement_t;

enum {
  DPC_STATE_PARAMETER = 0, /**< a parameter of the model; a frozen parameter never changes */
  DPC_STATE_BUFFER = 1,    /**< other state of the model, e.g. running statistics */
  DPC_STATE_OPTIMIZER = 2,
  DPC_STATE_CONSTANT = 3 /**< the compiler relied on the value, so it must not change */
};

/** Source of the initial value of a state tensor. */
enum {
  DPC_INIT_NONE = 0,     /**< the program has no value, because it was compiled with --params=none;
                              --init-params or --resume must provide it */
  DPC_INIT_EMBEDDED = 1, /**< `init_data`: the global tensor, row-major, of type init_dtype */
  DPC_INIT_SPLAT = 2,    /**< `splat`: all elements have this value */
  DPC_INIT_FILE = 3      /**< the tensor of the same name in the program's parameter file */
};

/** How much of a state a tensor of a file has. */
enum {
  DPC_HOLDS_ALL = 0,     /**< every element */
  DPC_HOLDS_PART = 1,    /**< only some rows, repeated rows, or too many dimensions
                              (DPC_MAX_RANK_DIMS): the state cannot be read from it */
  DPC_HOLDS_NOTHING = 2, /**< no element: the exporter dropped the state because it was zero */
  DPC_HOLDS_TIED = 3     /**< every element: this is a second name that the module (not the ONNX
                              file) has for a tied state; listed after all other tensors */
};

/** A tensor that parameter files may have in place of a parameter or buffer,
 * under another name. There are two cases. If the exporter changed the parameter
 * and import restored it, this is the changed tensor of the ONNX file. Parameter
 * files with the names of the ONNX file contain it. If the parameter is tied,
 * this is the parameter under its second name. */
typedef struct dpc_file_tensor_t {
  const char *name;
  uint32_t holds; /**< DPC_HOLDS_* */
  uint32_t dim_count;
  const int64_t *shape;
  const int64_t *strides; /**< HOLDS_ALL: [dim_count of the state] element [i, j, ..] of the state
                               is the row-major element i*strides[0] + j*strides[1] + .. of this
                               tensor */
  double shift;           /**< element of this tensor minus the corresponding element of the state
                               (0 for optimizer state) */
} dpc_file_tensor_t;

/** One logical state tensor. A parameter or buffer has the name of its ONNX
 * initializer. The optimizer state of a parameter is named "<slot>|<parameter>",
 * for example "exp_avg|fc1.weight". Names are unique. */
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
  uint32_t parameter;                    /**< OPTIMIZER: index of the parameter's state record;
                         DPC_NONE for other state and the loss scale */
  uint32_t changes;                      /**< PARAMETER, BUFFER: 1 if the step changes it */
  const dpc_placement_t *placements;     /**< [world_size] */
  const dpc_file_tensor_t *file_tensors; /**< PARAMETER, BUFFER: the tensors that files may have in
                                              place of the state, the preferred one first; if empty,
                                              every file has the state under its own name */
  uint64_t file_tensor_count;
  uint32_t unsaved;   /**< BUFFER, CONSTANT: 1 if the module's own state dict lacks the state;
                           parameter files then lack it too */
  uint32_t reordered; /**< PARAMETER: 1 if the rows are in the order in which the graph looks them
                           up, which differs from their order in the module */
} dpc_state_t;

enum {
  DPC_INPUT_GRAPH = 0, /**< an input of the ONNX graph; the data file has it under the same name */
  DPC_INPUT_LABEL = 1  /**< the target of a loss that dpc added to the graph; the data file has it
                            as `label`. In data of tokens, the target is the next token */
};

/** Bounds of `count` consecutive elements of a sample: each must be an integer
 * in [lo, hi], or `ignore`. The first record of an input is for the first
 * elements of the sample, and each further record for the elements that follow. */
typedef struct dpc_bounds_t {
  uint64_t count;
  int64_t lo, hi;
  int64_t ignore;
  uint32_t has_ignore;
  uint32_t reserved;
} dpc_bounds_t;

/** One input. `shape` is the global shape, with the complete batch B. The batch is
 * cut along batch_dim into `micro_count` equal consecutive microbatches. Placements
 * map the local buffer of one microbatch to the logical tensor of this microbatch,
 * which has the extent B / micro_count at batch_dim. In a data file, samples lie
 * along the first dimension even if batch_dim is another one. If the shape of the
 * array does not allow this, its samples may lie along batch_dim. The runtime fills
 * the buffers of all microbatches before the first action of an entry. */
typedef struct dpc_input_t {
  uint32_t struct_size;
  uint32_t role; /**< DPC_INPUT_GRAPH, DPC_INPUT_LABEL */
  const char *name;
  uint32_t dtype;
  uint32_t dim_count;
  const int64_t *shape;
  int32_t batch_dim; /**< -1: the input has no batch dimension, and its array is the same in every
                          step */
  uint32_t reserved;
  const dpc_bounds_t *bounds;        /**< bounds of the elements of one sample, row-major. Without a
                                          batch dimension, the complete array is the sample. The
                                          counts of all records add up to the size of a sample */
  uint64_t bounds_count;             /**< 0: all values are valid */
  uint64_t micro_count;              /**< number of microbatches that the batch is cut into: either
                                          the program's number, or 1 */
  uint64_t micro_stride;             /**< bytes from one microbatch's buffer to the next one's */
  const dpc_placement_t *placements; /**< [world_size] */
  const int64_t *logits_shape;       /**< LABEL that has class numbers: global shape of the logits
                                          that the loss compares with the label; otherwise null */
  uint32_t logits_dim_count;
  uint32_t class_axis; /**< the dimension of the logits that runs over classes; labels lack it */
} dpc_input_t;

enum {
  DPC_CONTROL_STEP = 0,          /**< number of steps before the current one: 0 in the first step
                                      (Adam's t is this number + 1) */
  DPC_CONTROL_SEED = 1,          /**< the run's seed; a random number depends on the seed, the step,
                                      the number of the op, and the index of the element */
  DPC_CONTROL_LEARNING_RATE = 2, /**< learning rate of the current step, from the schedule */
  DPC_CONTROL_VALID_ROWS = 3,    /**< number of rows of the global batch that are samples: less than
                                      the batch size if a last batch has too few samples */
  DPC_CONTROL_COORDINATE = 4,    /**< the rank's coordinate on the mesh axis `axis` */
  DPC_CONTROL_KIND_COUNT = 5
};

/** The buffer of a number in the memory of one rank. */
typedef struct dpc_place_t {
  uint32_t space; /**< DPC_NONE: the rank has no buffer */
  uint32_t reserved;
  uint64_t offset; /**< bytes from the start of the space */
} dpc_place_t;

/** A number that the host writes into a rank's memory before the first action of
 * every entry. For kernels the number is a buffer like any other. All ranks get
 * the same numbers except DPC_CONTROL_COORDINATE. */
typedef struct dpc_control_t {
  uint32_t kind;  /**< DPC_CONTROL_* */
  uint32_t dtype; /**< type of the buffer, to which the host converts the number */
  uint32_t axis;  /**< COORDINATE: index of an axis that is not sequential,
                     else DPC_NONE */
  uint32_t reserved;
  const dpc_place_t *places; /**< [world_size] the buffer that the host writes on each rank */
} dpc_control_t;

/** One output of an inference program. The fields are as in dpc_input_t, with one
 * difference: the extent of batch_dim may be a multiple of the batch size B. Then
 * each sample has extent / B consecutive indices of batch_dim. An output without
 * a batch dimension is one value for the complete batch. */
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
  DPC_METRIC_LOSS = 0,      /**< the number that reports call `loss`. A loss that is not finite
                                 stops the run, unless the program has a DPC_METRIC_SCALE */
  DPC_METRIC_MEAN = 1,      /**< any other mean over samples, e.g. accuracy */
  DPC_METRIC_SUM = 2,       /**< a count or sum; evaluation adds the values of its batches */
  DPC_METRIC_SCALE = 3,     /**< the loss scale after the step. A scale below DPC_LEAST_LOSS_SCALE
                                 stops the run */
  DPC_METRIC_GEOMETRIC = 4, /**< e to the power of a mean, e.g. perplexity; evaluation averages the
                                 logarithms of its batches' values */
  DPC_METRIC_WHOLE = 5      /**< one number per complete batch; evaluation averages the values of
                                 its complete batches and ignores a last, smaller batch */
};

/** The smallest normal number of f16. A loss scale below this number means that
 * gradients are not finite at any scale. */
#define DPC_LEAST_LOSS_SCALE 6.103515625e-05

/** One scalar result of an entry. When the entry ends, the buffer already has the
 * value for all ranks and microbatches together. */
typedef struct dpc_metric_t {
  uint32_t struct_size;
  uint32_t kind;      /**< DPC_METRIC_* */
  const char *name;   /**< "loss", "accuracy", ... */
  const char *tensor; /**< for messages: name of the tensor that has the value of the metric */
  uint32_t dtype;
  uint32_t entry;  /**< the entries that compute the metric: a sum of 1 << DPC_ENTRY_STEP, ... */
  uint32_t weight; /**< index of the metric whose value is the weight of a batch in a mean over eval
                        batches; DPC_NONE: the weight is the number of valid rows */
  uint32_t holders[3]; /**< for each DPC_ENTRY_*: the rank from whose buffer the host reads the
                            value; DPC_NONE: each rank has it in its own buffer */
  const dpc_place_t *places; /**< [world_size] the buffer of each rank */
} dpc_metric_t;

enum { DPC_LR_CONSTANT = 0, DPC_LR_LINEAR = 1, DPC_LR_COSINE = 2 };

/** Schedule of the learning rate. During warm-up, the rate of step s (from 0) is
 * learning_rate * s / warmup. After warm-up, a constant schedule stays at
 * learning_rate. The other schedules fall from learning_rate at step `warmup` to
 * min_learning_rate at step `total`, linearly or along half a cosine wave, and
 * stay there. A total of 0 means the number of --steps. If warmup_ppm is not 0,
 * it replaces warmup: the warm-up then has total * warmup_ppm / 1,000,000 steps. */
typedef struct dpc_schedule_t {
  uint32_t kind;
  uint32_t warmup_ppm;
  double learning_rate;
  double min_learning_rate;
  uint64_t warmup;
  uint64_t total;
} dpc_schedule_t;

/** The part of the model that an action belongs to. */
typedef struct dpc_location_t {
  const char *node;   /**< names of ONNX nodes, or e.g. "bucket 0: fc3.weight, fc3.bias" */
  const char *module; /**< path of the PyTorch module, as the exporter wrote it, or "" */
} dpc_location_t;

/** A position in the ONNX template where --save-onnx inserts the value of a state
 * tensor as little-endian raw data, row-major. The saved file is the bytes of the
 * template with all values inserted. */
typedef struct dpc_onnx_patch_t {
  uint64_t offset; /**< number of template bytes before the value; patches are sorted by offset */
  uint64_t bytes;
  uint32_t state; /**< index of the state record */
  uint32_t dtype; /**< type of the value in the file; the runtime converts the state to it */
} dpc_onnx_patch_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_RECORDS_H */
