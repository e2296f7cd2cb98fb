// The blocks that a memory planner places, their load at each step, and first-fit placement.

#ifndef DPC_PASSES_MEMORY_FIRSTFIT_H
#define DPC_PASSES_MEMORY_FIRSTFIT_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace dpc {

/// A rectangle of bytes and time to place: `size` bytes during steps [first, last). Buffers that
/// share bytes because one is computed in place of the other form one block.
struct MemoryBlock {
  /// Bytes, above 0.
  int64_t size;
  int64_t alignment;
  int64_t first;
  int64_t last;
  std::optional<int64_t> fixedOffset;

  bool meets(const MemoryBlock &other) const { return first < other.last && other.first < last; }
};

/// Returns the largest sum of sizes of blocks that are live in one step, in bytes.
int64_t maxLoad(llvm::ArrayRef<MemoryBlock> blocks);

/// Returns the largest end (offset + size) of a block, in bytes.
int64_t largestEnd(llvm::ArrayRef<MemoryBlock> blocks, llvm::ArrayRef<int64_t> offsets);

/// Takes the blocks in several orders (by size, area, length, start), and in each order places
/// every block at the lowest offset that the blocks placed so far leave free. Returns the offsets
/// of each order, smallest peak first. Stops early at a peak of `lowerBound`. O(blocks^2).
std::vector<std::vector<int64_t>> firstFit(llvm::ArrayRef<MemoryBlock> blocks, int64_t lowerBound);

} // namespace dpc

#endif // DPC_PASSES_MEMORY_FIRSTFIT_H
