#ifndef DPC_TARGETS_CUDA_OPS_SLICELAYOUT_H
#define DPC_TARGETS_CUDA_OPS_SLICELAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace dpc {

/// Where the elements of a slice of a factor lie in shared memory. The slice has `extent`
/// rows of A or columns of B, with `depth` elements along the depth of the product. It
/// consists of lines: the elements of a line are neighbours, along the depth or along the
/// extent. Lines consist of chunks of 16 bytes, the largest pieces that one instruction
/// copies.
///
/// Shared memory has 32 banks of 4 bytes, and threads that access different words of a
/// bank wait for each other. Two measures prevent this: bytes of padding after each line,
/// and the swizzle, which exchanges the chunks of a line in a different way in each line.
struct SliceLayout {
  static constexpr int64_t kChunk = 16;

  int64_t extent = 0, depth = 0;
  /// The size of an element in bytes.
  int64_t bytes = 0;
  /// Whether lines are along the depth.
  bool depthIsInner = false;
  /// Bytes after each line, a multiple of kChunk.
  int64_t padding = 0;
  /// The swizzle: chunk c of line l is at place c xor (l / divisor % modulus * factor % 8).
  int64_t divisor = 1, modulus = 1, factor = 1;
  static constexpr int64_t kSwizzledChunks = 8;

  /// For threads that load vectors along the extent, all from the same line.
  static SliceLayout forVectors(int64_t extent, int64_t depth, int64_t bytes);
  /// For ldmatrix, which loads pieces of one chunk from eight lines: four pairs of neighbours, one
  /// in each of four groups of `pairs` pairs that follow each other. If there are several pairs in
  /// a group, lines have four chunks.
  static SliceLayout forChunks(int64_t extent, int64_t depth, int64_t bytes, bool depthIsInner,
                               int64_t pairs = 1);
  /// For lanes that each load one element of a small matrix: 4 positions along the depth, and
  /// neighbours along the extent.
  static SliceLayout forElements(int64_t extent, int64_t depth, int64_t bytes, bool depthIsInner);

  /// For lanes that each load a vector of elements of 4 bytes: 4 positions along the depth, and
  /// vectors along the extent that are neighbours, or four vectors apart. Lines are along the
  /// extent.
  static SliceLayout forFragments(int64_t extent, int64_t depth);

  /// For slices that are read in both directions: by ldmatrix in eight neighbouring lines, and by
  /// lanes that load from four lines with one line between two of them. Lines are along the depth.
  /// They may have any number of chunks.
  static SliceLayout forRows(int64_t extent, int64_t depth, int64_t bytes);

  int64_t getLines() const { return depthIsInner ? extent : depth; }
  int64_t getLineElements() const { return depthIsInner ? depth : extent; }
  /// The number of elements in a chunk.
  int64_t getChunkElements() const { return kChunk / bytes; }
  /// The bytes from the start of a line to the start of the next line.
  int64_t getPitch() const { return getLineElements() * bytes + padding; }
  int64_t getBytes() const { return getLines() * getPitch(); }
  /// The position of an element in bytes. `k` is its index along the depth.
  int64_t offsetOf(int64_t k, int64_t i) const;
  /// Whether the product with `factor` may exceed the places of the swizzle.
  bool hasWrap() const { return (modulus - 1) * factor >= kSwizzledChunks; }

  /// Checks that chunks do not leave their line, and that sizes are multiples of chunks.
  llvm::Error verify() const;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_SLICELAYOUT_H
