// Copies planes such that elements whose distance is the stride of a convolution
// become neighbours.

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/NN/IR/NNDialect.h"
#include "targets/CPU/Ops/LineProduct.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

VectorFormat dpc::formatForLines(unsigned vectorBytes, Type elementType, int64_t points) {
  int64_t bytes = elementType.getIntOrFloatBitWidth() / 8, lanes = vectorBytes / bytes;
  while (lanes > 16 / bytes && lanes / 2 >= points)
    lanes /= 2;
  return VectorFormat(vectorBytes, elementType, lanes);
}

SplitLayout::SplitLayout(const VectorFormat &format, Value tensor, int64_t channels,
                         ArrayRef<PatchGrid> grids) {
  SmallVector<int64_t> padded;
  padLow = paddingOf(typeOf(tensor).getShape().drop_front(2), grids, padded);
  step = grids[0].back().step;
  phasePitch = llvm::divideCeil(padded.back(), step);
  padded.back() = phasePitch * step;
  pitches = rowMajorStrides(padded);
  channelPitch = padded[0] * pitches[0];
  pitches.pop_back();
  // Loads of complete vectors at the end of the last line read beyond the end of
  // the line.
  count = channels * channelPitch + 4 * format.lanes;
}

SplitPlanes::SplitPlanes(VectorCode &code, Value tensor, int64_t channels,
                         ArrayRef<PatchGrid> grids)
    : SplitLayout(code, tensor, channels, grids), code(code), tensor(tensor), channels(channels) {
  address = code.scratch(count);
  code.fillZero(address, count);
}

int64_t SplitPlanes::offsetOf(int64_t position) const {
  int64_t at = position + padLow.back();
  return at % step * phasePitch + at / step;
}

void SplitPlanes::load(Index sample, Index group) {
  VectorEmitter &e = code.e;
  ArrayRef<int64_t> shape = typeOf(tensor).getShape();
  int64_t line = shape.back();
  SmallVector<int64_t> outer{channels};
  llvm::append_range(outer, shape.drop_front(2).drop_back());
  e.forEach(outer, [&](ArrayRef<Index> i) {
    Index to = i[0] * channelPitch;
    for (auto [d, pitch] : llvm::enumerate(pitches))
      to = to + (i[d + 1] + padLow[d]) * pitch;
    auto move = [&](Index at, int64_t first) {
      SmallVector<Index> from{sample, group * channels + i[0]};
      llvm::append_range(from, i.drop_front());
      from.push_back(at * step + first);
      e.storeAt(address, code.widened(e.read(tensor, from)), to + at + offsetOf(first));
    };
    e.forEach({line / step}, [&](ArrayRef<Index> j) {
      for (int64_t phase = 0; phase < step; ++phase)
        move(j[0], phase);
    });
    for (int64_t phase = 0; phase < line % step; ++phase)
      move(e.constant(line / step), phase);
  });
}
