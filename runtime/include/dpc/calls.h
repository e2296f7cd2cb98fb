/* Library calls: a library may compute the results of a launch instead of the
 * launch's kernel. Each kind of library call has a header of its own, e.g.
 * product.h. The header defines a struct without pointers that describes one
 * call, and functions that compute the number and sizes of the call's buffers
 * from the struct. The compiler and the runtime use the same struct and the same
 * functions, so that they cannot disagree. */
#ifndef DPC_CALLS_H
#define DPC_CALLS_H

#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of library calls. */
enum {
  DPC_CALL_PRODUCT = 1,     /**< dpc_product_t: a product of matrices */
  DPC_CALL_CONVOLUTION = 2, /**< dpc_convolution_t: a convolution, or a gradient of one */
  DPC_CALL_KIND_COUNT = 3
};

/** A library call. The launch that makes the call lists the call's buffers as
 * entries of the param table. The kind of the call defines the order of the
 * buffers. */
typedef struct dpc_library_call_t {
  uint32_t kind;           /**< DPC_CALL_* */
  uint32_t bytes;          /**< size of the struct that the kind defines */
  const void *description; /**< the struct that the kind defines, aligned to 8 bytes */
} dpc_library_call_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_CALLS_H */
