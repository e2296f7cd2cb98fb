/* Reader and writer of safetensors files, in the library dpc_runtime_data. */
#ifndef DPC_SAFETENSORS_H
#define DPC_SAFETENSORS_H

#include "dpc/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Opens a safetensors file, maps it into memory and validates it. Checks the
 * header length and the JSON, and finds duplicate keys, unknown types, sizes that
 * do not fit type and shape, overlaps, holes, and bytes after the last tensor.
 * Any defect is DPC_INVALID. If the defect belongs to a tensor, the message names
 * the tensor. Use dpc_array_file_count / _at / _find / _close on the result. Its
 * tensors are in the order of their data in the file. */
dpc_status_t dpc_safetensors_open(const char *path, dpc_array_file_t **out_file);

/** Value of `key` in the file's `__metadata__`, or null if the key is missing. */
const char *dpc_safetensors_metadata(const dpc_array_file_t *file, const char *key);

/** A key and its value in the file's `__metadata__`. */
typedef struct dpc_metadata_t {
  const char *key;
  const char *value;
} dpc_metadata_t;

/** Writes a temporary file next to `path`, flushes it to the disk and renames it
 * to `path`, so that readers see either the old file or the complete new file.
 * Returns DPC_INVALID for duplicate names, and DPC_IO for a full or unwritable
 * disk. */
dpc_status_t dpc_safetensors_write(const char *path, const dpc_array_t *arrays, size_t array_count,
                                   const dpc_metadata_t *metadata, size_t metadata_count);

#ifdef __cplusplus
}
#endif
#endif /* DPC_SAFETENSORS_H */
