#ifndef DPC_PASSES_SHARDING_SEARCH_PLACEMENTCACHE_H
#define DPC_PASSES_SHARDING_SEARCH_PLACEMENTCACHE_H

#include "passes/Sharding/Search/OpPlacement.h"

#include <deque>
#include <map>
#include <unordered_map>

namespace dpc {

/// The placements of ops that all plans for one program share. A placement has the layouts of an
/// op's operands and results. It is the answer to a question: how is an op of some kind placed for
/// given layouts of its operands and given cuts of its atoms? Repeated layers, and plans that
/// differ elsewhere, ask the same questions.
class PlacementCache {
public:
  /// `mesh` and `meshPrices` must outlive the cache. Ops that are idle for an axis of `divided`
  /// (isIdle) will be divided over this axis (SplitAtoms.h).
  PlacementCache(const dist::MeshShape &mesh, const MeshPrices &meshPrices,
                 llvm::ArrayRef<std::string> divided)
      : mesh(mesh), meshPrices(meshPrices), prices(mesh, meshPrices), layouts(prices.layouts),
        divided(divided), sets(1) {}

  using Key = llvm::SmallVector<unsigned, 16>;

  /// The situation of one op in a walk through the program (`met`), and the consequences. The next
  /// plan differs from the last one in few places, so its walk can reuse most of the consequences.
  struct Visit {
    Key met;
    unsigned placement = 0;
    /// By operand: the number of the set of layouts to which the operand has been resharded, after
    /// the op has read it.
    llvm::SmallVector<unsigned, 4> reads;
    /// The cost of resharding the operands.
    Price moved;
  };
  /// The visit of op number `op` in the last walk; `round` is the first (0) or second (1) walk of a
  /// plan.
  Visit &getVisit(unsigned round, size_t op) {
    std::vector<Visit> &visits = lastVisits[round];
    if (op >= visits.size())
      visits.resize(op + 1);
    return visits[op];
  }

  /// The number of the answer to `key`. If `key` is new, `situate` describes the situation.
  unsigned getPlacement(const Key &key, llvm::function_ref<OpSituation()> situate);
  /// The modelled seconds of the op: as it is placed, and after it has been divided if it is idle.
  double getSeconds(unsigned number) const { return answers[number].seconds; }
  double getDividedSeconds(unsigned number) const { return answers[number].dividedSeconds; }
  /// The axes that cut any loop of the op.
  llvm::ArrayRef<std::string> getCutAxes(unsigned number) const {
    const dist::AxisNames *axes = getAxes(answers[number].cutAxes);
    return axes ? llvm::ArrayRef<std::string>(*axes) : llvm::ArrayRef<std::string>();
  }
  /// The numbers of the layouts of the op: of its operands, then of its results.
  llvm::ArrayRef<unsigned> getLayouts(unsigned number) const { return answers[number].layouts; }

  /// The number of the layout of an argument. If `key` is new, `layOut` returns the layout.
  unsigned getArgument(const Key &key, llvm::function_ref<dist::Layout()> layOut);

  /// The number of answers so far.
  size_t size() const { return answers.size(); }

  /// Returns the number of the set that has `layout` and the members of `set`. Set 0 is the empty
  /// set.
  unsigned insert(unsigned set, unsigned layout);
  llvm::ArrayRef<unsigned> getSet(unsigned set) const { return sets[set]; }

  /// Returns a number for `axes`; 0 if there are no axes.
  unsigned getCuts(const dist::AxisNames &axes);
  const dist::AxisNames *getAxes(unsigned cuts) const {
    return cuts == 0 ? nullptr : &axisNames[cuts - 1];
  }

  const dist::MeshShape &mesh;
  const MeshPrices &meshPrices;
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
  // These maps are looked up by key only, so their order cannot affect the program.
  std::unordered_map<Key, unsigned, Hash> known, arguments;
  std::map<std::pair<unsigned, unsigned>, unsigned> inserted;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_PLACEMENTCACHE_H
