// Plans the function of a kernel: its loops, the places of its values, and the
// needs of its code.

#include "targets/Loops/Kernels/FunctionPlan.h"

#include "dialects/NN/IR/Shape.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

/// Places a value in scratch memory or registers, unless it is in the buffer of a
/// result. `ordinal` is the number of the group that computes the value, and
/// `lastGroup` is the last group that reads it.
static void placeValue(FunctionPlan &plan, Value value, unsigned ordinal, unsigned lastGroup) {
  if (plan.places.isResult(value))
    return;
  const LoopGroup &group = plan.loops.groups[ordinal];
  plan.groups[ordinal].placed.push_back(value);
  int64_t count = nn::typeOf(value).getNumElements(), rowElements = 0;
  bool isLocal = lastGroup <= ordinal;
  if (group.rows.count > 1 && isLocal)
    rowElements = count / group.rows.count;
  // A value that is only read in the iteration that computes it stays in
  // registers.
  if ((group.isFilled && group.stages.size() > 1 && isLocal) || rowElements == 1) {
    plan.places.place(value, {KernelPlaces::Place::Kind::registers});
    return;
  }
  plan.places.placeInScratch(value, rowElements, std::max(ordinal, lastGroup));
}

static void placeGroup(FunctionPlan &plan, unsigned ordinal,
                       const DenseMap<Value, unsigned> &lastGroup, GetFillScratch getScratch) {
  const LoopGroup &group = plan.loops.groups[ordinal];
  FunctionPlan::Group &own = plan.groups.emplace_back();
  Operation *first = group.stages[0].roots[0];
  plan.places.startGroup(ordinal);
  for (Operation *root : group.getRoots())
    for (Value value : root->getResults())
      placeValue(plan, value, ordinal, lastGroup.lookup(value));
  for (Value value : first->getResults())
    own.isEmpty &= nn::typeOf(value).getNumElements() == 0;
  if (group.isFilled && !own.isEmpty)
    for (int64_t bytes : getScratch(first, plan.places))
      own.pieces.push_back(plan.places.reserve(bytes, ordinal));
}

FailureOr<FunctionPlan> dpc::planFunction(const KernelGraph &graph, Location loc,
                                          GetFillScratch getScratch, CreateWalk createWalk) {
  FunctionPlan plan{planLoops(graph, RowPieces::several), KernelPlaces(graph), {}, {}};
  if (llvm::Error error = plan.loops.verify(graph))
    return emitError(loc, "loops: ") << llvm::toString(std::move(error));
  const DenseMap<Value, unsigned> lastGroup = findLastReaders(graph, plan.loops.groups);
  for (unsigned ordinal = 0; ordinal < plan.loops.groups.size(); ++ordinal)
    placeGroup(plan, ordinal, lastGroup, getScratch);

  std::unique_ptr<AccessWalk> walk = createWalk(plan.places);
  for (auto [ordinal, group] : llvm::enumerate(plan.groups))
    if (!group.isEmpty)
      walk->visitGroup(plan.loops.groups[ordinal], ordinal);
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    if (!plan.places.isStoredIn(value, result) && nn::typeOf(value).getNumElements() > 0)
      walk->visitCopy(value, plan.groups.size());
  plan.needs.scratchBytes = plan.places.getScratchBytes();
  plan.needs.mayAlias = walk->findAliases();
  return plan;
}
