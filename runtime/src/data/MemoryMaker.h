#ifndef DPC_RUNTIME_SRC_DATA_MEMORYMAKER_H
#define DPC_RUNTIME_SRC_DATA_MEMORYMAKER_H

#include "runtime/src/data/ArrayFile.h"

#include <functional>

namespace dpc {

/// Allocates memory and fills it with contents that must be computed, for example
/// with inflated data. This base class allocates private memory. In the derived
/// class RankZeroMemory, one rank fills the memory for all ranks.
class MemoryMaker {
public:
  using Fill = std::function<dpc_status_t(char *)>;
  virtual ~MemoryMaker() = default;
  /// Allocates memory and calls `fill` for it. Collective if one rank fills the
  /// memory for all: then all ranks must request the same sizes in the same order.
  virtual dpc_status_t make(size_t bytes, const Fill &fill, Mapping *out) {
    if (dpc_status_t status = out->allocate(bytes))
      return status;
    return fill(out->data());
  }
  /// Whether this rank checks the checksums of files that all ranks read. It is
  /// enough if one rank checks them.
  virtual bool checks() const { return true; }
};

/// Like dpc_npz_open and dpc_idx_open, but inflated data is in memory from `maker`.
dpc_status_t openNpz(const char *path, MemoryMaker &maker, dpc_array_file_t **outFile);
dpc_status_t openIdx(const char *path, MemoryMaker &maker, dpc_array_file_t **outFile);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_MEMORYMAKER_H
