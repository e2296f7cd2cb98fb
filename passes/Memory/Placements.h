// Blocks at the lowest offsets that they can still take, and what failed.

#ifndef DPC_PASSES_MEMORY_PLACEMENTS_H
#define DPC_PASSES_MEMORY_PLACEMENTS_H

#include "passes/Memory/FirstFit.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>

namespace dpc {

/// What a search has decided of the offsets of blocks, and may take back. The
/// claims about "the solution" hold of each of those whose sum of offsets is
/// smallest, and of the order by index among blocks that are equal.
class Placements {
public:
  /// Blocks with a fixed offset are held from the start. Work is taken from
  /// `budget`, in visits of (block, step) pairs.
  Placements(llvm::ArrayRef<MemoryBlock> blocks, int64_t target, int64_t &budget);

  /// The offset of each block, once all are placed.
  std::vector<int64_t> offsets() const;

protected:
  static constexpr int64_t infinite = std::numeric_limits<int64_t>::max();
  /// Weight of a section that has not failed, and what a failure adds.
  static constexpr int64_t unitWeight = 1024;

  using Span = std::pair<int64_t, int64_t>; // offset, end

  /// A movable block; sections are what lies between events, by number.
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
  /// Places `item` at its lowest offset and raises the blocks it meets. False if
  /// one of them then ends above the target.
  bool place(int item);
  /// Decides that `item` does not lie at its lowest offset: it then rests on
  /// something that ends higher. Needs: no open block that it meets could lie
  /// wholly below it, or that one might come to support it in between. False if
  /// it does not fit.
  bool reject(int item);
  /// Takes back what was decided since there were `size` changes.
  void undo(size_t size);
  /// Can nothing open get in the way of `item` at its lowest offset?
  bool isFree(int item);
  /// Does, or may, something lie in each place that `item` was kept from? If
  /// not, it could be pushed down into it.
  bool isJustified(int item);

  llvm::ArrayRef<MemoryBlock> blocks;
  std::vector<Item> items;
  /// By item. Of a placed one, its offset; else no solution has it lower.
  std::vector<int64_t> lowest;
  std::vector<bool> placed;
  /// By section: fixed blocks that span it, and placed ones, rising.
  std::vector<std::vector<Span>> held;
  /// By section, grows with the failures.
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

  /// By item: the offsets it was decided not to have.
  std::vector<llvm::SmallVector<int64_t, 2>> rejected;
  std::vector<Change> changes;
};

} // namespace dpc

#endif // DPC_PASSES_MEMORY_PLACEMENTS_H
