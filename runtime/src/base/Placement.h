#ifndef DPC_RUNTIME_SRC_BASE_PLACEMENT_H
#define DPC_RUNTIME_SRC_BASE_PLACEMENT_H

#include "dpc/records.h"

#include <cstdint>

namespace dpc {

/// Calls piece(local, global, length) for every contiguous piece of a
/// placement, in the order of its runs. Stops at the first call that returns a
/// status other than DPC_OK, and returns that status.
template <typename Piece> int32_t forEachPiece(const dpc_placement_t &placement, Piece piece) {
  for (uint64_t r = 0; r < placement.run_count; ++r) {
    const dpc_run_t &run = placement.runs[r];
    for (uint64_t i = 0; i < run.count[0]; ++i)
      for (uint64_t j = 0; j < run.count[1]; ++j)
        if (int32_t status =
                piece(run.local + i * run.local_step[0] + j * run.local_step[1],
                      run.global + i * run.global_step[0] + j * run.global_step[1], run.length))
          return status;
  }
  return 0;
}

/// Number of elements of a tensor: the product of its extents.
inline uint64_t elementCount(const int64_t *shape, uint32_t dimCount) {
  uint64_t count = 1;
  for (uint32_t d = 0; d < dimCount; ++d)
    count *= static_cast<uint64_t>(shape[d]);
  return count;
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_PLACEMENT_H
