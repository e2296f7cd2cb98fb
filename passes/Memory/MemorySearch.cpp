// Searches the offsets of a small set of blocks by branch and bound.
//
// The search considers only canonical solutions, after Moffitt, "MiniMalloc: A Lightweight Memory
// Allocator for Hardware-Accelerated Machine Learning" (ASPLOS 2023). Every solution becomes
// canonical if its blocks move down until no block can move lower. In a canonical solution, sort
// the blocks by offset. Then each block lies at the lowest offset above those earlier blocks that
// are live at the same time. Therefore the search places blocks in rising order of offset, each
// block at its lowest offset.
//
// The search prunes a choice, among other cases, if another block would fit completely below the
// chosen block, if a section of time cannot hold the blocks that are still open (not placed), or if
// blocks of equal offset are not in the order of a given ranking of the blocks. At each step of
// time that no open block spans, the open blocks are split into independent parts.

#include "passes/Memory/MemorySearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <limits>
#include <numeric>

using namespace dpc;
using llvm::ArrayRef;

namespace {

/// Each block has a list of the blocks that are live at the same time. The lists need quadratic
/// memory, so windows with more movable blocks than this are not searched, and their blocks keep
/// their offsets.
constexpr size_t maxMovableBlocks = 1000;

/// One search with one ranking of the movable blocks, which are the blocks without a fixed offset.
/// The rank of a block is its index in the ranking. Invariant: if the block of rank i is not yet
/// placed, `lowest[i]` is the lowest offset at which the block overlaps no fixed block and lies
/// above all placed blocks that are live at the same time.
class Search {
public:
  Search(ArrayRef<MemoryBlock> blocks, ArrayRef<size_t> ranked, int64_t target, int64_t &budget);

  /// Returns whether a solution was found. If so, `lowest` holds the offsets of the solution, by
  /// rank.
  bool run();

  std::vector<int64_t> lowest;

private:
  /// A movable block. Time is divided into numbered sections. They begin and end at the steps at
  /// which the lifetime of a movable block begins or ends.
  struct Item {
    int64_t size;
    int64_t alignment;
    int firstSection;
    int lastSection;
    llvm::SmallVector<std::pair<int64_t, int64_t>, 0> fixed; // offset and end
    llvm::SmallVector<int, 0> meets;
  };
  /// An (offset, rank) pair. Every later placement must have a larger pair.
  using Floor = std::pair<int64_t, int>;

  int64_t lowestAbove(const Item &item, int64_t floor) const;
  bool solve(ArrayRef<int> open, Floor floor);
  bool solveParts(ArrayRef<int> open, Floor floor);
  bool sectionsFit(ArrayRef<int> open, int64_t floor);
  bool place(int chosen);

