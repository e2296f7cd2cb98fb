// Places blocks by first fit, and computes the load (the bytes of all blocks that are
// live at once).
//
// Takes the blocks in a greedy order, and gives each block the lowest offset that the earlier
// blocks leave free (Pisarchyk & Lee 2020). Tries four orders, because none of them is the best for
// all graphs.

#include "passes/Memory/FirstFit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <numeric>

using namespace dpc;
using llvm::ArrayRef;

namespace {

/// A placed block: the bytes [offset, end) during the steps [first, last).
struct Placed {
  int64_t offset;
  int64_t end;
  int64_t first;
  int64_t last;
};

/// The sort key of a block: three numbers, of which the first counts most. Blocks are sorted by
/// descending keys. Blocks with equal keys are sorted by index.
using Key = std::array<double, 3>;
using KeyOf = Key (*)(const MemoryBlock &);

double length(const MemoryBlock &block) { return double(block.last) - double(block.first); }

const KeyOf orders[] = {
    [](const MemoryBlock &b) { return Key{double(b.size), length(b), 0}; },
    [](const MemoryBlock &b) { return Key{double(b.size) * length(b), 0, 0}; },
    [](const MemoryBlock &b) { return Key{length(b), double(b.size), 0}; },
    [](const MemoryBlock &b) { return Key{-double(b.first), double(b.size), length(b)}; },
};

std::vector<int64_t> placeInOrder(ArrayRef<MemoryBlock> blocks, ArrayRef<size_t> order) {
  std::vector<int64_t> offsets(blocks.size());
  std::vector<Placed> placed; // sorted by offset
  auto insert = [&](size_t index, int64_t offset) {
    const MemoryBlock &block = blocks[index];
    offsets[index] = offset;
    auto position = llvm::upper_bound(
        placed, offset, [](int64_t value, const Placed &p) { return value < p.offset; });
    placed.insert(position, {offset, offset + block.size, block.first, block.last});
  };
  for (size_t index : order)
    if (blocks[index].fixedOffset)
      insert(index, *blocks[index].fixedOffset);
  for (size_t index : order) {
    const MemoryBlock &block = blocks[index];
    if (block.fixedOffset)
      continue;
    int64_t offset = 0;
    for (const Placed &other : placed) {
      if (other.first >= block.last || block.first >= other.last)
        continue;
      if (other.offset >= offset + block.size)
        break;
      if (other.end > offset)
        offset = llvm::alignTo(other.end, block.alignment);
    }
    insert(index, offset);
  }
  return offsets;
}

} // namespace

int64_t dpc::maxLoad(ArrayRef<MemoryBlock> blocks) {
  std::vector<std::pair<int64_t, int64_t>> events; // step, change of load
  for (const MemoryBlock &block : blocks) {
    events.emplace_back(block.first, block.size);
    events.emplace_back(block.last, -block.size);
  }
  llvm::sort(events); // at one step, ends sort before starts, because their changes are negative
  int64_t load = 0, most = 0;
  for (const auto &[step, change] : events) {
    load += change;
    most = std::max(most, load);
  }
  return most;
}

int64_t dpc::largestEnd(ArrayRef<MemoryBlock> blocks, ArrayRef<int64_t> offsets) {
  int64_t end = 0;
  for (auto [block, offset] : llvm::zip(blocks, offsets))
    end = std::max(end, offset + block.size);
  return end;
}

std::vector<std::vector<int64_t>> dpc::firstFit(ArrayRef<MemoryBlock> blocks, int64_t lowerBound) {
  std::vector<std::pair<int64_t, std::vector<int64_t>>> plans; // the peak and the offsets
  for (KeyOf keyOf : orders) {
    std::vector<Key> keys;
    for (const MemoryBlock &block : blocks)
      keys.push_back(keyOf(block));
    std::vector<size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order, [&](size_t a, size_t b) { return keys[a] > keys[b]; });
    std::vector<int64_t> offsets = placeInOrder(blocks, order);
    plans.emplace_back(largestEnd(blocks, offsets), std::move(offsets));
    if (plans.back().first <= lowerBound)
      break;
  }
  llvm::stable_sort(plans, llvm::less_first());
  std::vector<std::vector<int64_t>> results;
  for (auto &plan : plans)
    results.push_back(std::move(plan.second));
  return results;
}
