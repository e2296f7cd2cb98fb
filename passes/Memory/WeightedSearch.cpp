// Searches the offsets of all blocks of a region together, by branch and bound.
//
// For each block, the search keeps the lowest offset that the block can still have. A block without
// a decided offset is open. The search branches on one open block: either the block lies at its
// lowest offset, or this offset is rejected. Only solutions in which no block can move down are
// considered. In such a solution, every block lies directly above another block or at offset 0.
// Therefore a rejection raises the lowest offset of the block to the next end of a block on which
// it could lie.
//
// Three parts are after Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
// Hardware-Accelerated Machine Learning" (ASPLOS 2023): the properties of such solutions that prune
// the search, the check that each section of time can hold the open blocks, and the split into
// independent parts at steps that no open block spans.
//
// The next block is chosen in the section of time that has the fewest choices relative to its
// weight. The weight grows with the failures in the section ("dom/wdeg": Boussemart et al.,
// "Boosting systematic search by weighting constraints", ECAI 2004). After a limited number of
// branches the search restarts, but keeps the weights.

#include "passes/Memory/WeightedSearch.h"
#include "passes/Memory/Placements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <tuple>

using namespace dpc;
using llvm::ArrayRef;

namespace {

/// Each block has a list of the blocks that are live at the same time. The lists need quadratic
/// memory, so this search does not run on problems with more movable blocks. Only repairOffsets()
/// then improves the plan.
constexpr size_t maxSearchedBlocks = 1000;

/// The largest number of nodes (branches) of the first search. The limit of each later search is
/// larger by a twentieth.
constexpr int64_t firstNodeLimit = 300;

/// Runs several searches of the same blocks, one after another. Each search begins with the weights
/// that the sections have after the earlier searches.
class WeightedSearch : public Placements {
public:
  WeightedSearch(ArrayRef<MemoryBlock> blocks, int64_t target, int64_t &budget)
      : Placements(blocks, target, budget), sections(weights.size()) {}

  enum class Outcome { found, impossible, unknown };
  /// The kind of block that is preferred if several blocks could be decided next: the block that is
  /// live for the most steps, or the block that spans the most sections.
  enum class Preference { steps, sections };

  /// Runs one search. Gives up with `unknown` after `limit` nodes, or if the budget is used up.
  Outcome run(Preference preferred, int64_t limit);

private:
  /// Measures of the open blocks in one section. Every node of the search computes them anew.
  struct Section {
    int64_t bytes;    // sum of the sizes of the open blocks
    int64_t lowest;   // the lowest offset that an open block can have
    int64_t smallest; // the size of the smallest open block
    int64_t slack;    // bytes above `lowest` that may stay empty
    int64_t choices;  // number of open blocks that could be the lowest one
  };

  bool placeFree(std::vector<int> &open, bool &any);
  bool measure(ArrayRef<int> open, int begin, int end);
  int choose(ArrayRef<int> open, int begin, int end);
  bool solve(std::vector<int> open);
  bool solveParts(ArrayRef<int> open);
  bool isSpent() const { return budget < 0 || nodes > nodeLimit; }

  std::vector<Section> sections;
  Preference preference = Preference::steps;
  int64_t nodes = 0;
  int64_t nodeLimit = 0;
};

/// Splits the open blocks at the steps that no open block spans, and solves each part on its own.
/// Small parts come first, because a failure is found soonest in them.
bool WeightedSearch::solveParts(ArrayRef<int> open) {
  std::vector<int> sorted(open.begin(), open.end());
  llvm::sort(sorted, [&](int a, int b) {
    return std::tuple(items[a].firstSection, a) < std::tuple(items[b].firstSection, b);
  });
  std::vector<std::vector<int>> parts;
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    int reach = items[*begin].lastSection;
    auto end = begin + 1;
    for (; end != sorted.end() && items[*end].firstSection < reach; ++end)
      reach = std::max(reach, items[*end].lastSection);
    parts.emplace_back(begin, end);
    begin = end;
  }
  llvm::stable_sort(parts, [](const auto &a, const auto &b) { return a.size() < b.size(); });
  return llvm::all_of(parts, [&](std::vector<int> &part) { return solve(std::move(part)); });
}

/// Places all free blocks of `open`, and removes them from `open`. A block at its lowest offset is
/// free if no other open block can overlap it there (isFree). Sets `any` if `open` had free blocks.
/// Returns false if the remaining blocks have no solution.
bool WeightedSearch::placeFree(std::vector<int> &open, bool &any) {
  for (size_t i = 0; i < open.size();) {
    if (!isFree(open[i])) {
      ++i;
      continue;
    }
    if (!place(open[i]))
      return false;
    open.erase(open.begin() + i);
    any = true;
    i = 0;
  }
  return llvm::all_of(open, [&](int item) { return isJustified(item); });
}

