// Computes the places of the elements of a slice in shared memory.

#include "targets/CUDA/Ops/SliceLayout.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace dpc;

/// The number of chunks that shared memory serves at once.
static const int64_t kChunksPerWavefront = 8;

SliceLayout SliceLayout::forVectors(int64_t extent, int64_t depth, int64_t bytes) {
  SliceLayout layout{extent, depth, bytes};
  // With this padding, 4 neighbours along the extent and 8 along the depth are in
  // different banks. Threads store such pieces if they transpose a factor.
  layout.padding = kChunk;
  return layout;
}

SliceLayout SliceLayout::forChunks(int64_t extent, int64_t depth, int64_t bytes, bool depthIsInner,
                                   int64_t pairs) {
  SliceLayout layout{extent, depth, bytes, depthIsInner};
  // The chunks of short lines already are in different banks in neighbouring lines.
  const int64_t chunks = layout.getLineElements() * bytes / kChunk;
  layout.modulus = std::min(chunks, kChunksPerWavefront);
  // Then both lines of a pair have the same swizzle, and so have the pairs of a group.
  assert((pairs == 1 || chunks == 4) && "pairs of lines are no wavefronts");
  layout.divisor = kChunksPerWavefront / layout.modulus * pairs;
  return layout;
}

SliceLayout SliceLayout::forElements(int64_t extent, int64_t depth, int64_t bytes,
                                     bool depthIsInner) {
  SliceLayout layout{extent, depth, bytes, depthIsInner};
  // A wavefront loads 32 bytes from each of 4 neighbouring lines.
  const int64_t chunks = layout.getLineElements() * bytes / kChunk;
  layout.modulus = std::min<int64_t>(chunks / 2, 4);
  layout.divisor = 4 / layout.modulus;
  layout.factor = 2;
  return layout;
}

SliceLayout SliceLayout::forFragments(int64_t extent, int64_t depth) {
  SliceLayout layout{extent, depth, /*bytes=*/4};
  // The swizzles of four lines are 0, 5, 2 and 7. They differ in the upper two bits, so chunks 2n
  // and 2n + 1 of four lines are in different banks, and in the lower two bits, so chunks n and n +
  // 4 are.
  layout.modulus = 4;
  layout.factor = 5;
  return layout;
}

SliceLayout SliceLayout::forRows(int64_t extent, int64_t depth, int64_t bytes) {
  SliceLayout layout{extent, depth, bytes, /*depthIsInner=*/true};
  // Neighbouring lines start an odd number of chunks apart, so eight of them start in different
  // banks.
  const int64_t chunks = depth * bytes / kChunk;
  layout.padding = chunks % 2 == 0 ? kChunk : 0;
  return layout;
}

int64_t SliceLayout::offsetOf(int64_t k, int64_t i) const {
  const int64_t line = depthIsInner ? i : k, inLine = (depthIsInner ? k : i) * bytes;
  return line * getPitch() +
         (inLine ^ (line / divisor % modulus * factor % kSwizzledChunks * kChunk));
}

llvm::Error SliceLayout::verify() const {
  const int64_t lineBytes = getLineElements() * bytes;
  auto failed = [&](const char *what) {
    return llvm::createStringError("a slice of %lld x %lld elements of %lld bytes %s",
                                   static_cast<long long>(extent), static_cast<long long>(depth),
                                   static_cast<long long>(bytes), what);
  };
  if (extent < 1 || depth < 1 || bytes < 1 || kChunk % bytes != 0)
    return failed("has no elements that fit chunks");
  if (lineBytes % kChunk != 0 || padding % kChunk != 0)
    return failed("has lines of incomplete chunks");
  if (modulus > 1 && (!llvm::isPowerOf2_64(static_cast<uint64_t>(lineBytes)) ||
                      !llvm::isPowerOf2_64(static_cast<uint64_t>(modulus)) ||
                      (hasWrap() ? kSwizzledChunks : modulus * factor) * kChunk > lineBytes))
    return failed("exchanges chunks of different lines");
  return llvm::Error::success();
}