  std::vector<Item> items;
  /// For each section, pairs of an offset and the bytes of the fixed blocks at or above this
  /// offset, by rising offset.
  std::vector<std::vector<std::pair<int64_t, int64_t>>> fixedAbove;
  std::vector<bool> placed;
  std::vector<int64_t> sectionLowest;
  std::vector<int64_t> sectionBytes;
  int64_t target;
  int64_t &budget;
};

Search::Search(ArrayRef<MemoryBlock> blocks, ArrayRef<size_t> ranked, int64_t target,
               int64_t &budget)
    : target(target), budget(budget) {
  std::vector<int64_t> steps;
  for (size_t index : ranked) {
    steps.push_back(blocks[index].first);
    steps.push_back(blocks[index].last);
  }
  llvm::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  auto section = [&](int64_t step) -> int {
    return llvm::lower_bound(steps, step) - steps.begin();
  };
  sectionLowest.resize(steps.size());
  sectionBytes.resize(steps.size());
  fixedAbove.resize(steps.size());

  std::vector<const MemoryBlock *> fixed;
  for (const MemoryBlock &block : blocks)
    if (block.fixedOffset)
      fixed.push_back(&block);
  llvm::stable_sort(fixed, [](const MemoryBlock *a, const MemoryBlock *b) {
    return *a->fixedOffset < *b->fixedOffset;
  });
  for (const MemoryBlock *block : llvm::reverse(fixed))
    // A section counts a fixed block only if the block spans the complete section.
    for (int s = section(block->first);
         s + 1 < static_cast<int>(steps.size()) && steps[s + 1] <= block->last; ++s) {
      int64_t above = fixedAbove[s].empty() ? 0 : fixedAbove[s].back().second;
      fixedAbove[s].emplace_back(*block->fixedOffset, above + block->size);
    }
  for (auto &section : fixedAbove)
    std::reverse(section.begin(), section.end());

  // Reserve space, because a growing vector would copy the items instead of moving them.
  items.reserve(ranked.size());
  for (size_t index : ranked) {
    const MemoryBlock &block = blocks[index];
    Item item{block.size, block.alignment, section(block.first), section(block.last), {}, {}};
    for (const MemoryBlock *other : fixed)
      if (block.meets(*other))
        item.fixed.emplace_back(*other->fixedOffset, *other->fixedOffset + other->size);
    for (auto [rank, other] : llvm::enumerate(ranked))
      if (other != index && block.meets(blocks[other]))
        item.meets.push_back(rank);
    lowest.push_back(lowestAbove(item, 0));
    items.push_back(std::move(item));
  }
  placed.resize(items.size());
  budget -= items.size() * blocks.size();
}

int64_t Search::lowestAbove(const Item &item, int64_t floor) const {
  int64_t offset = llvm::alignTo(floor, item.alignment);
  for (auto [begin, end] : item.fixed) {
    if (begin >= offset + item.size)
      break;
    if (end > offset)
      offset = llvm::alignTo(end, item.alignment);
  }
  return offset;
}

bool Search::run() {
  std::vector<int> open(items.size());
  std::iota(open.begin(), open.end(), 0);
  for (int item : open)
    if (lowest[item] + items[item].size > target)
      return false;
  return solveParts(open, {0, -1});
}

/// Splits the open blocks at the steps of time that no open block spans, and solves each part on
/// its own.
bool Search::solveParts(ArrayRef<int> open, Floor floor) {
  std::vector<int> sorted(open.begin(), open.end());
  llvm::stable_sort(sorted,
                    [&](int a, int b) { return items[a].firstSection < items[b].firstSection; });
  for (size_t begin = 0; begin < sorted.size();) {
    int reach = items[sorted[begin]].lastSection;
    size_t end = begin + 1;
    for (; end < sorted.size() && items[sorted[end]].firstSection < reach; ++end)
      reach = std::max(reach, items[sorted[end]].lastSection);
    if (!solve(ArrayRef(sorted).slice(begin, end - begin), floor))
      return false;
    begin = end;
  }
  return true;
}

/// Whether every section can hold its open blocks. In a section, no open block lies below the
/// lowest offset that any of them can have, and none lies below `floor`, the offset of the last
/// placed block.
bool Search::sectionsFit(ArrayRef<int> open, int64_t floor) {
  int begin = std::numeric_limits<int>::max(), end = 0;
  for (int item : open) {
    begin = std::min(begin, items[item].firstSection);
    end = std::max(end, items[item].lastSection);
  }
  std::fill(sectionBytes.begin() + begin, sectionBytes.begin() + end, 0);
  std::fill(sectionLowest.begin() + begin, sectionLowest.begin() + end,
            std::numeric_limits<int64_t>::max());
  for (int item : open) {
    const Item &block = items[item];
    budget -= block.lastSection - block.firstSection + 1;
    for (int s = block.firstSection; s < block.lastSection; ++s) {
      sectionBytes[s] += block.size;
      sectionLowest[s] = std::min(sectionLowest[s], lowest[item]);
    }
  }
  for (int s = begin; s < end; ++s) {
    if (!sectionBytes[s])
      continue;
    int64_t base = std::max(sectionLowest[s], floor);
    auto above = llvm::lower_bound(fixedAbove[s], std::pair(base, int64_t(0)));
    int64_t fixed = above == fixedAbove[s].end() ? 0 : above->second;
    if (base + sectionBytes[s] + fixed > target)
      return false;
  }
  return true;
}

/// Places `chosen` at its lowest offset. Raises the lowest offsets of the open blocks that are live
/// at the same time. Returns false if a raised block would then end above the target.
bool Search::place(int chosen) {
  placed[chosen] = true;
  int64_t end = lowest[chosen] + items[chosen].size;
  budget -= items[chosen].meets.size();
  for (int other : items[chosen].meets) {
    if (placed[other] || lowest[other] >= end)
      continue;
    lowest[other] = lowestAbove(items[other], end);
    if (lowest[other] + items[other].size > target)
      return false;
  }
  return true;
}

/// Places all blocks of `open` in rising order of (offset, rank), above `floor`. Needs: `open` is
/// not empty and cannot be split into independent parts.
bool Search::solve(ArrayRef<int> open, Floor floor) {
  // A block that is live together with no other open block can lie at its lowest offset, without a
  // search.
  if (open.size() == 1) {
    placed[open.front()] = true;
    return true;
  }
  if (budget < 0 || !sectionsFit(open, floor.first))
    return false;

  // If another open block would fit completely below a block, this block is no choice, because the
  // other block comes first in a canonical solution.
  int64_t lowestEnd = std::numeric_limits<int64_t>::max();
  for (int item : open)
    lowestEnd = std::min(lowestEnd, lowest[item] + items[item].size);
  std::vector<Floor> choices;
  for (int item : open)
    if (lowest[item] < lowestEnd && Floor(lowest[item], item) > floor)
      choices.emplace_back(lowest[item], item);
  llvm::sort(choices);

  std::vector<int64_t> before;
  for (int item : open)
    before.push_back(lowest[item]);
  std::vector<int> rest;
  const Item *previous = nullptr;
  for (Floor choice : choices) {
    const Item &item = items[choice.second];
    // Equal blocks are interchangeable, so only the first of them is a choice.
    bool repeats =
        previous && previous->size == item.size && previous->alignment == item.alignment &&
        previous->firstSection == item.firstSection && previous->lastSection == item.lastSection;
    previous = &item;
    if (repeats)
      continue;
    rest.clear();
    if (place(choice.second)) {
      for (int other : open)
        if (other != choice.second)
          rest.push_back(other);
      if (solveParts(rest, choice))
        return true;
    }
    for (auto [other, offset] : llvm::zip(open, before)) {
      placed[other] = false;
      lowest[other] = offset;
    }
    if (budget < 0)
      return false;
  }
  return false;
}

/// The live bytes at each step, in a table that yields the maximum over any range of steps.
class Load {
public:
  explicit Load(ArrayRef<MemoryBlock> blocks) {
    std::vector<std::pair<int64_t, int64_t>> changes;
    for (const MemoryBlock &block : blocks) {
      changes.emplace_back(block.first, block.size);
      changes.emplace_back(block.last, -block.size);
    }
    llvm::sort(changes);
    int64_t load = 0;
    std::vector<int64_t> loads;
    for (auto [step, change] : changes) {
      if (steps.empty() || steps.back() != step) {
        steps.push_back(step);
        loads.push_back(0);
      }
      loads.back() = load += change;
    }
    // fullest[k][i] is the maximum over 2^k sections, beginning with section i.
    fullest.push_back(std::move(loads));
    for (size_t width = 1; 2 * width <= steps.size(); width *= 2) {
      const std::vector<int64_t> &half = fullest.back();
      std::vector<int64_t> whole(half.size() - width);
      for (size_t i = 0; i < whole.size(); ++i)
        whole[i] = std::max(half[i], half[i + width]);
      fullest.push_back(std::move(whole));
    }
  }

