// Decides whether patches are read from the image in place. If not, copies the image,
// with a border of zeros if patches have elements outside of the image.

#include "dialects/Interfaces/HostTensor.h"
#include "dialects/NN/IR/NNDialect.h"
#include "targets/CPU/Ops/PatchProduct.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

/// If the distance of channels is a multiple of this many bytes, their elements
/// compete for few sets of the first-level cache.
static const int64_t badPitchBytes = 512;

bool dpc::isEmpty(const PatchGrid &grid) {
  return llvm::any_of(grid, [](const PatchDimension &dimension) {
    return dimension.taps == 0 || dimension.points == 0;
  });
}

SmallVector<int64_t> dpc::paddingOf(ArrayRef<int64_t> extents, ArrayRef<PatchGrid> grids,
                                    SmallVector<int64_t> &padded) {
  SmallVector<int64_t> padLow;
  for (auto [d, extent] : llvm::enumerate(extents)) {
    int64_t low = 0, high = extent - 1;
    for (const PatchGrid &grid : grids) {
      if (isEmpty(grid))
        continue;
      int64_t reach = (grid[d].taps - 1) * grid[d].tapStep;
      low = std::min(low, grid[d].first + std::min<int64_t>(0, reach));
      high = std::max(high, grid[d].first + std::max<int64_t>(0, reach) +
                                (grid[d].points - 1) * grid[d].step);
    }
    padLow.push_back(-low);
    padded.push_back(high + 1 - low);
  }
  return padLow;
}

PatchLayout::PatchLayout(const VectorFormat &format, Value tensor, int64_t channels,
                         PatchPairs pairs, ArrayRef<PatchGrid> grids,
                         function_ref<bool(Value)> isInMemory)
    : pairs(pairs) {
  ArrayRef<int64_t> extents = typeOf(tensor).getShape().drop_front(2);
  SmallVector<int64_t> padded;
  padLow = paddingOf(extents, grids, padded);
  hasBorder = ArrayRef<int64_t>(padded) != extents;
  pitches = rowMajorStrides(padded);
  channelPitch = padded[0] * pitches[0];
  bool badPitch = channels > 16 && channelPitch * format.bytes % badPitchBytes == 0;
  isCopied = hasBorder || badPitch || !isInMemory(tensor) ||
             typeOf(tensor).getElementType() != format.elementType; // so are pairs
  if (!isCopied) {
    samplePitch = typeOf(tensor).getDimSize(1) * channelPitch;
    return;
  }
  if (badPitch)
    channelPitch += 64 / format.bytes;
  samplePitch =
      (pairs == PatchPairs::ofChannels ? llvm::divideCeil(channels, 2) : channels) * channelPitch;
}

PatchSource::PatchSource(VectorCode &code, Value tensor, int64_t channels, PatchPairs pairs,
                         int64_t samples, ArrayRef<PatchGrid> grids)
    : PatchLayout(code, tensor, channels, pairs, grids,
                  [&](Value value) { return code.e.isInMemory(value); }),
      code(code), tensor(tensor), buffer(code.e.getBuffer(tensor)), channels(channels) {
  if (!isCopied)
    return;
  copy = address = code.scratch(countOfCopy(samples));
  if (hasBorder)
    code.fillZero(copy, countOfCopy(samples));
}

void PatchSource::prepare(Index first, int64_t samples, Index group, bool isHalf) {
  if (!copy)
    address =
        code.at(buffer, (first * typeOf(tensor).getDimSize(1) + group * channels) * channelPitch);
  else if (pairs != PatchPairs::ofChannels)
    copyPart({first, samples, 0, channels, pairs == PatchPairs::ofSamples && !isHalf}, group);
  else {
    if (channels > 1)
      copyPart({first, samples, 0, channels / 2, true}, group);
    if (channels % 2)
      copyPart({first, samples, channels / 2, 1, false}, group);
  }
}

void PatchSource::copyPart(const Part &part, Index group) {
  VectorEmitter &e = code.e;
  ArrayRef<int64_t> shape = typeOf(tensor).getShape();
  Type type = typeOf(tensor).getElementType();
  const int64_t sampleStep = pairs == PatchPairs::ofSamples ? 2 : 1,
                channelStep = pairs == PatchPairs::ofChannels ? 2 : 1,
                pairedDimension = pairs == PatchPairs::ofSamples ? 0 : 1;
  auto sampleOf = [&](Index i) { return (part.sample + i) * sampleStep; };
  auto channelOf = [&](Index i) { return group * channels + (i + part.channel) * channelStep; };
  SmallVector<int64_t> loops{part.samples, part.channels};
  llvm::append_range(loops, shape.drop_front(2));
  // Copy each row in vectors. If the rows stay contiguous in the copy, treat several
  // rows as one.
  size_t spatial = pitches.size();
  int64_t row = shape.back();
  SmallVector<int64_t> outer(loops);
  outer.pop_back();
  while (outer.size() > 2 && pitches[outer.size() - 3] == row)
    row *= outer.pop_back_val();
  auto place = [&](ArrayRef<Index> i) {
    Index to = i[0] * samplePitch + (i[1] + part.channel) * channelPitch;
    for (size_t d = 0; d < spatial; ++d) {
      to = to + padLow[d] * pitches[d];
      if (d + 2 < i.size())
        to = to + i[d + 2] * pitches[d];
    }
    return to;
  };
  if (!buffer) {
    e.forEach(loops, [&](ArrayRef<Index> i) {
      SmallVector<Index> from(i);
      from[0] = sampleOf(i[0]);
      from[1] = channelOf(i[1]);
      Value element = e.read(tensor, from), partner;
      if (part.hasPartners) {
        from[pairedDimension] = from[pairedDimension] + 1;
        partner = e.read(tensor, from);
      }
      e.storeAt(copy,
                pairs == PatchPairs::none ? code.widened(element) : code.pairOf(element, partner),
                place(i));
    });
    return;
  }
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  e.forEach(outer, [&](ArrayRef<Index> i) {
    Index from = sampleOf(i[0]) * strides[0] + channelOf(i[1]) * strides[1];
    for (size_t d = 2; d < i.size(); ++d)
      from = from + i[d] * strides[d];
    VectorCode::Matrix source{code.at(buffer, from, type), 0, type};
    if (pairs != PatchPairs::none) {
      source.isOfPairs = true;
      if (part.hasPartners)
        source.upper = code.at(source.address, e.constant(strides[pairedDimension]), type);
    }
    Value to = code.at(copy, place(i));
    auto move = [&](Index at, int64_t count) {
      code.store(code.loadFrom(source, at, count), code.at(to, at), count);
    };
    e.sequence(row / code.lanes, [&](Index j) { move(j * code.lanes, code.lanes); });
    if (row % code.lanes)
      move(e.constant(row / code.lanes * code.lanes), row % code.lanes);
  });
}
