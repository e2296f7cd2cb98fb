// The state of a search for offsets: the lowest offset that each block can still take, and the
// sections of time in which placements failed.

#ifndef DPC_PASSES_MEMORY_PLACEMENTS_H
#define DPC_PASSES_MEMORY_PLACEMENTS_H

#include "passes/Memory/FirstFit.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>

namespace dpc {

/// The decisions of a search about the offsets of blocks, which the search can undo. "The
/// solution" in the comments below is any solution with the smallest sum of offsets in which
/// equal blocks are ordered by index.
class Placements {
public:
  /// Blocks with a fixed offset are placed from the start. The work done is subtracted from
  /// `budget`, in visits of (block, step) pairs.
  Placements(llvm::ArrayRef<MemoryBlock> blocks, int64_t target, int64_t &budget);

  /// Returns the offset of each block. Needs: all blocks are placed.
  std::vector<int64_t> offsets() const;

protected:
  static constexpr int64_t infinite = std::numeric_limits<int64_t>::max();
  /// The weight of a section without failures, and the weight that a failure adds.
  static constexpr int64_t unitWeight = 1024;

  using Span = std::pair<int64_t, int64_t>; // offset, end

  /// A movable block. Time is divided into numbered sections, which begin and end at the steps
  /// at which a movable block begins or ends.
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
  /// Places `item` at its lowest offset and raises the blocks that overlap it in time and space.
  /// Returns false if a raised block then ends above the target.
  bool place(int item);
  /// Decides that `item` does not lie at its lowest offset. It then rests on a block whose end is
  /// higher, so its lowest offset rises to the next such end. Needs: no open block that meets
  /// `item` fits completely below it, since that block could support `item` at an offset in
  /// between. Returns false if `item` does not fit below the target.
  bool reject(int item);
  /// Undoes all changes but the first `size`.
  void undo(size_t size);
  /// Whether no open block can overlap `item` at its lowest offset.
  bool isFree(int item);
  /// Whether each place that was rejected for `item` is taken, or may still be taken, by another
  /// block. If a place stays free, `item` could be pushed down into it, so this is not the
  /// solution.
  bool isJustified(int item);

  llvm::ArrayRef<MemoryBlock> blocks;
  std::vector<Item> items;
  /// By item: the offset of a placed item, or a lower bound of the offset of an open item.
  std::vector<int64_t> lowest;
  std::vector<bool> placed;
  /// By section: the fixed blocks that span it completely and the placed blocks in it, sorted by
  /// offset.
  std::vector<std::vector<Span>> held;
  /// By section: grows with each failure in the section, so that the search turns to it early.
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

  /// By item: the offsets that were rejected for it.
  std::vector<llvm::SmallVector<int64_t, 2>> rejected;
  std::vector<Change> changes;
};

} // namespace dpc

#endif // DPC_PASSES_MEMORY_PLACEMENTS_H
