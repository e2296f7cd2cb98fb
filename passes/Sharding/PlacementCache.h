#ifndef DPC_PASSES_SHARDING_PLACEMENTCACHE_H
#define DPC_PASSES_SHARDING_PLACEMENTCACHE_H

#include "passes/Sharding/OpPlacement.h"

#include <deque>
#include <map>
#include <unordered_map>

namespace dpc {

/// What plans for one program have in common: how an op of a kind is placed when
/// its operands lie so and its atoms are cut so. Layers that repeat, and plans that
/// differ elsewhere, ask the same questions.
class PlacementCache {
public:
  /// `mesh` and `machine` outlive the cache. What an axis of `divided` leaves idle
  /// will be divided over it (SplitAtoms.h).
  PlacementCache(const dist::MeshShape &mesh, const Machine &machine,
                 llvm::ArrayRef<std::string> divided)
      : mesh(mesh), machine(machine), prices(mesh, machine), layouts(prices.layouts),
        divided(divided), sets(1) {}

  using Key = llvm::SmallVector<unsigned, 16>;

  /// What a walk through a program met at one op, and what followed from it. Plans that
  /// are priced one after the other differ in few places.
  struct Visit {
    Key met;
    unsigned placement = 0;
    /// Of each operand the set of layouts that it is brought to after the op.
    llvm::SmallVector<unsigned, 4> reads;
    /// Of bringing operands there.
    Price moved;
  };
  /// That of the last walk: `round` 0 or 1 of a plan, at op number `op`.
  Visit &getVisit(unsigned round, size_t op) {
    std::vector<Visit> &visits = lastVisits[round];
    if (op >= visits.size())
      visits.resize(op + 1);
    return visits[op];
  }

  /// The number of the answer to `key`, which `situate` describes if nobody has
  /// asked before.
  unsigned getPlacement(const Key &key, llvm::function_ref<OpSituation()> situate);
  /// Its modelled seconds, as it is and once nothing is left idle.
  double getSeconds(unsigned number) const { return answers[number].seconds; }
  double getDividedSeconds(unsigned number) const { return answers[number].dividedSeconds; }
  /// The axes that cut any of its loops.
  llvm::ArrayRef<std::string> getCutAxes(unsigned number) const {
    const dist::AxisNames *axes = getAxes(answers[number].cutAxes);
    return axes ? llvm::ArrayRef<std::string>(*axes) : llvm::ArrayRef<std::string>();
  }
  /// The numbers of its layouts, of operands, then of results.
  llvm::ArrayRef<unsigned> getLayouts(unsigned number) const { return answers[number].layouts; }

  /// The number of the layout of an argument, which `layOut` gives if nobody has asked
  /// before.
  unsigned getArgument(const Key &key, llvm::function_ref<dist::Layout()> layOut);

  /// Answers so far.
  size_t size() const { return answers.size(); }

  /// Sets of layouts, 0 being empty: that of `set` and `layout`.
  unsigned insert(unsigned set, unsigned layout);
  llvm::ArrayRef<unsigned> getSet(unsigned set) const { return sets[set]; }

  /// A number for `axes`, 0 for none.
  unsigned getCuts(const dist::AxisNames &axes);
  const dist::AxisNames *getAxes(unsigned cuts) const {
    return cuts == 0 ? nullptr : &axisNames[cuts - 1];
  }

  const dist::MeshShape &mesh;
  const Machine &machine;
  ReshardPrices prices;
  LayoutTable &layouts;

private:
  struct Answer {
    double seconds, dividedSeconds;
    unsigned cutAxes;
    llvm::SmallVector<unsigned, 8> layouts;
  };
  struct Hash {
    size_t operator()(const Key &key) const {
      return llvm::hash_combine_range(key.begin(), key.end());
    }
  };

  const llvm::SmallVector<std::string> divided;
  std::vector<Visit> lastVisits[2];
  std::deque<Answer> answers;
  std::vector<llvm::SmallVector<unsigned, 2>> sets;
  std::deque<dist::AxisNames> axisNames;
  // Looked up by key only: their order never shows.
  std::unordered_map<Key, unsigned, Hash> known, arguments;
  std::map<std::pair<unsigned, unsigned>, unsigned> inserted;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_PLACEMENTCACHE_H
