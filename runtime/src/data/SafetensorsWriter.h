#ifndef DPC_RUNTIME_SRC_DATA_SAFETENSORSWRITER_H
#define DPC_RUNTIME_SRC_DATA_SAFETENSORSWRITER_H

#include "dpc/safetensors.h"
#include "runtime/src/base/AtomicFile.h"

#include <vector>

namespace dpc {

/// Writes a safetensors file from its beginning to its end, so that the process need
/// not have all tensors in memory.
class SafetensorsWriter {
public:
  /// The order in which a file has these arrays: the widest element types first.
  static std::vector<size_t> orderOf(const std::vector<dpc_array_t> &arrays);
  /// Creates the file and writes its header. Does not read the `data` of the arrays.
  dpc_status_t create(const char *path, const std::vector<dpc_array_t> &arrays,
                      const dpc_metadata_t *metadata, size_t metadataCount);
  /// Appends the next bytes of the arrays, in the order of orderOf.
  dpc_status_t write(const void *data, size_t bytes) { return file.write(data, bytes); }
  /// Finishes the file, which appears at its path only now (see AtomicFile). Returns
  /// DPC_INVALID if the number of written bytes differs from the header.
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
