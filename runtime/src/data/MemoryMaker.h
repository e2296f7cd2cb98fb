#ifndef DPC_RUNTIME_SRC_DATA_MEMORYMAKER_H
#define DPC_RUNTIME_SRC_DATA_MEMORYMAKER_H

#include "runtime/src/data/ArrayFile.h"

#include <functional>

namespace dpc {

/// Allocates memory with computed contents (inflated data). This base class
/// allocates private memory and fills it at once. A derived class lets the
/// ranks of one host share memory that is filled once.
class MemoryMaker {
public:
  using Fill = std::function<dpc_status_t(char *)>;
  virtual ~MemoryMaker() = default;
  /// Allocates and fills memory. Collective if ranks share it: then all request
  /// the same sizes in the same order.
  virtual dpc_status_t make(size_t bytes, const Fill &fill, Mapping *out) {
    if (dpc_status_t status = out->allocate(bytes))
      return status;
    return fill(out->data());
  }
  /// Whether this rank checks files that all ranks read. One rank is enough.
  virtual bool checks() const { return true; }
};

/// As dpc_npz_open and dpc_idx_open, but with memory from `maker`.
dpc_status_t openNpz(const char *path, MemoryMaker &maker, dpc_array_file_t **outFile);
dpc_status_t openIdx(const char *path, MemoryMaker &maker, dpc_array_file_t **outFile);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_MEMORYMAKER_H
