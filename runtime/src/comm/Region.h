#ifndef DPC_RUNTIME_SRC_COMM_REGION_H
#define DPC_RUNTIME_SRC_COMM_REGION_H

#include "dpc/status.h"

#include <cstdint>

namespace dpc {

/// Zeroed memory of a communicator. A rank allocates pieces of this memory. All
/// pieces are freed together, when the communicator is released.
class Region {
public:
  Region() = default;
  /// `start` must be a multiple of DPC_ALIGNMENT.
  Region(char *start, uint64_t bytes) : start(start), bytes(bytes) {}

  /// Allocates the next `bytes` bytes. Returns DPC_INVALID if fewer bytes are left,
  /// with a message that says how many.
  dpc_status_t allocate(uint64_t bytes, void **outMemory);
  /// Whether [pointer, pointer + size) lies in allocated memory.
  bool holds(const void *pointer, uint64_t size) const;

private:
  char *start = nullptr;
  uint64_t bytes = 0;
  uint64_t used = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_REGION_H
