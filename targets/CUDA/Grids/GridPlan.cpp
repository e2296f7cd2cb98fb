// Plans the launches of a kernel, the memory of its values, and the needs of its
// code.

#include "targets/CUDA/Grids/GridPlan.h"

#include "targets/CUDA/Grids/GridFill.h"
#include "targets/CUDA/Grids/GridWalk.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

using Kind = KernelPlaces::Place::Kind;

/// Places a value that launch `ordinal` computes, unless the value has a place already: the
/// buffer of a result, or the place that an earlier launch of the same fill rule gave it.
/// `last` is the last launch that reads the value.
static void placeValue(GridPlan &grids, Value value, unsigned ordinal, unsigned last) {
  KernelPlaces &places = grids.places;
  const Launch &launch = grids.plan.launches[ordinal];
  if (places.isResult(value))
    return;
  // All launches of a fill rule together count as one reader.
  const unsigned end = ordinal + launch.phase.count - 1 - launch.phase.number;
  int64_t rows = launch.group.rows.count, rowElements = nn::typeOf(value).getNumElements() / rows;
  bool isLocal = last <= end;
  // A value that is only read in the iteration that computes it stays in registers.
  if (isLocal && ((rows > 1 && rowElements == 1) ||
                  (launch.kind == Launch::Kind::tiles && launch.group.stages.size() > 1)))
    places.place(value, {Kind::registers});
  else if (launch.phase.number > 0)
    return; // an earlier launch of the rule has placed the value
  else if (llvm::is_contained(launch.shared, value))
    places.place(value, {Kind::shared, 0, rowElements});
  else
    places.placeInScratch(value, /*rowElements=*/0, std::max(end, last));
  grids.memories[ordinal].placed.push_back(value);
}

static void placeLaunch(GridPlan &grids, unsigned ordinal,
                        const DenseMap<Value, unsigned> &lastLaunch) {
  const Launch &launch = grids.plan.launches[ordinal];
  grids.memories.emplace_back();
  grids.places.startGroup(ordinal);
  for (Operation *root : launch.group.getRoots())
    for (Value value : root->getResults())
      placeValue(grids, value, ordinal, lastLaunch.lookup(value));
  GridPlan::Memory &memory = grids.memories.back();
  if (launch.phase.number > 0 || launch.kind == Launch::Kind::sums) {
    memory.handedOn = grids.memories[ordinal - 1].handedOn;
  } else if (launch.phase.count > 1) {
    int64_t bytes = 0;
    for (Operation *root : launch.group.stages[0].roots)
      bytes += cast<GridFillOpInterface>(root).getScratchBytes();
    memory.handedOn = grids.places.reserve(bytes, ordinal + launch.phase.count - 1);
  } else if (launch.sums) {
    memory.handedOn = grids.places.reserve(launch.sums->getScratchBytes(), ordinal + 1);
  }
  if (launch.call)
    memory.workspace = grids.places.reserve(launch.call->workspaceBytes, ordinal);
}

/// The roots that each of `launches` computes or has the terms of, as one group per launch.
static std::vector<LoopGroup> readingGroups(ArrayRef<Launch> launches) {
  std::vector<LoopGroup> groups;
  for (const Launch &launch : launches) {
    groups.push_back(launch.kind == Launch::Kind::sums ? LoopGroup() : launch.group);
    if (launch.kind == Launch::Kind::rows && launch.sums)
      groups.back().stages.push_back({launch.sums->getOps(), {}});
  }
  return groups;
}

FailureOr<GridPlan> dpc::planGrids(const KernelGraph &graph, Location loc,
                                   const LaunchPlanOptions &options) {
  const LoopPlan loops = planLoops(graph, RowPieces::one);
  if (llvm::Error error = loops.verify(graph))
    return emitError(loc, "loops: ") << llvm::toString(std::move(error)), failure();
  GridPlan grids{planLaunches(graph, loops, options), KernelPlaces(graph), {}, {}};
  const std::vector<Launch> &launches = grids.plan.launches;
  if (llvm::Error error = grids.plan.verify(graph, options))
    return emitError(loc, "launches: ") << llvm::toString(std::move(error)), failure();
  const DenseMap<Value, unsigned> lastLaunch = findLastReaders(graph, readingGroups(launches));
  for (unsigned ordinal = 0; ordinal < launches.size(); ++ordinal)
    placeLaunch(grids, ordinal, lastLaunch);

  GridWalk walk(graph, grids.places, options.keepsOrder);
  for (auto [ordinal, launch] : llvm::enumerate(launches))
    walk.visitLaunch(launch, ordinal);
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    if (!grids.places.isStoredIn(value, result) && nn::typeOf(value).getNumElements() > 0)
      walk.visitCopyLaunch(value, launches.size());
  grids.needs.scratchBytes = grids.places.getScratchBytes();
  grids.needs.mayAlias = walk.findAliases();
  return grids;
}
