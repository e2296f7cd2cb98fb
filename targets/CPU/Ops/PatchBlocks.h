#ifndef DPC_TARGETS_CPU_OPS_PATCHBLOCKS_H
#define DPC_TARGETS_CPU_OPS_PATCHBLOCKS_H

#include "targets/CPU/Vectors/TileGrid.h"

namespace dpc::nn {

/// The largest divisor of `extent` in [most / 2, most], else `most`.
int64_t divisorNear(int64_t extent, int64_t most);

/// The part of a result that is computed at a time, so that it stays in cache: some
/// samples, or some rows of the first spatial dimension of one sample.
struct PatchBlock {
  int64_t samples = 1, rows = 1;

  PatchBlock() = default;
  /// `rows` divides the first extent. It is a multiple of `step` unless it is the
  /// complete extent.
  PatchBlock(int64_t samples, llvm::ArrayRef<int64_t> extents, int64_t step);
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_OPS_PATCHBLOCKS_H
