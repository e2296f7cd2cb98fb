#ifndef DPC_RUNTIME_SRC_DATA_SAFETENSORSWRITER_H
#define DPC_RUNTIME_SRC_DATA_SAFETENSORSWRITER_H

#include "dpc/safetensors.h"
#include "runtime/src/base/AtomicFile.h"

#include <vector>

namespace dpc {

/// Writes a safetensors file from its beginning to its end, so that nobody need
/// have all of it.
class SafetensorsWriter {
public:
  /// The order in which a file has these arrays: the widest elements first.
  static std::vector<size_t> orderOf(const std::vector<dpc_array_t> &arrays);
  /// Begins the file: its header, without a look at the arrays' `data`.
  dpc_status_t create(const char *path, const std::vector<dpc_array_t> &arrays,
                      const dpc_metadata_t *metadata, size_t metadataCount);
  /// The next bytes of the arrays in their order.
  dpc_status_t write(const void *data, size_t bytes) { return file.write(data, bytes); }
  /// DPC_INVALID if it is not as long as the header says; as AtomicFile.
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
