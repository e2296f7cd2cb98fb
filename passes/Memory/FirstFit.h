// Places blocks of memory by first fit, and computes the load: the sum of the sizes of all live
// blocks.

#ifndef DPC_PASSES_MEMORY_FIRSTFIT_H
#define DPC_PASSES_MEMORY_FIRSTFIT_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace dpc {

/// A block of memory that needs an offset: `size` bytes, live during steps [first, last). If one
/// buffer is computed in place of another, the two may share bytes and form one block.
struct MemoryBlock {
  /// In bytes, above 0.
  int64_t size;
  int64_t alignment;
  int64_t first;
  int64_t last;
  std::optional<int64_t> fixedOffset;

  bool meets(const MemoryBlock &other) const { return first < other.last && other.first < last; }
};

/// Returns the largest load of any step, in bytes: the sum of the sizes of all blocks that are live
/// in the step.
int64_t maxLoad(llvm::ArrayRef<MemoryBlock> blocks);

/// Returns the largest end of a block (offset + size), in bytes.
int64_t largestEnd(llvm::ArrayRef<MemoryBlock> blocks, llvm::ArrayRef<int64_t> offsets);

/// Sorts the blocks in several orders: by size, by size times length, by length, and by start. For
/// each order, places one block after another at the lowest offset that the earlier blocks leave
/// free. Returns the offsets for each order, smallest peak first. Stops early if a peak is not
/// above `lowerBound`. Takes O(blocks^2) time.
std::vector<std::vector<int64_t>> firstFit(llvm::ArrayRef<MemoryBlock> blocks, int64_t lowerBound);

} // namespace dpc

#endif // DPC_PASSES_MEMORY_FIRSTFIT_H
