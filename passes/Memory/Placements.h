// The state of a search for offsets: the lowest offset that each block can still have, and weights
// for the sections of time in which placements failed.

#ifndef DPC_PASSES_MEMORY_PLACEMENTS_H
#define DPC_PASSES_MEMORY_PLACEMENTS_H

#include "passes/Memory/FirstFit.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>

namespace dpc {

/// The decisions of a search about the offsets of blocks. The search can undo them. A block is open
/// if it has no offset yet. In the comments below, "the solution" is any solution that has the
/// smallest sum of offsets and in which blocks of equal size and lifetime are ordered by index.
class Placements {
public:
  /// Prepares a search for offsets at which every block ends at or below `target`. Places the
  /// blocks that have a fixed offset. Subtracts the work from `budget`, as a number of visits of
  /// (block, step) pairs.
  Placements(llvm::ArrayRef<MemoryBlock> blocks, int64_t target, int64_t &budget);

  /// Returns the offset of each block. Needs: all blocks are placed.
  std::vector<int64_t> offsets() const;

protected:
  static constexpr int64_t infinite = std::numeric_limits<int64_t>::max();
  /// The weight of a section without failures, and the total weight that a failure adds to the
  /// sections of a block.
  static constexpr int64_t unitWeight = 1024;

  using Span = std::pair<int64_t, int64_t>; // the begin and the end of a range of bytes

  /// A movable block: a block without a fixed offset. Time is divided into numbered sections. They
  /// begin and end at the steps at which the lifetime of a movable block begins or ends.
  struct Item {
    size_t block;
    int64_t size;
    int64_t alignment;
    int64_t steps;
    int firstSection;
    int lastSection;
    llvm::SmallVector<Span, 0> fixed;
    llvm::SmallVector<int, 0> meets;
  };

  bool isOpenBelow(int item, int64_t offset) const {
    return !placed[item] && lowest[item] < offset;
  }
  /// Places `item` at its lowest offset. Raises the lowest offsets of the open blocks that would
  /// overlap `item` in time and space. Returns false if a raised block would then end above the
  /// target.
  bool place(int item);
  /// Decides that `item` does not lie at its lowest offset. In the solution, `item` then lies
  /// directly above another block, whose end is above the rejected offset. Therefore the lowest
  /// offset of `item` rises to the lowest such end. Returns false if `item` then does not fit below
  /// the target.
  ///
  /// Needs: no open block that is live at the same time fits completely below `item`. If one did
  /// fit there, `item` could lie directly above it, at an offset that this function skips.
  bool reject(int item);
  /// Undoes all changes except the first `size` changes.
  void undo(size_t size);
  /// Whether no open block can overlap `item` at the lowest offset of `item`.
  bool isFree(int item);
  /// Whether, for each offset that was rejected for `item`, another block overlaps or may still
  /// overlap `item` at this offset. If no block does, `item` could move down to the offset, so the
  /// placements are not the solution.
  bool isJustified(int item);

  llvm::ArrayRef<MemoryBlock> blocks;
  std::vector<Item> items;
  /// For each item, the offset if it is placed, and a lower bound of the offset if it is open.
  std::vector<int64_t> lowest;
  std::vector<bool> placed;
  /// For each section, the byte ranges of the placed blocks in it and of the fixed blocks that span
  /// all of it, sorted by offset.
  std::vector<std::vector<Span>> held;
  /// For each section, a weight that grows with each failure in the section. The search decides
  /// blocks of sections with large weights early.
  std::vector<int64_t> weights;
  int64_t target;
  int64_t &budget;

  size_t numChanges() const { return changes.size(); }

private:
  struct Change {
    enum Kind { lowered, placement, rejection } kind;
    int item;
    int64_t before;
  };

  int64_t clear(int item, int64_t offset);
  void raise(int item, int64_t offset);
  void blame(int item);
  bool repeats(int item, int other) const;

  /// For each item, the offsets that were rejected for it.
  std::vector<llvm::SmallVector<int64_t, 2>> rejected;
  std::vector<Change> changes;
};

} // namespace dpc

#endif // DPC_PASSES_MEMORY_PLACEMENTS_H
