/* The action table of an entry (step, eval or infer): everything that one rank
 * does in one call of the entry, in order. Only actions call the functions of a
 * program. */
#ifndef DPC_ACTION_H
#define DPC_ACTION_H

#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The argument of a function of host code. The runtime reuses the struct for
 * later calls, so a function must not keep a pointer to the struct. */
typedef struct dpc_call_t {
  uint32_t struct_size;
  uint32_t micro;              /**< number of the microbatch that this action computes */
  char *base[DPC_SPACE_COUNT]; /**< start of each space; null if the program has
                                  no bytes in the space */
  const uint32_t *group_index; /**< [family_count] this rank's index in its
                                  group of each family */
  const void *args;            /**< the action's `args` */
} dpc_call_t;

/** A buffer that an action passes to its function: a frame. A function for the
 * pieces of a pipeline runs for many microbatches, and each of them has frames of
 * its own. */
typedef struct dpc_frame_t {
  uint64_t offset; /**< bytes from the start of the space, which is the same for all actions */
  uint32_t buffer; /**< the logical buffer that contains the frame: index into the rank's table of
                        buffers */
  uint32_t reserved;
} dpc_frame_t;

/** What a function does with a buffer. */
enum {
  DPC_ACCESS_READ = 1,    /**< reads bytes that were written before */
  DPC_ACCESS_WRITE = 2,   /**< writes every byte of the range */
  DPC_ACCESS_SCRATCH = 3, /**< scratch: the contents before and after the call have no meaning */
  DPC_ACCESS_KIND_COUNT = 4
};

/** The bytes of a logical buffer that a function reads or writes. They begin at
 * offset + microbatch * micro_stride + index_in_group * index_stride of the
 * space, where index_in_group is the rank's index in its group of `family` (0
 * without a family). If there is a `frame`, they begin that many bytes after the
 * start of the frame, and the frame says which buffer they belong to. The runtime does not execute
 * accesses, because generated code and launches have their own copy of these numbers. Only the
 * proof of the plan (runtime/src/plan) reads accesses. This proof steps through the action tables
 * of all ranks without running them. */
typedef struct dpc_access_t {
  uint32_t kind;   /**< DPC_ACCESS_* */
  uint32_t buffer; /**< index into the rank's table of buffers; with a frame, the buffer that the
                        first call of the function gets as this frame */
  uint32_t space;
  uint32_t family;       /**< group family, or DPC_NONE */
  uint64_t offset;       /**< bytes from the start of the space, or of the frame */
  uint64_t bytes;        /**< size of the accessed range */
  uint64_t micro_stride; /**< bytes by which the range moves per microbatch */
  uint64_t index_stride; /**< bytes by which the range moves per index in the group */
  uint32_t launch;       /**< index of the kernel or copy, among those of the function, that makes
                              the access; each kernel or copy reads before it writes */
  uint32_t frame;        /**< number of the action's frame, from 1; 0 without a frame */
} dpc_access_t;

/** A function of host code. Returns a dpc_status_t. A status other than DPC_OK
 * stops the run. */
typedef int32_t (*dpc_fn_t)(dpc_call_t *call);

/** One entry of the program's function table. */
typedef struct dpc_function_t {
  dpc_fn_t fn;                  /**< host code; null in a program for a device, whose functions are
                       lists of launches (dpc/device.h) */
  const char *name;             /**< for traces: "step.0", ... */
  uint32_t entry;               /**< DPC_ENTRY_* of the action table that calls the function */
  uint32_t piece;               /**< number of the function in its entry, from 0; a function has the
                                     launches between two actions of other kinds, e.g. between START
                                     and WAIT */
  uint32_t stage;               /**< index into the stage table */
  uint32_t chunk;               /**< chunk of that stage; a stage has several chunks only in an
                       interleaved pipeline schedule */
  const dpc_access_t *accesses; /**< all reads and writes of the function, in the order of its
                                     launches */
  uint64_t access_count;
  uint64_t runs; /**< number of times that one call of the entry calls the function: the calls
                      compute the microbatches 0, 1, .. in this order */
  uint32_t frame_count; /**< number of frames that each action passes to the function */
  uint32_t reserved;
} dpc_function_t;

/** One pipeline stage: its functions are function table entries
 * [first_function, first_function + function_count). */
typedef struct dpc_stage_t {
  const char *name;
  uint32_t chunk_count;
  uint32_t first_function;
  uint32_t function_count;
  uint32_t reserved;
} dpc_stage_t;

/** Place of a buffer. Its address is base[space] + offset + index_in_group *
 * index_stride, where index_in_group is the rank's index in the action's group
 * (0 if the action has no group). */
typedef struct dpc_buffer_t {
  uint32_t space;        /**< DPC_SPACE_* */
  uint32_t buffer;       /**< the logical buffer that contains these bytes: index into the
                            rank's table of buffers */
  uint64_t offset;       /**< bytes from the start of the space */
  uint64_t index_stride; /**< bytes by which the buffer moves per index in the group, for example to
                              a rank's own shard of a gathered buffer */
} dpc_buffer_t;