  /// Returns the largest number of live bytes at any step at which `block` is live. Needs: `block`
  /// was passed to the constructor.
  int64_t fullestOf(const MemoryBlock &block) const {
    size_t begin = llvm::lower_bound(steps, block.first) - steps.begin(),
           end = llvm::lower_bound(steps, block.last) - steps.begin();
    unsigned level = llvm::Log2_64(end - begin);
    return std::max(fullest[level][begin], fullest[level][end - (size_t(1) << level)]);
  }

private:
  std::vector<int64_t> steps;
  std::vector<std::vector<int64_t>> fullest;
};

/// Returns the rankings that MiniMalloc tries. A ranking sorts the blocks by three descending keys:
/// the largest load during the block's lifetime, the length of the lifetime, and the area (length
/// times size). The rankings differ in the order in which these keys are compared.
std::vector<std::vector<size_t>> rankings(ArrayRef<MemoryBlock> blocks) {
  const Load load(blocks);
  std::vector<size_t> movable;
  std::vector<std::array<double, 3>> keys(blocks.size());
  for (auto [i, block] : llvm::enumerate(blocks)) {
    if (block.fixedOffset)
      continue;
    movable.push_back(i);
    double length = double(block.last) - double(block.first);
    keys[i] = {double(load.fullestOf(block)), length, length * block.size};
  }
  std::vector<std::vector<size_t>> results;
  for (std::array<int, 3> priority :
       {std::array{0, 1, 2}, std::array{1, 2, 0}, std::array{0, 2, 1}}) {
    results.push_back(movable);
    llvm::stable_sort(results.back(), [&](size_t a, size_t b) {
      for (int part : priority)
        if (keys[a][part] != keys[b][part])
          return keys[a][part] > keys[b][part];
      return false;
    });
  }
  return results;
}

} // namespace

std::vector<int64_t> dpc::searchOffsets(ArrayRef<MemoryBlock> blocks, int64_t target,
                                        int64_t &budget) {
  size_t movable =
      llvm::count_if(blocks, [](const MemoryBlock &block) { return !block.fixedOffset; });
  for (const MemoryBlock &block : blocks)
    if (block.fixedOffset && *block.fixedOffset + block.size > target)
      return {};
  if (movable > maxMovableBlocks)
    return {};
  // Each ranking first gets a small share of the budget, and later larger shares. A ranking with
  // which the search ends soon then does not wait for a ranking with which the search takes long.
  std::vector<std::vector<size_t>> ranked = rankings(blocks);
  for (int64_t share = std::max<int64_t>(budget / 32, 1); budget > 0; share *= 4) {
    for (const std::vector<size_t> &ranking : ranked) {
      int64_t given = std::min(share, budget);
      int64_t left = given;
      Search search(blocks, ranking, target, left);
      bool found = search.run();
      budget -= given - left;
      if (found) {
        std::vector<int64_t> offsets(blocks.size());
        for (auto [i, block] : llvm::enumerate(blocks))
          offsets[i] = block.fixedOffset.value_or(0);
        for (auto [rank, index] : llvm::enumerate(ranking))
          offsets[index] = search.lowest[rank];
        return offsets;
      }
      // If a search fails before its share is used up, it has proved that no solution exists.
      if (left >= 0 || budget <= 0)
        return {};
    }
  }
  return {};
}
