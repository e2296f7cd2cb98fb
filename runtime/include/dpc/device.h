/* A program for a device: its functions are data, not host code. Each is a list
 * of launches, which the rank's queue performs in their order. So everything
 * that a device is to do can be checked before the first step.
 *
 * Products that a library computes are not there yet: reserved fields are for
 * them. */
#ifndef DPC_DEVICE_H
#define DPC_DEVICE_H

#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The device that the launches are for. */
enum {
  DPC_DEVICE_HOST = 0, /**< the host plays it: kernels are host code */
  DPC_DEVICE_CUDA = 1, /**< kernels are functions in images, in grids of threads */
  DPC_DEVICE_KIND_COUNT = 2
};

/** Code for a device, with all functions of one or more kernels. */
typedef struct dpc_image_t {
  uint32_t kind; /**< DPC_IMAGE_* */
  uint32_t arch; /**< 10 * major + minor of the oldest device that it runs on */
  const char *data;
  uint64_t bytes; /**< with the 0 at the end of a text */
} dpc_image_t;

enum {
  DPC_IMAGE_PTX = 1, /**< text that the driver compiles */
  DPC_IMAGE_KIND_COUNT = 2
};

/** Code that a launch may run. */
typedef struct dpc_kernel_t {
  const char *name;                   /**< of the program's kernel, for messages */
  void (*code)(char *const *buffers); /**< HOST: buffers[i] is where parameter i
                                         of the launch lies */
  const dpc_image_t *image;           /**< CUDA: where its function is */
  const char *symbol;                 /**< CUDA: the function's name there */
  const void *reserved[2];
} dpc_kernel_t;

/** A buffer that a launch reads or writes, and nothing else. It lies at
 * base[space] + offset + microbatch * micro_stride + index_in_group *
 * index_stride, where index_in_group is the rank's index in its group of
 * `family` (0 without one). */
typedef struct dpc_param_t {
  uint32_t space;
  uint32_t family;       /**< group family, or DPC_NONE */
  uint64_t offset;       /**< bytes from the start of the space */
  uint64_t micro_stride; /**< bytes that a microbatch moves it */
  uint64_t index_stride; /**< bytes that a group index moves it */
  uint64_t bytes;        /**< of the buffer */
} dpc_param_t;

/** What a launch does. */
enum {
  DPC_LAUNCH_KERNEL = 1, /**< runs `kernel` with its parameters */
  DPC_LAUNCH_COPY = 2,   /**< copies parameter 0 to parameter 1, which are of
                            one size and do not overlap */
  DPC_LAUNCH_FILL = 3,   /**< writes an i64 to parameter 0: value + microbatch *
                            micro_step */
  DPC_LAUNCH_KIND_COUNT = 4
};

/** One launch. Its parameters are param table entries [first_param, first_param
 * + param_count). */
typedef struct dpc_launch_t {
  uint32_t kind;   /**< DPC_LAUNCH_* */
  uint32_t kernel; /**< KERNEL: kernel table index, else DPC_NONE */
  uint64_t first_param;
  uint64_t param_count;
  int64_t value;      /**< FILL */
  int64_t micro_step; /**< FILL */
  uint32_t blocks;    /**< CUDA, KERNEL: of the grid */
  uint32_t threads;   /**< CUDA, KERNEL: of a block */
  uint64_t reserved[3];
} dpc_launch_t;

/** The launches of a function: launch table entries [first, first + count). */
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
  const void *reserved[3];
} dpc_device_program_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_DEVICE_H */
