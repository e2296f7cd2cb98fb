// Lowers the peak of a memory plan by a search of only those windows of time in which the plan is
// too high.
//
// This is a large-neighbourhood search. It bisects on the peak. For each peak that it tries, it
// runs the exact search on windows of time around the blocks that end above this peak.

#include "passes/Memory/MemorySearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace dpc;
using llvm::ArrayRef;

namespace {

using Window = std::pair<int64_t, int64_t>; // steps [first, last)

bool touches(const MemoryBlock &block, Window window) {
  return block.first < window.second && window.first < block.last;
}

/// Returns a window of time in which blocks end above `target`; nullopt if no block does. The
/// window begins as the lifetime of the first such block, and grows by the lifetime of each later
/// such block that overlaps the window.
std::optional<Window> findContendedWindow(ArrayRef<MemoryBlock> blocks, ArrayRef<int64_t> offsets,
                                          int64_t target) {
  std::vector<Window> high;
  for (auto [block, offset] : llvm::zip(blocks, offsets))
    if (offset + block.size > target)
      high.emplace_back(block.first, block.last);
  if (high.empty())
    return std::nullopt;
  llvm::sort(high);
  Window window = high.front();
  for (Window other : high)
    if (other.first < window.second)
      window.second = std::max(window.second, other.second);
  return window;
}

/// Searches new offsets for the blocks that are live in `window`, while all other blocks keep their
/// offsets. Returns whether all blocks that are live in `window` now end at or below `target`.
bool repairWindow(ArrayRef<MemoryBlock> blocks, Window window, int64_t target, int64_t &budget,
                  std::vector<int64_t> &offsets) {
  std::vector<size_t> indices;
  std::vector<MemoryBlock> local;
  Window hull = window;
  for (const MemoryBlock &block : blocks)
    if (!block.fixedOffset && touches(block, window)) {
      hull.first = std::min(hull.first, block.first);
      hull.second = std::max(hull.second, block.last);
    }
  for (auto [i, block] : llvm::enumerate(blocks)) {
    if (!touches(block, hull))
      continue;
    bool held = block.fixedOffset || !touches(block, window);
    // A held block keeps its offset. If this offset is at or above the target, the block belongs to
    // another window. The searched blocks end at or below the target, so they cannot overlap the
    // held block.
    if (held && offsets[i] >= target && !block.fixedOffset)
      continue;
    indices.push_back(i);
    local.push_back(block);
    if (held)
      local.back().fixedOffset = offsets[i];
  }
  // The part of a held block above the target is not in the way of any searched block. It is cut
  // off, because the search fails if a fixed block ends above the target.
  for (MemoryBlock &block : local)
    if (block.fixedOffset && *block.fixedOffset + block.size > target &&
        !blocks[indices[&block - local.data()]].fixedOffset)
      block.size = target - *block.fixedOffset;
  std::vector<int64_t> found = searchOffsets(local, target, budget);
  if (found.empty())
    return false;
  for (auto [index, offset] : llvm::zip(indices, found))
    offsets[index] = offset;
  return true;
}

/// Returns offsets at which every block ends at or below `target`, or an empty vector if the search
/// finds none.
std::vector<int64_t> repairTo(ArrayRef<MemoryBlock> blocks, int64_t target, int64_t &budget,
                              std::vector<int64_t> offsets) {
  while (std::optional<Window> window = findContendedWindow(blocks, offsets, target)) {
    bool repaired = false;
    // A failed search of a window proves nothing, because the blocks outside of the window kept
    // their offsets. Widen the window to the lifetimes of all movable blocks that overlap the
    // window, until no such block crosses the borders of the window.
    while (!repaired) {
      int64_t share = budget / 4;
      int64_t left = share;
      repaired = repairWindow(blocks, *window, target, left, offsets);
      budget -= share - left;
      if (repaired)
        break;
      Window wider = *window;
      for (const MemoryBlock &block : blocks)
        if (!block.fixedOffset && touches(block, *window)) {
          wider.first = std::min(wider.first, block.first);
          wider.second = std::max(wider.second, block.last);
        }
      if (wider == *window || budget <= 0)
        return {};
      window = wider;
    }
  }
  return offsets;
}

} // namespace

void dpc::repairOffsets(ArrayRef<MemoryBlock> blocks, int64_t lowerBound, int64_t budget,
                        std::vector<int64_t> &offsets) {
  int64_t peak = largestEnd(blocks, offsets);
  int64_t low = lowerBound; // the smallest target that has not failed
  while (low < peak && budget > 0) {
    // The lower bound itself can often be reached. Therefore it is tried first, with half of the
    // budget. Each later target gets a quarter of the remaining budget.
    int64_t target = low == lowerBound ? low : low + (peak - 1 - low) / 2;
    int64_t share = low == lowerBound ? budget / 2 : budget / 4;
    if (share == 0)
      return;
    int64_t left = share;
    std::vector<int64_t> found = repairTo(blocks, target, left, offsets);
    budget -= share - left;
    if (found.empty()) {
      low = target + 1;
      continue;
    }
    offsets = std::move(found);
    peak = largestEnd(blocks, offsets);
  }
}
