/* Readers and writers of array files, in the library dpc_runtime_data. The
 * library needs no other part of the runtime. */
#ifndef DPC_DATA_H
#define DPC_DATA_H

#include "dpc/status.h"
#include "dpc/types.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An array in memory, row-major, in this machine's byte order. The struct does
 * not own its name and data: these belong to an open file or to the caller. */
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

/** Opens an npz file, which is a zip archive of npy files (its members). Maps
 * members that are stored uncompressed, and inflates compressed members once.
 * Checks the CRC of every member. Returns DPC_INVALID for a truncated,
 * inconsistent or oversized member, and DPC_IO for a missing or unreadable
 * file. */
dpc_status_t dpc_npz_open(const char *path, dpc_array_file_t **out_file);
/** Opens an npy file and maps it into memory. Its only array has the name "". */
dpc_status_t dpc_npy_open(const char *path, dpc_array_file_t **out_file);
/** Opens an idx file (MNIST's format), gzip-compressed or not. */
dpc_status_t dpc_idx_open(const char *path, dpc_array_file_t **out_file);
/** Opens a file that consists of elements of type `dtype` without a header, and
 * maps it into memory as a one-dimensional array. */
dpc_status_t dpc_raw_open(const char *path, uint32_t dtype, dpc_array_file_t **out_file);

size_t dpc_array_file_count(const dpc_array_file_t *file);
/** Array number `index` of the file, or null if the file has fewer arrays. The
 * result is valid until the file is closed. */
const dpc_array_t *dpc_array_file_at(const dpc_array_file_t *file, size_t index);
/** The array of the file called `name`, or null if the file has none. */
const dpc_array_t *dpc_array_file_find(const dpc_array_file_t *file, const char *name);
/** Closes the file, which invalidates its arrays. Does nothing for null. */
void dpc_array_file_close(dpc_array_file_t *file);

/** Writes an npy file (version 1.0). Replaces an old file at `path` only when
 * the new file is complete. An array of bf16 is written as f32, because npy has
 * no bf16. */
dpc_status_t dpc_npy_write(const char *path, const dpc_array_t *array);

/** Converts `count` elements from any type to any other. Conversions to a float
 * type round to nearest even, to bf16 by way of f32. Conversions from float to
 * integer truncate, saturate, and turn NaN into 0. dst and src must not overlap,
 * but if the types are equal, dst may be src. */
dpc_status_t dpc_convert(uint32_t dst_dtype, void *dst, uint32_t src_dtype, const void *src,
                         uint64_t count);

/** Index of the first of `count` elements that is out of bounds, or `count` if
 * all are in bounds. An element is in bounds if it is in [lo, hi] or equals
 * *ignore. A null `ignore` means that no value is ignored. Floats are truncated
 * before the comparison, and NaN is out of bounds. */
uint64_t dpc_first_out_of_bounds(uint32_t dtype, const void *data, uint64_t count, int64_t lo,
                                 int64_t hi, const int64_t *ignore);

#ifdef __cplusplus
}
#endif
#endif /* DPC_DATA_H */
