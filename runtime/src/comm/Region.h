#ifndef DPC_RUNTIME_SRC_COMM_REGION_H
#define DPC_RUNTIME_SRC_COMM_REGION_H

#include "dpc/status.h"

#include <cstdint>

namespace dpc {

/// Zeroed memory of a communicator that a rank allocates piece by piece; the
/// pieces are given back all at once, when the communicator is released.
class Region {
public:
  Region() = default;
  /// `start` is a multiple of DPC_ALIGNMENT.
  Region(char *start, uint64_t bytes) : start(start), bytes(bytes) {}

  /// The next `bytes`. DPC_INVALID, with both numbers, when fewer are left.
  dpc_status_t allocate(uint64_t bytes, void **outMemory);
  /// Whether [pointer, pointer + size) has been allocated.
  bool holds(const void *pointer, uint64_t size) const;

private:
  char *start = nullptr;
  uint64_t bytes = 0;
  uint64_t used = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_REGION_H
