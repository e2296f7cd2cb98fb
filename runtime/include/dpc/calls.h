/* Library calls: a library may compute the results of a launch instead of the
 * launch's kernel. Each kind of call has a struct in a header of its own, such
 * as product.h, which describes the call without pointers, and functions that
 * compute the number and sizes of its buffers from the struct. The compiler
 * and the runtime use the same struct and the same functions. */
#ifndef DPC_CALLS_H
#define DPC_CALLS_H

#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of library calls. */
enum {
  DPC_CALL_PRODUCT = 1, /**< dpc_product_t: a product of matrices */
  DPC_CALL_KIND_COUNT = 2
};

/** A library call. Its buffers are parameters of the launch; the kind defines
 * their order. */
typedef struct dpc_library_call_t {
  uint32_t kind;           /**< DPC_CALL_* */
  uint32_t bytes;          /**< size of the kind's struct */
  const void *description; /**< the kind's struct, aligned to 8 bytes */
} dpc_library_call_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_CALLS_H */
