// Checks the launches of a kernel (LaunchPlan::verify).

#include "targets/CUDA/Grids/LaunchPlan.h"

#include "dialects/NN/IR/Shape.h"
#include "planning/PlanError.h"
#include "targets/CUDA/Grids/GridFill.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;

/// Checks launch `number`, which adds up the partial sums of `before`.
static llvm::Error verifySums(const Launch &launch, const Launch *before, unsigned number) {
  if (!launch.sums || !before || before->kind != Launch::Kind::rows || !before->sums ||
      before->sums->sums != launch.sums->sums ||
      before->sums->neighbours != launch.sums->neighbours ||
      launch.group.getRoots() != launch.sums->getOps())
    return planError("launch {0} does not follow the one whose sums it adds up", number);
  const ColumnSums &sums = *launch.sums;
  if (launch.blocks != sums.countSumBlocks() || launch.threads != LaunchPlan::kMaxThreads)
    return planError("launch {0} has {1} blocks of {2} threads for {3} sums of {4} columns", number,
                     launch.blocks, launch.threads, sums.sums.size(), sums.columns);
  return llvm::Error::success();
}

/// Checks the rows that launch `number` copies to shared memory, of which it has `bytes` bytes for
/// other values.
static llvm::Error verifyCopies(const KernelGraph &graph, const LaunchPlanOptions &options,
                                const Launch &launch, int64_t bytes, unsigned number) {
  if (launch.copied.empty())
    return llvm::Error::success();
  bytes += launch.getCopiedBytes() + LaunchPlan::kReservedBytes;
  if (launch.kind != Launch::Kind::rows || launch.sums || bytes > options.mostSharedBytes)
    return planError("launch {0} copies rows, and has {1} bytes of shared memory, of {2}", number,
                     bytes, options.mostSharedBytes);
  const llvm::MapVector<Value, RowReads> reads = findRowReads(graph, launch.group);
  for (Value value : launch.copied) {
    const auto found = reads.find(value);
    const int64_t row = tensorBytes(value.getType()) / launch.group.rows.count;
    if (found == reads.end() || !found->second.areInRow || row % LaunchPlan::kLeastCopy != 0)
      return planError("launch {0} copies rows of {1} bytes that its loops do not stay in", number,
                       row);
  }
  return llvm::Error::success();
}

