/* A product of matrices as a library call (calls.h). */
#ifndef DPC_PRODUCT_H
#define DPC_PRODUCT_H

#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Layout in memory of the matrices of a product. */
typedef struct dpc_matrix_t {
  uint64_t stride;       /**< elements from one row to the next (if transposed, from one column to
                              the next); the elements of a row (column) are contiguous */
  uint64_t batch_stride; /**< elements from one batch's matrix to the next */
  uint32_t transposed;   /**< 0 or 1 */
  uint32_t reserved;
} dpc_matrix_t;

/** The term that a product adds to its sums before it stores them. */
enum {
  DPC_EPILOGUE_NONE = 0,
  DPC_EPILOGUE_ADD = 1,  /**< an element of a matrix, which may be the result's own buffer */
  DPC_EPILOGUE_BIAS = 2, /**< an element of a vector with one element per column */
  DPC_EPILOGUE_COUNT = 3
};

/** The buffers of a product, in their order. */
enum {
  DPC_PRODUCT_A = 0,
  DPC_PRODUCT_B = 1,
  DPC_PRODUCT_D = 2,
  DPC_PRODUCT_WORKSPACE = 3, /**< scratch memory of the library, of any size */
  DPC_PRODUCT_ADDEND = 4,    /**< the term of the epilogue; absent if there is no epilogue */
  DPC_PRODUCT_MOST_BUFFERS = 5
};

/** A product of matrices, d = a b for each batch, as cuBLASLt computes it. */
typedef struct dpc_product_t {
  uint32_t dtype;    /**< DPC_F64, DPC_F32, DPC_F16 or DPC_BF16, of all matrices; products of 16-bit
                          floats are accumulated in f32 */
  uint32_t tf32;     /**< 1: factors of f32 may be rounded to tf32 */
  uint32_t epilogue; /**< DPC_EPILOGUE_* */
  uint32_t reserved;
  uint64_t batches;
  uint64_t rows;    /**< of a and of d */
  uint64_t columns; /**< of b and of d */
  uint64_t depth;   /**< columns of a and rows of b */
  dpc_matrix_t a, b, d;
} dpc_product_t;

/** A buffer of a product as one matrix per batch. A bias is a matrix of one
 * row; the workspace has no rows. */
typedef struct dpc_product_part_t {
  dpc_matrix_t matrix;
  uint64_t rows, columns;
} dpc_product_part_t;

/** Number of buffers of a product. */
static inline uint32_t dpc_product_buffer_count(const dpc_product_t *product) {
  return product->epilogue == DPC_EPILOGUE_NONE ? 4 : 5;
}

/** Bytes of an element; 0 if no library multiplies matrices of the type. */
static inline uint64_t dpc_product_element_bytes(const dpc_product_t *product) {
  switch (product->dtype) {
  case DPC_F64:
    return 8;
  case DPC_F32:
    return 4;
  case DPC_F16:
  case DPC_BF16:
    return 2;
  default:
    return 0;
  }
}

/** Whether a library multiplies matrices of the type. */
static inline int dpc_product_has_type(const dpc_product_t *product) {
  return dpc_product_element_bytes(product) != 0 &&
         (product->tf32 == 0 || (product->tf32 == 1 && product->dtype == DPC_F32));
}

/** Whether the numbers of batches, rows, columns and terms are in the range
 * that libraries support. */
static inline int dpc_product_has_extents(const dpc_product_t *product) {
  const uint64_t extents[4] = {product->batches, product->rows, product->columns, product->depth};
  for (int i = 0; i < 4; ++i)
    if (extents[i] < 1 || extents[i] > INT32_MAX)
      return 0;
  return 1;
}

/** Whether all fields are valid, apart from the layouts of the matrices: these
 * are valid if dpc_product_buffer_bytes is less than UINT64_MAX. */
static inline int dpc_product_is_valid(const dpc_product_t *product) {
  return dpc_product_has_type(product) && dpc_product_has_extents(product) &&
         product->epilogue < DPC_EPILOGUE_COUNT;
}

/** The matrix in buffer DPC_PRODUCT_*. */
static inline dpc_product_part_t dpc_product_part(const dpc_product_t *product, uint32_t buffer) {
  dpc_product_part_t part = {{0, 0, 0, 0}, 0, product->columns};
  if (buffer == DPC_PRODUCT_WORKSPACE)
    return part;
  if (buffer == DPC_PRODUCT_ADDEND && product->epilogue != DPC_EPILOGUE_ADD) {
    part.matrix.stride = product->columns;
    part.rows = 1;
    return part;
  }
  part.matrix = buffer == DPC_PRODUCT_A   ? product->a
                : buffer == DPC_PRODUCT_B ? product->b
                                          : product->d;
  part.rows = buffer == DPC_PRODUCT_B ? product->depth : product->rows;
  part.columns = buffer == DPC_PRODUCT_A ? product->depth : product->columns;
  return part;
}

/** Fewest bytes that buffer DPC_PRODUCT_* must have. UINT64_MAX if the rows of
 * its matrix overlap or no memory holds it. The product must be valid. */
static inline uint64_t dpc_product_buffer_bytes(const dpc_product_t *product, uint32_t buffer) {
  const dpc_product_part_t part = dpc_product_part(product, buffer);
  const dpc_matrix_t matrix = part.matrix;
  const uint64_t lines = matrix.transposed ? part.columns : part.rows;
  const uint64_t length = matrix.transposed ? part.rows : part.columns;
  /* Each of the three terms of the sum is at most 2^58, so that the sum times
   * 8 bytes does not overflow. */
  const uint64_t most = UINT64_MAX >> 6;
  if (part.rows == 0)
    return 0;
  if (matrix.transposed > 1 || matrix.stride < length || matrix.stride > most / lines ||
      matrix.batch_stride > most / product->batches)
    return UINT64_MAX;
  return ((product->batches - 1) * matrix.batch_stride + (lines - 1) * matrix.stride + length) *
         dpc_product_element_bytes(product);
}

#ifdef __cplusplus
}
#endif
#endif /* DPC_PRODUCT_H */
