/* dpc_program_t: everything that the runtime knows about a compiled program. The
 * compiler emits this record as constant data next to the generated code, under
 * the symbol `dpc_program`. All ranks use the same record. The ranks of one stage
 * of a pipeline have equal tables; a program without a pipeline has one stage. */
#ifndef DPC_PROGRAM_H
#define DPC_PROGRAM_H

#include "dpc/action.h"
#include "dpc/device.h"
#include "dpc/records.h"
#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The entries of a program: the functions that the host can call. Each rank has
 * one action table per entry. */
enum {
  DPC_ENTRY_STEP = 0,  /**< (state, batch, control) -> (state', metrics) */
  DPC_ENTRY_EVAL = 1,  /**< (state, batch, valid rows) -> metrics */
  DPC_ENTRY_INFER = 2, /**< (state, batch) -> outputs */
  DPC_ENTRY_COUNT = 3
};

/** An action table. */
typedef struct dpc_actions_t {
  const dpc_action_t *actions;
  uint64_t count; /**< 0: the program lacks this entry */
} dpc_actions_t;

/** How the host uses a logical buffer. */
enum {
  DPC_BUFFER_TEMPORARY = 0, /**< the host does not use the buffer: other buffers may use its bytes
                                 before its first write and after its last read */
  DPC_BUFFER_FILLED = 1,    /**< state, an input or a control: it has contents when an entry begins,
                                 and no other buffer uses its bytes */
  DPC_BUFFER_RESULT = 2,    /**< a metric or an output, which an entry writes: no other buffer uses
                                 its bytes */
  DPC_BUFFER_KIND_COUNT = 3
};

/** A logical buffer: one value of the program, and the bytes that hold it. An
 * access to the buffer lies inside these bytes. */
typedef struct dpc_logical_buffer_t {
  const char *name; /**< e.g. "state.fc.weight"; for a temporary, the ONNX nodes that compute it,
                         or "" */
  uint32_t kind;    /**< DPC_BUFFER_* */
  uint32_t space;
  uint64_t offset; /**< bytes from the start of the space */
  uint64_t bytes;
  uint32_t frame; /**< number, from 1, of the value that pieces of a pipeline pass each other in
                       this buffer; 0 for other buffers */
  uint32_t micro; /**< with a frame: the microbatch of the value */
} dpc_logical_buffer_t;

/** One rank's part of the program. If ranks have equal tables, their pointers may
 * point to the same tables. Sizes are in bytes. */
typedef struct dpc_rank_t {
  uint32_t struct_size;
  uint32_t stage; /**< pipeline stage, for reports */
  uint32_t event_count;
  uint32_t reserved;
  uint64_t arena_bytes;  /**< space ARENA */
  uint64_t shared_bytes; /**< space SHARED */
  uint64_t peak_bytes;   /**< the memory plan's peak use of both spaces together */
  dpc_actions_t entries[DPC_ENTRY_COUNT];
  const dpc_logical_buffer_t *buffers; /**< the table to which accesses, STARTs and ZEROs refer */
  uint64_t buffer_count;
} dpc_rank_t;

/** Instruction sets that a program may need. The runtime checks at its start that
 * the processor has the program's set. */
enum {
  DPC_ISA_BASELINE = 0,
  DPC_ISA_AVX2 = 1,       /**< x86-64-v3: AVX2, FMA, BMI, F16C */
  DPC_ISA_AVX512 = 2,     /**< x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
  DPC_ISA_AVX512_BF16 = 3 /**< those of x86-64-v4, and AVX512_BF16 */
};

/** The record of a program: the symbol `dpc_program`. Each table is an array with
 * a count beside it; `ranks` has one entry per rank. */
typedef struct dpc_program_t {
  uint32_t struct_size;  /**< sizeof(dpc_program_t) in the compiler that emitted it */
  uint32_t abi_version;  /**< DPC_ABI_VERSION */
  uint8_t plan_hash[32]; /**< identifies the program and its initial state; ranks with different
                              hashes refuse each other */
  const char *name;      /**< name of the model, for messages */
  const char *command;   /**< the compile command, for messages and checkpoints */

  const dpc_axis_t *axes;
  uint32_t axis_count;
  uint32_t world_size;
  const dpc_group_family_t *families;
  uint32_t family_count;
  uint32_t isa; /**< DPC_ISA_* */

  const dpc_function_t *functions;
  const dpc_stage_t *stages;
  uint32_t function_count;
  uint32_t stage_count;
  const dpc_rank_t *ranks; /**< [world_size] */

  uint64_t batch;        /**< B: number of rows of the global batch */
  uint64_t microbatches; /**< M: number of microbatches of a step, which divides B */

  const dpc_state_t *states;
  const dpc_input_t *inputs;
  const dpc_control_t *controls;
  const dpc_output_t *outputs;
  const dpc_metric_t *metrics;
  uint32_t state_count;
  uint32_t input_count;
  uint32_t control_count;
  uint32_t output_count;
  uint32_t metric_count;
  uint32_t reserved_count;

  dpc_schedule_t schedule;

  const dpc_location_t *locations;
  uint64_t location_count;

  const char *parameter_file; /**< the safetensors file with the values of DPC_INIT_FILE states: an
                                   absolute path, or a file name in the executable's folder; or
                                   null */

  const uint8_t *onnx_template; /**< an ONNX file without the values of state; null: --save-onnx is
                                     not available */
  uint64_t onnx_template_bytes; /**< size of the template. If there is no template: the size that
                                     the saved file would have if that is too large for an ONNX
                                     file, else 0 */
  const dpc_onnx_patch_t *onnx_patches;
  uint64_t onnx_patch_count;

  const dpc_device_program_t *device; /**< the functions of a program for a device; null: functions
                                           are host code */

  const char *machine;       /**< name of the machine for which the program was planned; null if the
                                  compiler did not record it */
  const dpc_level_t *levels; /**< the levels of its connections, from the inside out */
  uint64_t level_count;

  const void *reserved[4]; /**< null. A new field that old runtimes may ignore takes a place from
                                here, and DPC_ABI_VERSION stays: null means that the compiler did
                                not know the field */
} dpc_program_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_PROGRAM_H */
