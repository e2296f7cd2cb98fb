#ifndef DPC_RUNTIME_SRC_DATA_MEMORYMAKER_H
#define DPC_RUNTIME_SRC_DATA_MEMORYMAKER_H

#include "runtime/src/data/ArrayFile.h"

#include <functional>

namespace dpc {

/// Makes memory with computed contents (inflated data). Here: private memory,
/// filled at once. Ranks of one host override it to fill it only once.
class MemoryMaker {
public:
  using Fill = std::function<dpc_status_t(char *)>;
  virtual ~MemoryMaker() = default;
  /// Collective where ranks share: all ask for the same sizes in the same
  /// order.
  virtual dpc_status_t make(size_t bytes, const Fill &fill, Mapping *out) {
    if (dpc_status_t status = out->allocate(bytes))
      return status;
    return fill(out->data());
  }
  /// Whether this rank checks what all ranks read of one file: one is enough.
  virtual bool checks() const { return true; }
};

/// dpc_npz_open and dpc_idx_open with memory from `maker`.
dpc_status_t openNpz(const char *path, MemoryMaker &maker, dpc_array_file_t **outFile);
dpc_status_t openIdx(const char *path, MemoryMaker &maker, dpc_array_file_t **outFile);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_MEMORYMAKER_H