static llvm::Error verifyLaunch(const KernelGraph &graph, const LaunchPlanOptions &options,
                                const Launch &launch, unsigned number) {
  const LoopGroup &group = launch.group;
  if (group.stages.empty())
    return planError("launch {0} has nothing to do", number);
  const int64_t mostThreads =
      launch.copied.empty() ? LaunchPlan::kMaxThreads : LaunchPlan::kMostThreadsOfCopies;
  if (launch.blocks < 1 || launch.blocks > INT32_MAX || launch.threads < 1 ||
      launch.threads > mostThreads)
    return planError("launch {0} has {1} blocks of {2} threads", number, launch.blocks,
                     launch.threads);
  if (launch.threads % LaunchPlan::kWarp != 0)
    return planError("launch {0} has {1} blocks of {2} threads", number, launch.blocks,
                     launch.threads);
  int64_t elements = group.isFilled ? launch.parts.count : group.stages[0].getElements();
  bool isTiles = launch.kind == Launch::Kind::tiles;
  if (isTiles != (group.isFilled && payingGridFill(group.stages[0].roots[0])))
    return planError("launch {0} of {1} is {2}one of tiles", number,
                     group.stages[0].roots[0]->getName(), isTiles ? "" : "not ");
  if (isTiles) {
    auto rule = cast<GridFillOpInterface>(group.stages[0].roots[0]);
    SmallVector<TileGrid> grids = rule.getGrids(gridOptionsOf(options, launch));
    if (launch.phase.count != grids.size() || launch.phase.number >= launch.phase.count)
      return planError("launch {0} is number {1} of {2}, where {3} are wanted", number,
                       launch.phase.number, launch.phase.count, grids.size());
    ArrayRef<Operation *> roots = group.stages[0].roots;
    for (size_t i = 1; i < roots.size(); ++i)
      if (auto other = dyn_cast<GridFillOpInterface>(roots[i]);
          !other || !other.mayShareLaunch(roots.take_front(i)))
        return planError("launch {0} may not compute {1} too", number, roots[i]->getName());
    TileGrid grid = grids[launch.phase.number];
    if (launch.blocks != grid.blocks || launch.threads != grid.threads)
      return planError("launch {0} has {1} blocks of {2} threads, not {3} of {4}", number,
                       launch.blocks, launch.threads, grid.blocks, grid.threads);
  } else if (group.rows.count == 1 && group.stages.size() > 1)
    return planError("launch {0} has {1} stages and no rows: nothing is between them", number,
                     group.stages.size());
  if (launch.call && (!isTiles || !llvm::is_contained(group.stages.back().roots,
                                                      launch.call->result.getDefiningOp())))
    return planError("launch {0} does not compute the result of its library call", number);
  if (launch.kind == Launch::Kind::results &&
      (group.rows.count != 1 ||
       launch.blocks != static_cast<int64_t>(llvm::divideCeil(elements, launch.teams))))
    return planError("launch {0} has {1} blocks for {2} elements", number, launch.blocks, elements);
  if (launch.teams != 1 &&
      (launch.kind != Launch::Kind::results || group.isFilled || launch.teams < 1 ||
       launch.threads % launch.teams != 0 || !llvm::isPowerOf2_64(launch.getThreadsOfTeam()) ||
       launch.getThreadsOfTeam() > LaunchPlan::kWarp))
    return planError("launch {0} of {1} threads has {2} teams", number, launch.threads,
                     launch.teams);
  const int64_t rowBlocks = launch.sums ? launch.sums->countBlocks() : group.rows.count;
  if (launch.kind == Launch::Kind::rows &&
      (launch.blocks != rowBlocks || launch.together.size() != group.stages.size()))
    return planError("launch {0} has {1} blocks for {2} rows", number, launch.blocks,
                     group.rows.count);
  if (launch.sums) {
    if (launch.kind != Launch::Kind::rows || launch.together[launch.sums->stage])
      return planError("launch {0} has sums over columns, and no rows", number);
    if (llvm::Error error = launch.sums->verify(graph, group))
      return error;
    const Launch::Pieces pieces = launch.getPieces(launch.sums->stage);
    if (const int64_t neighbours = launch.sums->neighbours;
        neighbours != 1 && (neighbours != pieces.elements || pieces.end))
      return planError("launch {0} has no pieces of {1} columns", number, neighbours);
  }
  if ((launch.kind == Launch::Kind::boxes) != launch.boxes.has_value() ||
      (launch.boxes && (group.isFilled || group.rows.count != 1)))
    return planError("launch {0} has boxes, and is not one of boxes", number);
  if (launch.boxes) {
    if (llvm::Error error = launch.boxes->verify(group.stages[0]))
      return error;
    if (launch.blocks != launch.boxes->countBlocks() ||
        launch.threads != launch.boxes->countThreads())
      return planError("launch {0} has {1} blocks of {2} threads for {3} boxes", number,
                       launch.blocks, launch.threads, launch.boxes->countBlocks());
  }
  if (!launch.pieces.empty() && launch.pieces.size() != group.stages.size())
    return planError("launch {0} has pieces of {1} of {2} stages", number, launch.pieces.size(),
                     group.stages.size());
  const bool hasGridPieces = launch.kind == Launch::Kind::elements && group.rows.count == 1;
  for (auto [pieces, stage] : llvm::zip(launch.pieces, group.stages))
    if (pieces.elements < 1 || pieces.terms < 1 ||
        (pieces.end && (launch.kind != Launch::Kind::rows || *pieces.end % pieces.elements != 0)) ||
        (pieces.elements > 1 && (stage.nest.extents.empty() ||
                                 (hasGridPieces && stage.nest.extents.back() % pieces.elements))))
      return planError("launch {0} has pieces of {1} elements and {2} terms", number,
                       pieces.elements, pieces.terms);
  const Launch::Pieces first = launch.getPieces(0);
  if (first.rows < 1 ||
      (first.rows > 1 &&
       (!hasGridPieces || first.elements == 1 || group.stages[0].nest.extents.size() < 2 ||
        group.stages[0].nest.extents.rbegin()[1] % first.rows != 0)))
    return planError("launch {0} has pieces of {1} rows", number, first.rows);
  if (hasGridPieces)
    elements /= first.elements * first.rows;
  int64_t count = group.rows.count > 1 ? group.rows.count : elements;
  if (launch.kind == Launch::Kind::elements && launch.blocks * launch.threads < count)
    return planError("launch {0} has {1} blocks of {2} threads for {3} elements", number,
                     launch.blocks, launch.threads, count);
  int64_t bytes = launch.sums ? launch.sums->getSharedBytes() : 0;
  for (Value value : launch.shared)
    bytes += Launch::bytesOfRow(value, group.rows.count);
  if (bytes > LaunchPlan::kSharedBytes || (bytes && launch.kind != Launch::Kind::rows))
    return planError("launch {0} has {1} bytes of shared memory", number, bytes);
  return verifyCopies(graph, options, launch, bytes, number);
}

