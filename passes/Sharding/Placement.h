#ifndef DPC_PASSES_SHARDING_PLACEMENT_H
#define DPC_PASSES_SHARDING_PLACEMENT_H

#include "passes/Sharding/LayoutRequests.h"
#include "passes/Sharding/OpPlacement.h"
#include "passes/Sharding/PlacementCache.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace dpc {

/// Which axes cut which atom, outermost first.
using AxisPlan = std::map<unsigned, dist::AxisNames>;

/// Layouts of every value of a function under an axis plan, and what moving
/// data between them costs. Walks the ops in order, each of which `placeOp` lays
/// out; ops that are alike are asked about once, for all plans.
class Assignment {
public:
  /// All outlive the assignment. `cache` is that of the program.
  Assignment(const ProgramLoops &program, const AxisPlan &plan, PlacementCache &cache);

  /// That `request.value` shall be brought to the layout asked for as soon as it is
  /// made: all read it so. The request outlives the assignment.
  void bring(const LayoutRequest &request) { brought[program.getNumber(request.value)] = &request; }
  /// The layout of `value` as asked for: by its atoms where axes that are wanted cut
  /// them, and whole where no axis is. A sequential axis, which nobody asks for, stays
  /// in the dimension that it cuts where the value is `made`.
  dist::Layout getRequested(const LayoutRequest &request, const dist::Layout *made = nullptr) const;

  /// The layout of `value` by its atoms alone: what arguments get.
  dist::Layout getNatural(mlir::Value value) const;

  /// A value that the function returns. With `carrier` it is the next value of
  /// that argument, and lies as it does; an output is put together by the host, so
  /// it may be cut but not partial; of anything else every device has all.
  struct Returned {
    mlir::Value value, carrier;
    bool isOutput;
  };
  /// The layout of an argument of the function. It depends on the argument and the cuts of
  /// its atoms alone, so plans that agree there ask for it once.
  using LayoutOfArgument = llvm::function_ref<dist::Layout(unsigned argument)>;
  /// Assigns everything, from the arguments to what is `returned`.
  void run(LayoutOfArgument layoutOf, llvm::ArrayRef<Returned> returned);

  /// Of op `op` the modelled seconds that a device computes, whether devices along
  /// `axis` all compute the same of it, and the layouts of its operands and results as
  /// it works in them.
  double getSeconds(unsigned op) const { return cache.getSeconds(placements[op]); }
  bool isIdle(unsigned op, llvm::StringRef axis) const {
    return dpc::isIdle(program.getOps()[op], cache.getCutAxes(placements[op]), axis);
  }
  std::vector<dist::Layout> getOperands(unsigned op) const;
  std::vector<dist::Layout> getResults(unsigned op) const;
  const dist::Layout &getLayout(mlir::Value value) const {
    return cache.layouts[layouts[program.getNumber(value)]];
  }
  /// Layouts that `value` is brought to for its readers.
  llvm::SmallVector<const dist::Layout *, 2> getReads(mlir::Value value) const;

  /// Modelled seconds of one step on one device: compute and reshards.
  double getSeconds() const { return computing + moving.seconds; }
  /// The same once what is idle has been divided, if that needed no reshards.
  double getDividedSeconds() const { return dividedComputing + moving.seconds; }
  /// Those of reshards alone, and the bytes that one device sends for them.
  const Price &getTraffic() const { return moving; }

private:
  unsigned countOps(const AtomDim &dim) const;
  dist::DimLayout layOutByAtoms(mlir::Value value, unsigned dim) const;
  void layOutArguments(LayoutOfArgument layoutOf);
  /// Finds how values have to lie in the end.
  void findWanted(llvm::ArrayRef<Returned> returned);
  /// One walk through the ops, the first or second of the plan, and what it costs to
  /// return values.
  void walk(llvm::ArrayRef<Returned> returned, unsigned round);
  /// Brings what is returned to where it has to be.
  void finish(llvm::ArrayRef<Returned> returned);
  /// All that the placement of `op` and what it reads depend on.
  PlacementCache::Key getKey(const OpLoops &op) const;
  unsigned place(const OpLoops &op, const PlacementCache::Key &key);
  /// Places `op` and brings its operands to where it reads them.
  void visit(const OpLoops &op, PlacementCache::Visit &visit);
  unsigned bring(unsigned value, unsigned layout);
  /// Brings `value` to `layout` for a reader, and returns what that costs.
  Price read(unsigned value, unsigned layout);
  /// Partial sums that had better be reduced before anything reads them: those of
  /// which more bytes are reduced later, by several readers.
  llvm::BitVector findReducedFirst() const;
  /// Partial sums that had better not be reduced before what reads them, though that has
  /// more bytes: terms of one sum, of which fewer bytes are reduced.
  llvm::BitVector findReducedLast(llvm::ArrayRef<Returned> returned) const;
  PartialSums sumsOf(unsigned value) const {
    return reducedFirst.test(value)  ? PartialSums::reducedFirst
           : reducedLast.test(value) ? PartialSums::reducedLast
                                     : PartialSums::reducedSmaller;
  }

  const ProgramLoops &program;
  PlacementCache &cache;
  /// Numbers in the cache: of the axes that cut each atom; of the layout of each
  /// value, and of the set of those it is brought to; of the placement of each op.
  std::vector<unsigned> cuts, layouts, reads, placements;
  /// By number of the value.
  llvm::MapVector<unsigned, const LayoutRequest *> brought;
  /// By number of the value: 0, or a layout's number and 1.
  std::vector<unsigned> wanted;
  llvm::BitVector reducedFirst, reducedLast;
  double computing = 0, dividedComputing = 0;
  Price moving;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_PLACEMENT_H
