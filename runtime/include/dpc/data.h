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

/** An array in memory, row-major, in this machine's byte order. Points into
 * whatever owns it. */
typedef struct dpc_array_t {
  const char *name; /**< of the array in its file; "" where files have no names */
  uint32_t dtype;
  uint32_t dim_count;
  int64_t shape[DPC_MAX_RANK_DIMS];
  const void *data;
} dpc_array_t;

/** Number of elements. */
uint64_t dpc_array_elements(const dpc_array_t *array);

/** A file of arrays. */
typedef struct dpc_array_file dpc_array_file_t;

/** Opens an npz file: stored members are mapped, deflated ones inflated once
 * (and checked against their CRC). Truncated, inconsistent or oversized members
 * are DPC_INVALID; a missing or unreadable file DPC_IO. */
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
/** null is allowed */
void dpc_array_file_close(dpc_array_file_t *file);

/** Writes an npy file (version 1.0), replacing it only when complete. bf16 is
 * written as f32. */
dpc_status_t dpc_npy_write(const char *path, const dpc_array_t *array);

/** Converts `count` elements. Any type to any other; floats round to nearest
 * even, floats to integers truncate. dst and src may not overlap, except that
 * they may be equal when the types are. */
dpc_status_t dpc_convert(uint32_t dst_dtype, void *dst, uint32_t src_dtype, const void *src,
                         uint64_t count);

/** Index of the first of `count` integers outside [lo, hi] that is not *ignore
 * (null: none is ignored), or `count`. Floats are judged by their truncated
 * value, NaN is outside. */
uint64_t dpc_first_out_of_bounds(uint32_t dtype, const void *data, uint64_t count, int64_t lo,
                                 int64_t hi, const int64_t *ignore);

#ifdef __cplusplus
}
#endif
#endif /* DPC_DATA_H */