/// Checks launch `number`, which is several launches.
static llvm::Error verifyJoint(const KernelGraph &graph, const LaunchPlanOptions &options,
                               const Launch &launch, unsigned number) {
  int64_t blocks = 0;
  SmallVector<Operation *> roots;
  for (const Launch &part : launch.joined) {
    if (part.kind != Launch::Kind::elements || part.threads != launch.threads)
      return planError("launch {0} of {1} threads has a part of {2} threads that is not elements",
                       number, launch.threads, part.threads);
    if (llvm::Error error = verifyLaunch(graph, options, part, number))
      return error;
    for (Operation *root : part.group.getRoots())
      for (Value value : graph.getReads(root))
        if (llvm::is_contained(roots, value.getDefiningOp()))
          return planError("a part of launch {0} reads what another part makes", number);
    llvm::append_range(roots, part.group.getRoots());
    blocks += part.blocks;
  }
  if (blocks != launch.blocks || roots != launch.group.getRoots())
    return planError("launch {0} has {1} blocks, and its parts have {2}", number, launch.blocks,
                     blocks);
  return llvm::Error::success();
}

llvm::Error LaunchPlan::verify(const KernelGraph &graph, const LaunchPlanOptions &options) const {
  DenseMap<Operation *, unsigned> places;
  for (auto [number, launch] : llvm::enumerate(launches)) {
    const Launch *before = number ? &launches[number - 1] : nullptr;
    llvm::Error error = launch.kind == Launch::Kind::sums ? verifySums(launch, before, number)
                        : launch.kind == Launch::Kind::joint
                            ? verifyJoint(graph, options, launch, number)
                            : verifyLaunch(graph, options, launch, number);
    if (error)
      return error;
    if (launch.phase.number > 0) {
      if (!before || before->phase.number + 1 != launch.phase.number ||
          before->group.getRoots() != launch.group.getRoots())
        return planError("launch {0} does not follow the one that it goes on with", number);
      continue;
    }
    for (Operation *root : launch.group.getRoots())
      if (!places.insert({root, number}).second)
        return planError("{0} is in launch {1} and in launch {2}", root->getName(), places[root],
                         number);
  }
  for (Operation *root : graph.getRoots()) {
    auto here = places.find(root);
    if (here == places.end()) {
      if (nn::typeOf(root->getResult(0)).getNumElements() == 0)
        continue;
      return planError("{0} is in no launch", root->getName());
    }
    for (Value value : graph.getReads(root)) {
      auto maker = places.find(value.getDefiningOp());
      if (maker != places.end() && maker->second > here->second)
        return planError("launch {0} reads what launch {1} makes", here->second, maker->second);
    }
  }
  return llvm::Error::success();
}
