// Keeps the lowest offset that each block can still have, and the weights of the sections in which
// placements failed.
//
// The conclusions that are drawn from each decision follow Moffitt, "MiniMalloc" (ASPLOS 2023). In
// a solution with the smallest sum of offsets, no block can move down. Therefore every block lies
// directly above another block or at offset 0. If an offset was rejected for a block, another block
// must be in the way at this offset.

#include "passes/Memory/Placements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace dpc;
using llvm::ArrayRef;

Placements::Placements(ArrayRef<MemoryBlock> blocks, int64_t target, int64_t &budget)
    : blocks(blocks), target(target), budget(budget) {
  std::vector<int64_t> steps;
  std::vector<const MemoryBlock *> fixed;
  for (const MemoryBlock &block : blocks) {
    if (block.fixedOffset) {
      fixed.push_back(&block);
      continue;
    }
    steps.push_back(block.first);
    steps.push_back(block.last);
  }
  llvm::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  auto section = [&](int64_t step) -> int {
    return llvm::lower_bound(steps, step) - steps.begin();
  };
  held.resize(steps.size());
  weights.assign(steps.size(), unitWeight);
  llvm::stable_sort(fixed, [](const MemoryBlock *a, const MemoryBlock *b) {
    return *a->fixedOffset < *b->fixedOffset;
  });
  for (const MemoryBlock *block : fixed)
    // A section counts a fixed block only if the block spans the complete section.
    for (int s = section(block->first);
         s + 1 < static_cast<int>(steps.size()) && steps[s + 1] <= block->last; ++s)
      held[s].emplace_back(*block->fixedOffset, *block->fixedOffset + block->size);

  for (auto [index, block] : llvm::enumerate(blocks)) {
    if (block.fixedOffset)
      continue;
    Item item{index,
              block.size,
              block.alignment,
              block.last - block.first,
              section(block.first),
              section(block.last),
              {},
              {}};
    for (const MemoryBlock *other : fixed)
      if (block.meets(*other))
        item.fixed.emplace_back(*other->fixedOffset, *other->fixedOffset + other->size);
    items.push_back(std::move(item));
  }
  for (auto [i, item] : llvm::enumerate(items))
    for (auto [j, other] : llvm::enumerate(items))
      if (i != j && blocks[item.block].meets(blocks[other.block]))
        item.meets.push_back(j);
  lowest.resize(items.size());
  placed.resize(items.size());
  rejected.resize(items.size());
  budget -= items.size() * blocks.size();
  for (size_t i = 0; i < items.size(); ++i)
    lowest[i] = clear(i, 0);
}

/// Returns the lowest offset, not below `offset`, at which the item overlaps no fixed block and no
/// placed block.
int64_t Placements::clear(int index, int64_t offset) {
  const Item &item = items[index];
  offset = llvm::alignTo(offset, item.alignment);
  for (bool moved = true; moved;) {
    moved = false;
    for (auto [begin, end] : item.fixed) {
      if (begin >= offset + item.size)
        break;
      if (end > offset) {
        offset = llvm::alignTo(end, item.alignment);
        moved = true;
      }
    }
    for (int other : item.meets) {
      int64_t end = lowest[other] + items[other].size;
      if (placed[other] && lowest[other] < offset + item.size && offset < end) {
        offset = llvm::alignTo(end, item.alignment);
        moved = true;
      }
    }
    budget -= item.meets.size() + item.fixed.size();
  }
  return offset;
}

void Placements::raise(int item, int64_t offset) {
  changes.push_back({Change::lowered, item, lowest[item]});
  lowest[item] = offset;
}

/// Raises the weights of all sections that the item spans, because the item does not fit there. The
/// weight of one failure is divided among these sections, so that every failure adds about the same
/// weight in total.
void Placements::blame(int index) {
  const Item &item = items[index];
  int64_t share = std::max<int64_t>(1, unitWeight / (item.lastSection - item.firstSection));
  for (int s = item.firstSection; s < item.lastSection; ++s)
    weights[s] += share;
}

bool Placements::place(int index) {
  const Item &item = items[index];
  Span span(lowest[index], lowest[index] + item.size);
  changes.push_back({Change::placement, index, 0});
  placed[index] = true;
  for (int s = item.firstSection; s < item.lastSection; ++s)
    held[s].insert(llvm::upper_bound(held[s], span), span);
  budget -= item.meets.size() + item.lastSection - item.firstSection;
  for (int other : item.meets) {
    if (!isOpenBelow(other, span.second) || lowest[other] + items[other].size <= span.first)
      continue;
    raise(other, clear(other, span.second));
    if (lowest[other] + items[other].size > target) {
      blame(other);
      return false;
    }
  }
  return true;
}

bool Placements::repeats(int index, int otherIndex) const {
  const Item &item = items[index], &other = items[otherIndex];
  return item.size == other.size && item.alignment == other.alignment &&
         item.firstSection == other.firstSection && item.lastSection == other.lastSection;
}

bool Placements::reject(int index) {
  const Item &item = items[index];
  int64_t next = infinite;
  auto support = [&](int64_t end) {
    int64_t offset = llvm::alignTo(end, item.alignment);
    if (offset > lowest[index])
      next = std::min(next, offset);
  };
  for (Span fixed : item.fixed)
    support(fixed.second);
  for (int other : item.meets)
    support(lowest[other] + items[other].size);
  budget -= item.meets.size();
  if (next < infinite)
    next = clear(index, next);
  if (next > target - item.size) {
    blame(index);
    return false;
  }
  // Equal blocks are ordered by index. Therefore the equal open blocks must not have the rejected
  // offset either.
  int64_t given = lowest[index];
  for (int other : item.meets)
    if (!placed[other] && lowest[other] == given && repeats(index, other))
      raise(other, next);
  changes.push_back({Change::rejection, index, 0});
  rejected[index].push_back(given);
  raise(index, next);
  return true;
}

void Placements::undo(size_t size) {
  for (; changes.size() > size; changes.pop_back()) {
    auto [kind, index, before] = changes.back();
    if (kind == Change::lowered) {
      lowest[index] = before;
    } else if (kind == Change::rejection) {
      rejected[index].pop_back();
    } else {
      const Item &item = items[index];
      Span span(lowest[index], lowest[index] + item.size);
      for (int s = item.firstSection; s < item.lastSection; ++s)
        held[s].erase(llvm::lower_bound(held[s], span));
      placed[index] = false;
    }
  }
}

bool Placements::isFree(int index) {
  int64_t end = lowest[index] + items[index].size;
  for (int other : items[index].meets) {
    --budget;
    if (isOpenBelow(other, end))
      return false;
  }
  return true;
}

bool Placements::isJustified(int index) {
  const Item &item = items[index];
  return llvm::all_of(rejected[index], [&](int64_t offset) {
    return llvm::any_of(item.meets, [&](int other) {
      --budget;
      return lowest[other] < offset + item.size &&
             (!placed[other] || lowest[other] + items[other].size > offset);
    });
  });
}

std::vector<int64_t> Placements::offsets() const {
  std::vector<int64_t> result;
  for (const MemoryBlock &block : blocks)
    result.push_back(block.fixedOffset.value_or(0));
  for (auto [item, offset] : llvm::zip_equal(items, lowest))
    result[item.block] = offset;
  return result;
}
