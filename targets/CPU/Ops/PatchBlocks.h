#ifndef DPC_TARGETS_CPU_OPS_PATCHBLOCKS_H
#define DPC_TARGETS_CPU_OPS_PATCHBLOCKS_H

#include "targets/CPU/Vectors/TileGrid.h"

namespace dpc {

/// The largest divisor of `extent` that is above most / 2 and at most `most`; `most` if
/// there is none.
int64_t divisorNear(int64_t extent, int64_t most);

/// The part of a convolution's result that is computed at once, so that it stays in
/// cache. It has either one or more complete samples, or some rows (indices of the first
/// spatial dimension) of one sample.
struct PatchBlock {
  int64_t samples = 1, rows = 1;

  PatchBlock() = default;
  /// Chooses a part of a result with `samples` samples and the spatial extents
  /// `extents`. `rows` divides the first extent. It is either the complete extent
  /// or a multiple of `step`.
  PatchBlock(int64_t samples, llvm::ArrayRef<int64_t> extents, int64_t step);
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_OPS_PATCHBLOCKS_H
