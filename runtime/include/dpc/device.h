/* Tables of a program whose kernels run on a device. The functions of the
 * program are data instead of host code: each function is a list of launches,
 * which the rank's queue performs in order. Because launches are data, the
 * runtime can check all work of the device before the first step. */
#ifndef DPC_DEVICE_H
#define DPC_DEVICE_H

#include "dpc/calls.h"
#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of device that run launches. */
enum {
  DPC_DEVICE_HOST = 0, /**< the host simulates a device: kernels are host code */
  DPC_DEVICE_CUDA = 1, /**< kernels are functions in images and run as grids of threads */
  DPC_DEVICE_KIND_COUNT = 2
};

/** Device code that contains the functions of one or more kernels. */
typedef struct dpc_image_t {
  uint32_t kind; /**< DPC_IMAGE_* */
  uint32_t arch; /**< the lowest compute capability that runs it, as 10 * major + minor */
  const char *data;
  uint64_t bytes; /**< size of `data`; for PTX, it includes the terminating 0 */
} dpc_image_t;

enum {
  DPC_IMAGE_NONE = 0,
  DPC_IMAGE_PTX = 1,   /**< text that the driver compiles */
  DPC_IMAGE_CUBIN = 2, /**< machine code, for devices with the major number of `arch` and at least
                            its minor number */
  DPC_IMAGE_KIND_COUNT = 3,
  DPC_MAX_IMAGES = 16 /**< the most images that a kernel may have */
};

/** The code of a kernel. Launches refer to kernels by their index. */
typedef struct dpc_kernel_t {
  const char *name;                   /**< for messages: the name of the kernel in the program, and
                                           the names of the ONNX nodes that it computes */
  void (*code)(char *const *buffers); /**< HOST: buffers[i] is the address of parameter i of the
                                           launch */
  const dpc_image_t *images;          /**< CUDA: images of the same function for different devices;
                                           an image of kind DPC_IMAGE_NONE ends the list */
  const char *symbol;                 /**< CUDA: name of the function in the images */
  const void *reserved[2];
} dpc_kernel_t;

/** A parameter of a launch: a buffer that the launch reads or writes. A launch
 * accesses no other memory. The buffer lies at base[space] + offset + microbatch *
 * micro_stride + index_in_group * index_stride, where index_in_group is the
 * rank's index in its group of `family` (0 without a family). If there is a
 * `frame`, the offset of the action's frame is added. */
typedef struct dpc_param_t {
  uint32_t space;
  uint32_t family;       /**< group family, or DPC_NONE */
  uint64_t offset;       /**< bytes from the start of the space, or of the frame */
  uint64_t micro_stride; /**< bytes by which the buffer moves per microbatch */
  uint64_t index_stride; /**< bytes by which the buffer moves per index in the group */
  uint64_t bytes;        /**< size of the buffer */
  uint32_t frame;        /**< number of the action's frame, from 1; 0 without a frame */
  uint32_t reserved;
} dpc_param_t;

/** Kinds of launches. */
enum {
  DPC_LAUNCH_KERNEL = 1, /**< runs `kernel` with its parameters */
  DPC_LAUNCH_COPY = 2,   /**< copies parameter 0 to parameter 1; both have the same size and do not
                              overlap */
  DPC_LAUNCH_FILL = 3,   /**< writes an i64 to parameter 0: value + microbatch *
                           micro_step */
  DPC_LAUNCH_CALL = 4,   /**< makes the library call `call` if the runtime has a library that
                              supports it; otherwise runs `kernel` with its parameters */
  DPC_LAUNCH_KIND_COUNT = 5
};

/** One launch. Its parameters are the entries [first_param, first_param +
 * param_count) of the param table. */
typedef struct dpc_launch_t {
  uint32_t kind;   /**< DPC_LAUNCH_* */
  uint32_t kernel; /**< KERNEL, CALL: kernel table index, else DPC_NONE */
  uint64_t first_param;
  uint64_t param_count;
  int64_t value;             /**< FILL */
  int64_t micro_step;        /**< FILL */
  uint32_t blocks;           /**< CUDA, KERNEL, CALL: number of blocks in the grid */
  uint32_t threads;          /**< CUDA, KERNEL, CALL: threads per block */
  uint64_t call;             /**< CALL: call table index */
  uint64_t first_call_param; /**< CALL: param table index of the call's first buffer */
  uint64_t call_param_count; /**< CALL: number of the call's buffers, in consecutive entries */
  uint32_t shared_bytes;     /**< CUDA, KERNEL, CALL: bytes of dynamic shared memory per block */
  uint32_t reserved;
} dpc_launch_t;

/** The launches of a function: entries [first, first + count) of the launch
 * table. */
typedef struct dpc_launches_t {
  uint64_t first;
  uint64_t count;
} dpc_launches_t;

/** The tables of a program for a device. */
typedef struct dpc_device_program_t {
  uint32_t struct_size;
  uint32_t kernel_count;
  uint64_t launch_count;
  uint64_t param_count;
  const dpc_kernel_t *kernels;
  const dpc_launch_t *launches;
  const dpc_param_t *params;
  const dpc_launches_t *functions; /**< one for each entry of the program's
                                      function table */
  uint64_t kind;                   /**< DPC_DEVICE_* */
  const dpc_library_call_t *calls;
  uint64_t call_count;
  const void *reserved;
} dpc_device_program_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_DEVICE_H */
