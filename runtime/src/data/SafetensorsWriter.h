#ifndef DPC_RUNTIME_SRC_DATA_SAFETENSORSWRITER_H
#define DPC_RUNTIME_SRC_DATA_SAFETENSORSWRITER_H

#include "dpc/safetensors.h"
#include "runtime/src/base/AtomicFile.h"

#include <vector>

namespace dpc {

/// Writes a safetensors file sequentially, so that no process must hold all of
/// it.
class SafetensorsWriter {
public:
  /// The order of these arrays in a file: the widest element types first.
  static std::vector<size_t> orderOf(const std::vector<dpc_array_t> &arrays);
  /// Starts the file with its header. The arrays' `data` is not read.
  dpc_status_t create(const char *path, const std::vector<dpc_array_t> &arrays,
                      const dpc_metadata_t *metadata, size_t metadataCount);
  /// Appends the next bytes of the arrays, in the order of orderOf.
  dpc_status_t write(const void *data, size_t bytes) { return file.write(data, bytes); }
  /// Finishes the file, like AtomicFile. DPC_INVALID if its length differs from
  /// the header's.
  dpc_status_t commit();
  uint64_t size() const { return file.size(); }
  uint32_t checksum() const { return file.checksum(); }

private:
  std::string path;
  AtomicFile file;
  uint64_t expected = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_SAFETENSORSWRITER_H