/** Kinds of action. A START action starts one of the operations in this table.
 * The columns `in` and `out` give the number of elements of each buffer, with n
 * = group size. Part i of a buffer begins at its element i * count.
 *
 *  | kind           | in          | out         | note                                                     |
 *  |----------------|-------------|-------------|----------------------------------------------------------|
 *  | ALL_REDUCE     | count       | count       | in may equal out                                         |
 *  | REDUCE_SCATTER | n * count   | count       | member i gets the sum of part i; out may be part i of in |
 *  | ALL_GATHER     | count       | n * count   | in may be part i of out                                  |
 *  | BROADCAST      | count       | count       | only the root has an input; in may equal out             |
 *  | REDUCE         | count       | count       | only the root has an output                              |
 *  | GATHER         | count       | n * count   | only the root has an output                              |
 *  | SCATTER        | n * count   | count       | only the root has an input                               |
 *  | ALL_TO_ALL     | n * count   | n * count   | part j goes to member j; in and out must not overlap     |
 *  | BARRIER        | -           | -           |                                                          |
 *  | SEND / RECV    | count / -   | - / count   | `peer` is the index of the other rank in the group       |
 *
 * All members of a group start a collective with the same kind, dtype,
 * reduction, count, root and buffer_id, and start their collectives in the same
 * order. The buffers of collectives, SEND and RECV lie in the space SHARED. On a
 * device, the operations of a rank move one after another in the order of their
 * STARTs. So two ranks that both send to each other first wait for ever there.
 * Between a START and its WAIT the program does not write `in` and does not
 * read or write `out`. */
enum {
  DPC_ACTION_COMPUTE = 1,    /**< run function table entry `function` */
  DPC_ACTION_START = 2,      /**< start the communication `op`, which the WAIT of `event` ends */
  DPC_ACTION_WAIT = 3,       /**< wait until the communication of `event` is complete on this rank;
                                  then the program may read `out` and write `in` */
  DPC_ACTION_ZERO = 4,       /**< zero `count` elements of `dtype` at out */
  DPC_ACTION_LOOP_BEGIN = 5, /**< run the actions up to the matching LOOP_END
                                `count` times (possibly 0) */
  DPC_ACTION_LOOP_END = 6,   /**< `jump` = index of the matching LOOP_BEGIN;
                                LOOP_BEGIN's jump = index of its LOOP_END */
  DPC_ACTION_KIND_COUNT = 7
};

/** Communication operations of DPC_ACTION_START. */
enum {
  DPC_OP_ALL_REDUCE = 1,
  DPC_OP_REDUCE_SCATTER = 2,
  DPC_OP_ALL_GATHER = 3,
  DPC_OP_BROADCAST = 4,
  DPC_OP_REDUCE = 5,
  DPC_OP_GATHER = 6,
  DPC_OP_SCATTER = 7,
  DPC_OP_ALL_TO_ALL = 8,
  DPC_OP_BARRIER = 9,
  DPC_OP_SEND = 10,
  DPC_OP_RECV = 11,
  DPC_OP_COUNT = 12
};

/** Action flags. */
enum {
  /** The microbatch of the action is the innermost loop's counter plus `micro`.
   * Without this flag, the microbatch is `micro`. */
  DPC_ACTION_MICRO_RELATIVE = 1
};

/** One action. Loops nest at most 4 deep. Loops keep the table small: its size
 * does not depend on the number of microbatches. */
typedef struct dpc_action_t {
  uint32_t kind;     /**< DPC_ACTION_* */
  uint32_t flags;    /**< DPC_ACTION_MICRO_RELATIVE, ... */
  uint32_t function; /**< COMPUTE: function table index */
  uint32_t op;       /**< START: DPC_OP_* */
  int32_t micro;     /**< microbatch, see flags */
  uint32_t event;    /**< START, WAIT: a number below the rank's event_count; a START and its WAIT
                        have the same number */
  uint32_t group;    /**< START (and ZERO with an index_stride): group family,
                        else DPC_NONE */
  uint32_t peer;     /**< index in the group: the root of a rooted collective, or the other end of
                          SEND and RECV */
  uint32_t dtype;
  uint32_t reduction; /**< DPC_SUM, ... */
  uint32_t jump;      /**< LOOP_BEGIN, LOOP_END: action index */
  uint32_t location;  /**< index into the location table, or DPC_NONE */
  uint64_t count;     /**< elements, see the table above; LOOP_BEGIN: iterations */
  uint64_t buffer_id; /**< identifies the logical buffer (for example bucket 3); all members of the
                           group must give the same number */
  dpc_buffer_t in;
  dpc_buffer_t out;
  const void *args; /**< COMPUTE: dpc_frame_t[frame_count of the function], or null: the frames of
                         this action */
} dpc_action_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_ACTION_H */