/// Computes the measures in `sections`. Returns whether each section has room for its open blocks.
/// Bytes below the lowest offset of all open blocks are not room. A gap that is smaller than the
/// smallest open block is no room either.
bool WeightedSearch::measure(ArrayRef<int> open, int begin, int end) {
  std::fill(sections.begin() + begin, sections.begin() + end, Section{0, infinite, infinite, 0, 0});
  for (int index : open) {
    const Item &item = items[index];
    budget -= item.lastSection - item.firstSection + 1;
    for (int s = item.firstSection; s < item.lastSection; ++s) {
      Section &section = sections[s];
      section.bytes += item.size;
      section.lowest = std::min(section.lowest, lowest[index]);
      section.smallest = std::min(section.smallest, item.size);
    }
  }
  for (int s = begin; s < end; ++s) {
    Section &section = sections[s];
    if (!section.bytes)
      continue;
    budget -= held[s].size();
    int64_t room = 0, from = section.lowest;
    auto addGap = [&](int64_t gap) { room += gap < section.smallest ? 0 : gap; };
    for (auto [offset, heldEnd] : held[s]) {
      if (offset < section.lowest)
        continue;
      addGap(offset - from);
      from = heldEnd;
    }
    addGap(target - from);
    section.slack = room - section.bytes;
    if (section.slack < 0) {
      weights[s] += unitWeight;
      return false;
    }
  }
  for (int index : open)
    for (int s = items[index].firstSection; s < items[index].lastSection; ++s)
      sections[s].choices += lowest[index] - sections[s].lowest <= sections[s].slack;
  return true;
}

/// Returns the block to branch on next. Takes the section that has the fewest choices relative to
/// its weight. Of the open blocks with the lowest offset in this section, takes the preferred one.
int WeightedSearch::choose(ArrayRef<int> open, int begin, int end) {
  int tightest = -1;
  for (int s = begin; s < end; ++s) {
    if (!sections[s].bytes)
      continue;
    if (tightest < 0) {
      tightest = s;
      continue;
    }
    // A section with a single choice needs no branch, so a single choice counts as only a tenth of
    // a choice.
    int64_t mine = (10 * sections[s].choices - 9) * weights[tightest];
    int64_t its = (10 * sections[tightest].choices - 9) * weights[s];
    if (std::tuple(mine, sections[s].slack) < std::tuple(its, sections[tightest].slack))
      tightest = s;
  }
  auto isPreferred = [&](int index, int other) {
    const Item &a = items[index], &b = items[other];
    return preference == Preference::steps
               ? a.steps > b.steps
               : a.lastSection - a.firstSection > b.lastSection - b.firstSection;
  };
  int chosen = -1;
  for (int index : open)
    if (items[index].firstSection <= tightest && tightest < items[index].lastSection &&
        lowest[index] == sections[tightest].lowest && (chosen < 0 || isPreferred(index, chosen)))
      chosen = index;
  // If an open block fits completely below the chosen block, the lower block must be decided first.
  // Each block that this loop chooses lies lower than the one before, so the loop ends.
  for (int below = chosen; below >= 0;) {
    chosen = below;
    below = -1;
    budget -= items[chosen].meets.size();
    for (int other : items[chosen].meets)
      if (!placed[other] &&
          int64_t(llvm::alignTo(lowest[other] + items[other].size, items[chosen].alignment)) <=
              lowest[chosen] &&
          (below < 0 || isPreferred(other, below)))
        below = other;
  }
  return chosen;
}

/// Branches on blocks of `open` until all of them are placed. Returns false if that is impossible,
/// or if a limit is reached. Needs: `open` cannot be split into independent parts.
bool WeightedSearch::solve(std::vector<int> open) {
  while (!open.empty()) {
    ++nodes;
    if (isSpent())
      return false;
    bool any = false;
    if (!placeFree(open, any))
      return false;
    if (any)
      return solveParts(open);
    int begin = items[open.front()].firstSection, end = 0;
    for (int item : open) {
      begin = std::min(begin, items[item].firstSection);
      end = std::max(end, items[item].lastSection);
    }
    if (!measure(open, begin, end))
      return false;
    int chosen = choose(open, begin, end);
    size_t size = numChanges();
    std::vector<int> rest;
    llvm::copy_if(open, std::back_inserter(rest), [&](int item) { return item != chosen; });
    if (place(chosen) && solveParts(rest))
      return true;
    undo(size);
    if (isSpent() || !reject(chosen))
      return false;
  }
  return true;
}

WeightedSearch::Outcome WeightedSearch::run(Preference preferred, int64_t limit) {
  preference = preferred;
  nodes = 0;
  nodeLimit = limit;
  undo(0);
  std::vector<int> open(items.size());
  std::iota(open.begin(), open.end(), 0);
  for (int item : open)
    if (lowest[item] + items[item].size > target)
      return Outcome::impossible;
  if (solveParts(open))
    return Outcome::found;
  return isSpent() ? Outcome::unknown : Outcome::impossible;
}

} // namespace

std::vector<int64_t> dpc::searchByWeights(ArrayRef<MemoryBlock> blocks, int64_t target,
                                          int64_t &budget) {
  size_t movable =
      llvm::count_if(blocks, [](const MemoryBlock &block) { return !block.fixedOffset; });
  for (const MemoryBlock &block : blocks)
    if (block.fixedOffset && *block.fixedOffset + block.size > target)
      return {};
  if (movable > maxSearchedBlocks)
    return {};
  WeightedSearch search(blocks, target, budget);
  using Preference = WeightedSearch::Preference;
  Preference preference = Preference::steps;
  for (int64_t nodeLimit = firstNodeLimit;; nodeLimit += nodeLimit / 20) {
    WeightedSearch::Outcome outcome = search.run(preference, nodeLimit);
    if (outcome == WeightedSearch::Outcome::found)
      return search.offsets();
    if (outcome == WeightedSearch::Outcome::impossible || budget < 0)
      return {};
    preference = preference == Preference::steps ? Preference::sections : Preference::steps;
  }
}
