/* A program for a device: its functions are data, not host code. Each is a list
 * of launches, which the rank's queue performs in their order. So everything
 * that a device is to do can be checked before the first step. */
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
  DPC_IMAGE_NONE = 0,
  DPC_IMAGE_PTX = 1,   /**< text that the driver compiles */
  DPC_IMAGE_CUBIN = 2, /**< machine code: for devices of the same major capability,
                          and of `arch` or later ones among them */
  DPC_IMAGE_KIND_COUNT = 3,
  DPC_MAX_IMAGES = 16 /**< of a kernel */
};

/** Code that a launch may run. */
typedef struct dpc_kernel_t {
  const char *name;                   /**< of the program's kernel and the ONNX nodes
                                         that it comes from, for messages */
  void (*code)(char *const *buffers); /**< HOST: buffers[i] is where parameter i
                                         of the launch lies */
  const dpc_image_t *images;          /**< CUDA: each has its function, for other
                                         devices; behind the last is one of
                                         DPC_IMAGE_NONE */
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

/** How the matrices of a product lie in their buffer. */
typedef struct dpc_matrix_t {
  uint64_t stride;       /**< elements between neighbouring rows, whose own elements
                            are neighbours; if transposed, between columns */
  uint64_t batch_stride; /**< elements between the matrices of neighbouring batches */
  uint32_t transposed;   /**< 0 or 1 */
  uint32_t reserved;
} dpc_matrix_t;

/** What a product adds to its sums before it stores them. */
enum {
  DPC_EPILOGUE_NONE = 0,
  DPC_EPILOGUE_ADD = 1,  /**< the element of a matrix, which may be that of the result */
  DPC_EPILOGUE_BIAS = 2, /**< the element of a vector, one for each column */
  DPC_EPILOGUE_COUNT = 3
};

/** A product of matrices, d = a b for each batch, that a library (cuBLASLt) may
 * make in place of a launch's kernel. Its buffers are those of a, b and d, the
 * workspace, and what the epilogue adds, if it does. */
typedef struct dpc_product_t {
  uint32_t dtype;    /**< DPC_F64, DPC_F32, DPC_F16 or DPC_BF16, of all matrices;
                        sums of 16-bit floats are f32 */
  uint32_t tf32;     /**< 1: factors of f32 may be rounded to tf32 */
  uint32_t epilogue; /**< DPC_EPILOGUE_* */
  uint32_t reserved;
  uint64_t batches;
  uint64_t rows;    /**< of a and d */
  uint64_t columns; /**< of b and d */
  uint64_t depth;   /**< columns of a and rows of b */
  dpc_matrix_t a, b, d;
} dpc_product_t;

/** Buffers of a product: of a, b, d, the workspace, and what its epilogue adds. */
static inline uint32_t dpc_product_buffer_count(const dpc_product_t *product) {
  return product->epilogue == DPC_EPILOGUE_NONE ? 4 : 5;
}

/** What a launch does. */
enum {
  DPC_LAUNCH_KERNEL = 1,  /**< runs `kernel` with its parameters */
  DPC_LAUNCH_COPY = 2,    /**< copies parameter 0 to parameter 1, which are of
                            one size and do not overlap */
  DPC_LAUNCH_FILL = 3,    /**< writes an i64 to parameter 0: value + microbatch *
                            micro_step */
  DPC_LAUNCH_PRODUCT = 4, /**< makes `product`, where there is a library for it;
                            else as KERNEL */
  DPC_LAUNCH_KIND_COUNT = 5
};

/** One launch. Its parameters are param table entries [first_param, first_param
 * + param_count). */
typedef struct dpc_launch_t {
  uint32_t kind;   /**< DPC_LAUNCH_* */
  uint32_t kernel; /**< KERNEL, PRODUCT: kernel table index, else DPC_NONE */
  uint64_t first_param;
  uint64_t param_count;
  int64_t value;                /**< FILL */
  int64_t micro_step;           /**< FILL */
  uint32_t blocks;              /**< CUDA, KERNEL, PRODUCT: of the grid */
  uint32_t threads;             /**< CUDA, KERNEL, PRODUCT: of a block */
  uint64_t product;             /**< PRODUCT: product table index */
  uint64_t first_product_param; /**< PRODUCT: its buffers are the param table entries
                                   from here on, as dpc_product_t counts them */
  uint64_t reserved;
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
  const dpc_product_t *products;
  uint64_t product_count;
  const void *reserved;
} dpc_device_program_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_DEVICE_H */
