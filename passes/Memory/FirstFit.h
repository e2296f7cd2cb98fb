// Blocks of memory, their load at each step, and first fit.

#ifndef DPC_PASSES_MEMORY_FIRSTFIT_H
#define DPC_PASSES_MEMORY_FIRSTFIT_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace dpc {

/// A rectangle to place: `size` bytes during steps [first, last). Buffers that
/// replace each other in place are one block.
struct MemoryBlock {
  /// Bytes, above 0.
  int64_t size;
  int64_t alignment;
  int64_t first;
  int64_t last;
  std::optional<int64_t> fixedOffset;

  bool meets(const MemoryBlock &other) const { return first < other.last && other.first < last; }
};

/// Returns the largest sum of sizes live in one step.
int64_t maxLoad(llvm::ArrayRef<MemoryBlock> blocks);

/// Returns the largest end of a block.
int64_t largestEnd(llvm::ArrayRef<MemoryBlock> blocks, llvm::ArrayRef<int64_t> offsets);

/// Places every block at the lowest offset that is free among the blocks
/// before it, in several orders (by size, area, length, start), and returns the
/// offsets of each order, smallest peak first. Stops early at `lowerBound`.
/// O(blocks^2).
std::vector<std::vector<int64_t>> firstFit(llvm::ArrayRef<MemoryBlock> blocks, int64_t lowerBound);

} // namespace dpc

#endif // DPC_PASSES_MEMORY_FIRSTFIT_H
