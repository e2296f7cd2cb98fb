/* Readers and writers of array files. Library dpc_runtime_data; needs nothing
 * else of the runtime. */
#ifndef DPC_DATA_H
#define DPC_DATA_H

#include "dpc/status.h"
#include "dpc/types.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An array in memory, row-major, in this machine's byte order. It does not own
 * its name and data: they belong to a file or to the caller. */
typedef struct dpc_array_t {
  const char *name; /**< its name in the file; "" if the format has no names */
  uint32_t dtype;
  uint32_t dim_count;
  int64_t shape[DPC_MAX_RANK_DIMS];
  const void *data;
} dpc_array_t;

/** Number of elements: the product of the extents. */
uint64_t dpc_array_elements(const dpc_array_t *array);

/** An open file of arrays. */
typedef struct dpc_array_file dpc_array_file_t;

/** Opens an npz file. Stored members are mapped; deflated ones are inflated once
 * and checked against their CRC. A truncated, inconsistent or oversized member
 * is DPC_INVALID, a missing or unreadable file DPC_IO. */
dpc_status_t dpc_npz_open(const char *path, dpc_array_file_t **out_file);
/** Opens an npy file, mapped. Its one array has the name "". */
dpc_status_t dpc_npy_open(const char *path, dpc_array_file_t **out_file);
/** Opens an idx file (MNIST's format), gzip-compressed or not. */
dpc_status_t dpc_idx_open(const char *path, dpc_array_file_t **out_file);
/** Opens headerless elements of `dtype`, mapped, as one dimension. */
dpc_status_t dpc_raw_open(const char *path, uint32_t dtype, dpc_array_file_t **out_file);

size_t dpc_array_file_count(const dpc_array_file_t *file);
/** Array `index`, or null past the end. Valid until the file is closed. */
const dpc_array_t *dpc_array_file_at(const dpc_array_file_t *file, size_t index);
/** The array of that name, or null. */
const dpc_array_t *dpc_array_file_find(const dpc_array_file_t *file, const char *name);
/** Closes the file, which invalidates its arrays; null is allowed. */
void dpc_array_file_close(dpc_array_file_t *file);

/** Writes an npy file (version 1.0) and replaces an old file only when the new
 * one is complete. bf16 is written as f32. */
dpc_status_t dpc_npy_write(const char *path, const dpc_array_t *array);

/** Converts `count` elements from any type to any other. Floats round to nearest
 * even; conversions from float to integer truncate. dst and src must not
 * overlap, except that they may be equal if the types are equal. */
dpc_status_t dpc_convert(uint32_t dst_dtype, void *dst, uint32_t src_dtype, const void *src,
                         uint64_t count);

/** Index of the first of `count` integers that is outside [lo, hi] and different
 * from *ignore (null: no value is ignored), or `count` if there is none. Floats
 * are truncated before the comparison; NaN counts as outside. */
uint64_t dpc_first_out_of_bounds(uint32_t dtype, const void *data, uint64_t count, int64_t lo,
                                 int64_t hi, const int64_t *ignore);

#ifdef __cplusplus
}
#endif
#endif /* DPC_DATA_H */
