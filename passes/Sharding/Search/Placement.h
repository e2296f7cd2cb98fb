#ifndef DPC_PASSES_SHARDING_SEARCH_PLACEMENT_H
#define DPC_PASSES_SHARDING_SEARCH_PLACEMENT_H

#include "passes/Sharding/Search/LayoutRequests.h"
#include "passes/Sharding/Search/OpPlacement.h"
#include "passes/Sharding/Search/PlacementCache.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace dpc {

/// The axes that cut each atom, outermost first.
using AxisPlan = std::map<unsigned, dist::AxisNames>;

/// The layouts of all values of a function under an axis plan, and the cost of moving data between
/// these layouts. Walks the ops in order, and lets `placeOp` choose the layouts of each op. Equal
/// ops in equal situations are placed once, for all plans.
class Assignment {
public:
  /// All arguments must outlive the assignment. `cache` is the cache of the program.
  Assignment(const ProgramLoops &program, const AxisPlan &plan, PlacementCache &cache);

  /// Brings `request.value` to the requested layout as soon as it is made, so that all its readers
  /// find it in this layout. The request must outlive the assignment.
  void bring(const LayoutRequest &request) { brought[program.getNumber(request.value)] = &request; }
  /// Returns the layout of the requested value that answers the request. If the plan cuts atoms of
  /// a dimension over a wanted axis, the axis cuts these atoms. Otherwise the axis cuts the
  /// dimension without regard to atoms (cutPlainly). A dimension without wanted axes is whole. A
  /// sequential axis is never requested: it stays in the dimension that it cuts in the layout
  /// `made`.
  dist::Layout getRequested(const LayoutRequest &request, const dist::Layout *made = nullptr) const;

  /// Returns the layout of `value` that follows from its atoms alone. Arguments without a known
  /// layout or a request get this layout.
  dist::Layout getNatural(mlir::Value value) const;

  /// A value that the function returns. If it has a `carrier`, it is the next value of that
  /// argument, and must have the layout of the argument. If it is an output, it may be sharded but
  /// not partial, because the host assembles it from shards. Any other value must be replicated.
  struct Returned {
    mlir::Value value, carrier;
    bool isOutput;
  };
  /// Returns the layout of an argument of the function. This layout depends only on the argument
  /// and the cuts of its atoms. If several plans agree on these cuts, the function is called once.
  using LayoutOfArgument = llvm::function_ref<dist::Layout(unsigned argument)>;
  /// Assigns a layout to every value, from the arguments to the `returned` values.
  void run(LayoutOfArgument layoutOf, llvm::ArrayRef<Returned> returned);

  /// Facts about op number `op`: the modelled seconds that a device computes, whether all devices
  /// along `axis` compute the same part of it, and the layouts in which it reads its operands and
  /// makes its results.
  double getSeconds(unsigned op) const { return cache.getSeconds(placements[op]); }
  bool isIdle(unsigned op, llvm::StringRef axis) const {
    return dpc::isIdle(program.getOps()[op], cache.getCutAxes(placements[op]), axis);
  }
  std::vector<dist::Layout> getOperands(unsigned op) const;
  std::vector<dist::Layout> getResults(unsigned op) const;
  const dist::Layout &getLayout(mlir::Value value) const {
    return cache.layouts[layouts[program.getNumber(value)]];
  }
  /// The layouts to which `value` is resharded for its readers.
  llvm::SmallVector<const dist::Layout *, 2> getReads(mlir::Value value) const;

  /// The modelled seconds of one step on one device: computation and reshards.
  double getSeconds() const { return computing + moving.seconds; }
  /// The modelled seconds of one step if idle ops were divided, and if their division needed no
  /// reshards.
  double getDividedSeconds() const { return dividedComputing + moving.seconds; }
  /// The seconds of reshards alone, and the bytes that one device sends for them.
  const Price &getTraffic() const { return moving; }

private:
  unsigned countOps(const AtomDim &dim) const;
  dist::DimLayout layOutByAtoms(mlir::Value value, unsigned dim) const;
  void layOutArguments(LayoutOfArgument layoutOf);
  /// Finds the layouts that results of ops must have in the end (`wanted`).
  void findWanted(llvm::ArrayRef<Returned> returned);
  /// Walks through the ops once, and adds up the costs, including those of returning values. A plan
  /// needs up to two walks. The second one (`round` 1) knows which partial sums should be reduced
  /// earlier or later than the first one (`round` 0) reduced them.
  void walk(llvm::ArrayRef<Returned> returned, unsigned round);
  /// Reshards the returned values to the layouts that they must have.
  void finish(llvm::ArrayRef<Returned> returned);
  /// Returns all facts on which the placement of `op` and the reshards of its operands depend.
  PlacementCache::Key getKey(const OpLoops &op) const;
  unsigned place(const OpLoops &op, const PlacementCache::Key &key);
  /// Places `op`, and reshards its operands to the layouts in which it reads them.
  void visit(const OpLoops &op, PlacementCache::Visit &visit);
  unsigned bring(unsigned value, unsigned layout);
  /// Reshards `value` to `layout` for a reader, and returns the cost.
  Price read(unsigned value, unsigned layout);
  /// Finds the partial sums that should be reduced before any op reads them, because otherwise more
  /// bytes would be reduced later, for several readers.
  llvm::BitVector findReducedFirst() const;
  /// Finds the partial sums that should be reduced after the op that reads them, although the
  /// result of this op has more bytes. They are terms of one sum, and reducing this sum takes fewer
  /// bytes than reducing all terms.
  llvm::BitVector findReducedLast(llvm::ArrayRef<Returned> returned) const;
  PartialSums sumsOf(unsigned value) const {
    return reducedFirst.test(value)  ? PartialSums::reducedFirst
           : reducedLast.test(value) ? PartialSums::reducedLast
                                     : PartialSums::reducedSmaller;
  }

  const ProgramLoops &program;
  PlacementCache &cache;
  /// Numbers that the cache gives: by atom, for the axes that cut it; by value, for its layout; by
  /// value, for the set of layouts to which it is resharded; by op, for its placement.
  std::vector<unsigned> cuts, layouts, reads, placements;
  /// The requests for results of ops, by number of the value.
  llvm::MapVector<unsigned, const LayoutRequest *> brought;
  /// By number of the value: 0 for any layout, or one more than the number of the wanted layout.
  std::vector<unsigned> wanted;
  llvm::BitVector reducedFirst, reducedLast;
  double computing = 0, dividedComputing = 0;
  Price moving;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_PLACEMENT_H
