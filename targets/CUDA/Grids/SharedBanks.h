#ifndef DPC_TARGETS_CUDA_GRIDS_SHAREDBANKS_H
#define DPC_TARGETS_CUDA_GRIDS_SHAREDBANKS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace dpc {

/// The number of rounds in which shared memory serves an access of a warp. Lane number n
/// accesses `bytes` bytes at `offsets[n]`. At most 128 bytes are served per round: those of
/// the whole warp, of half of it or of a quarter, as the bytes per lane require.
int64_t countWavefronts(llvm::ArrayRef<int64_t> offsets, int64_t bytes);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_SHAREDBANKS_H
