#ifndef DPC_PASSES_SHARDING_PLACEMENTCACHE_H
#define DPC_PASSES_SHARDING_PLACEMENTCACHE_H

#include "passes/Sharding/OpPlacement.h"

#include <deque>
#include <unordered_map>

namespace dpc {

/// Layouts by number; equal ones have one.
class LayoutTable {
public:
  explicit LayoutTable(const dist::MeshShape &mesh) : mesh(mesh) {}

  unsigned getNumber(const dist::Layout &layout);
  const dist::Layout &operator[](unsigned number) const { return layouts[number]; }
  /// Whether devices hold the same under both.
  bool isSame(unsigned a, unsigned b);
  /// Whether some axis of devices, not a sequential one, has left partial sums.
  bool isPartialSum(unsigned number) const { return partialSums[number]; }

private:
  struct Hash {
    size_t operator()(const dist::Layout &layout) const { return hash_value(layout); }
  };

  const dist::MeshShape &mesh;
  std::deque<dist::Layout> layouts;
  std::vector<bool> partialSums;
  // Looked up by key only: their order never shows.
  std::unordered_map<dist::Layout, unsigned, Hash> numbers;
  llvm::DenseMap<std::pair<unsigned, unsigned>, bool> same;
};

/// What plans for one program have in common: how an op of a kind is placed when
/// its operands lie so and its atoms are cut so. Layers that repeat, and plans that
/// differ elsewhere, ask the same questions.
class PlacementCache {
public:
  /// `mesh` and `machine` outlive the cache. What an axis of `divided` leaves idle
  /// will be divided over it (SplitAtoms.h).
  PlacementCache(const dist::MeshShape &mesh, const Machine &machine,
                 llvm::ArrayRef<std::string> divided)
      : mesh(mesh), machine(machine), layouts(mesh), divided(divided), prices(mesh, machine),
        sets(1) {}

  using Key = llvm::SmallVector<unsigned, 16>;

  /// The number of the answer to `key`, which `situate` describes if nobody has
  /// asked before.
  unsigned getPlacement(const Key &key, llvm::function_ref<OpSituation()> situate);
  const OpPlacement &getPlacement(unsigned number) const { return answers[number].placement; }
  /// Its modelled seconds once nothing is left idle.
  double getDividedSeconds(unsigned number) const { return answers[number].dividedSeconds; }
  /// The numbers of its layouts, of operands, then of results.
  llvm::ArrayRef<unsigned> getLayouts(unsigned number) const { return answers[number].layouts; }

  /// Sets of layouts, 0 being empty: that of `set` and `layout`.
  unsigned insert(unsigned set, unsigned layout);
  llvm::ArrayRef<unsigned> getSet(unsigned set) const { return sets[set]; }

  /// A number for `axes`, 0 for none.
  unsigned getCuts(const dist::AxisNames &axes);
  const dist::AxisNames *getAxes(unsigned cuts) const {
    return cuts == 0 ? nullptr : &axisNames[cuts - 1];
  }

  const ReshardCost &getCost(unsigned from, unsigned to, int64_t bytes);

  const dist::MeshShape &mesh;
  const Machine &machine;
  LayoutTable layouts;

private:
  struct Answer {
    OpPlacement placement;
    double dividedSeconds;
    llvm::SmallVector<unsigned, 8> layouts;
  };
  struct Hash {
    size_t operator()(const Key &key) const {
      return llvm::hash_combine_range(key.begin(), key.end());
    }
  };

  const llvm::SmallVector<std::string> divided;
  ReshardPrices prices;
  std::deque<Answer> answers;
  std::vector<llvm::SmallVector<unsigned, 2>> sets;
  std::deque<dist::AxisNames> axisNames;
  // Looked up by key only: their order never shows.
  std::unordered_map<Key, unsigned, Hash> known;
  std::map<std::pair<unsigned, unsigned>, unsigned> inserted;
  llvm::DenseMap<std::pair<std::pair<unsigned, unsigned>, int64_t>, ReshardCost> costs;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_PLACEMENTCACHE_H
