/* Products of matrices, a kind of library call (calls.h). */
#ifndef DPC_PRODUCT_H
#define DPC_PRODUCT_H

#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Layout in memory of one operand or result of a product: a matrix per batch
 * element. */
typedef struct dpc_matrix_t {
  uint64_t stride;       /**< elements from the start of a row to the start of the next, if the
                              elements of each row are contiguous; if `transposed`, the same for
                              columns */
  uint64_t batch_stride; /**< elements from the matrix of one batch element to the next */
  uint32_t transposed;   /**< 0: rows are contiguous; 1: columns are contiguous */
  uint32_t reserved;
} dpc_matrix_t;

/** The epilogue: the term that the library adds to each element of the product
 * before it stores the element. */
enum {
  DPC_EPILOGUE_NONE = 0,
  DPC_EPILOGUE_ADD = 1,  /**< the element of a matrix at the same position; the matrix may lie in
                              the buffer of the result */
  DPC_EPILOGUE_BIAS = 2, /**< the element of a vector that belongs to the same column */
  DPC_EPILOGUE_COUNT = 3
};

/** The buffers of a product, in the order of the call's buffers. */
enum {
  DPC_PRODUCT_A = 0,
  DPC_PRODUCT_B = 1,
  DPC_PRODUCT_D = 2,
  DPC_PRODUCT_WORKSPACE = 3, /**< scratch memory of the library, of any size */
  DPC_PRODUCT_ADDEND = 4, /**< the matrix or vector of the epilogue; absent without an epilogue */
  DPC_PRODUCT_MOST_BUFFERS = 5
};

/** A product of matrices: d = a b, plus the epilogue, for each batch element.
 * cuBLASLt can compute it. */
typedef struct dpc_product_t {
  uint32_t dtype;    /**< type of the elements of a and b: DPC_F64, DPC_F32, DPC_F16 or DPC_BF16;
                          sums of 16-bit floats are accumulated in f32 */
  uint32_t tf32;     /**< 1: the elements of a and b, of type f32, may be rounded to tf32; else 0 */
  uint32_t epilogue; /**< DPC_EPILOGUE_* */
  uint32_t result_dtype; /**< type of the elements of d and of the addend: `dtype`, or DPC_F32 if
                              `dtype` has 16 bits */
  uint64_t batches;
  uint64_t rows;    /**< of a and of d */
  uint64_t columns; /**< of b and of d */
  uint64_t depth;   /**< columns of a and rows of b */
  dpc_matrix_t a, b, d;
} dpc_product_t;

/** The matrices that one buffer of a product holds, one per batch element. A
 * bias counts as a matrix of one row, and the workspace as a matrix without
 * rows. */
typedef struct dpc_product_part_t {
  dpc_matrix_t matrix;
  uint64_t rows, columns;
} dpc_product_part_t;

/** Number of buffers of a product: 4, or 5 if the epilogue reads an addend. */
static inline uint32_t dpc_product_buffer_count(const dpc_product_t *product) {
  return product->epilogue == DPC_EPILOGUE_NONE ? 4 : 5;
}

/** Bytes of an element of type `dtype`; 0 if no library multiplies matrices of this element
 * type. */
static inline uint64_t dpc_product_type_bytes(uint32_t dtype) {
  switch (dtype) {
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

/** Bytes of an element in the buffer with the number `buffer` (DPC_PRODUCT_*, but not
 * the workspace). */
static inline uint64_t dpc_product_element_bytes(const dpc_product_t *product, uint32_t buffer) {
  return dpc_product_type_bytes(
      buffer == DPC_PRODUCT_A || buffer == DPC_PRODUCT_B ? product->dtype : product->result_dtype);
}

/** Whether a library multiplies matrices of this element type, with the rounding
 * that `tf32` requests. */
static inline int dpc_product_has_type(const dpc_product_t *product) {
  return dpc_product_type_bytes(product->dtype) != 0 &&
         (product->tf32 == 0 || (product->tf32 == 1 && product->dtype == DPC_F32));
}

/** Whether a library stores the results of a product in their type: the type of the factors,
 * or f32 for factors of 16 bits. */
static inline int dpc_product_has_result_type(const dpc_product_t *product) {
  return product->result_dtype == product->dtype ||
         (product->result_dtype == DPC_F32 && dpc_product_type_bytes(product->dtype) == 2);
}

/** Whether `batches`, `rows`, `columns` and `depth` are in the range that
 * libraries support, 1 to INT32_MAX. */
static inline int dpc_product_has_extents(const dpc_product_t *product) {
  const uint64_t extents[4] = {product->batches, product->rows, product->columns, product->depth};
  for (int i = 0; i < 4; ++i)
    if (extents[i] < 1 || extents[i] > INT32_MAX)
      return 0;
  return 1;
}

/** Whether all fields except a, b and d are valid. To check the layout of a
 * matrix, test that dpc_product_buffer_bytes of its buffer is not UINT64_MAX. */
static inline int dpc_product_is_valid(const dpc_product_t *product) {
  return dpc_product_has_type(product) && dpc_product_has_result_type(product) &&
         dpc_product_has_extents(product) && product->epilogue < DPC_EPILOGUE_COUNT;
}

/** The matrices in the buffer with the number `buffer` (DPC_PRODUCT_*). */
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

/** The least size in bytes of the buffer with the number `buffer` (DPC_PRODUCT_*).
 * UINT64_MAX if the layout of its matrix is invalid: `transposed` is neither 0 nor
 * 1, the rows (columns, if transposed) overlap, or the matrix is larger than any
 * memory. dpc_product_is_valid must hold. */
static inline uint64_t dpc_product_buffer_bytes(const dpc_product_t *product, uint32_t buffer) {
  const dpc_product_part_t part = dpc_product_part(product, buffer);
  const dpc_matrix_t matrix = part.matrix;
  const uint64_t lines = matrix.transposed ? part.columns : part.rows;
  const uint64_t length = matrix.transposed ? part.rows : part.columns;
  /* The checks below limit each of the three terms of the sum to 2^58. The sum
   * times 8 bytes, the largest element, is then less than 2^64. */
  const uint64_t most = UINT64_MAX >> 6;
  if (part.rows == 0)
    return 0;
  if (matrix.transposed > 1 || matrix.stride < length || matrix.stride > most / lines ||
      matrix.batch_stride > most / product->batches)
    return UINT64_MAX;
  return ((product->batches - 1) * matrix.batch_stride + (lines - 1) * matrix.stride + length) *
         dpc_product_element_bytes(product, buffer);
}

#ifdef __cplusplus
}
#endif
#endif /* DPC_PRODUCT_H */
