#include "dialects/NN/IR/PatchBlocks.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

int64_t dpc::nn::elements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

int64_t dpc::nn::divisorNear(int64_t extent, int64_t most) {
  for (int64_t size = most; size > most / 2; --size)
    if (extent % size == 0)
      return size;
  return most;
}

void dpc::nn::inBlocks(LoopEmitter &e, int64_t extent, int64_t size,
                       function_ref<void(Index, int64_t)> body) {
  int64_t whole = extent / size;
  e.sequence(whole, [&](Index i) { body(i * size, size); });
  if (extent % size)
    body(e.constant(whole * size), extent % size);
}

PatchBlock::PatchBlock(int64_t samples, ArrayRef<int64_t> extents,
                       int64_t step) {
  const int64_t least = 96, most = 512; // patches
  int64_t plane = elements(extents), line = plane / extents[0];
  rows = extents[0];
  if (plane <= most) {
    this->samples = divisorNear(
        samples, std::max<int64_t>(1, std::min(samples, most / plane)));
    return;
  }
  for (int64_t size = step; size < extents[0]; size += step)
    if (extents[0] % size == 0 && (size * line <= most || rows == extents[0]) &&
        size * line >= std::min(least, most / 2))
      rows = size;
}

Panels::Panels(const VectorCode &code, int64_t columns) : lanes(code.lanes) {
  width = columns <= lanes ? lanes : 2 * lanes;
  whole = columns / width;
  rest = columns % width;
}

int64_t Panels::lanesTotal() const {
  return whole * width + llvm::alignTo(rest, lanes);
}

void Panels::forEach(LoopEmitter &e,
                     function_ref<void(Index, int64_t, int64_t)> body) const {
  e.sequence(whole, [&](Index i) { body(i, width, width / lanes); });
  if (rest)
    body(e.constant(whole), rest, llvm::divideCeil(rest, lanes));
}
