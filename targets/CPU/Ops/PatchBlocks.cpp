#include "targets/CPU/Ops/PatchBlocks.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

int64_t dpc::divisorNear(int64_t extent, int64_t most) {
  for (int64_t size = most; size > most / 2; --size)
    if (extent % size == 0)
      return size;
  return most;
}

PatchBlock::PatchBlock(int64_t samples, ArrayRef<int64_t> extents, int64_t step) {
  const int64_t least = 96, most = 512; // numbers of patches in a block
  int64_t plane = ShapedType::getNumElements(extents), line = plane / extents[0];
  rows = extents[0];
  if (plane <= most) {
    this->samples = divisorNear(samples, std::max<int64_t>(1, std::min(samples, most / plane)));
    return;
  }
  for (int64_t size = step; size < extents[0]; size += step)
    if (extents[0] % size == 0 && (size * line <= most || rows == extents[0]) &&
        size * line >= std::min(least, most / 2))
      rows = size;
}
