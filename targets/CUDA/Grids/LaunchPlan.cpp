// Decides which threads run which loops. The decision depends on the number of
// elements of a group, and on the number of terms in its reductions.

#include "targets/CUDA/Grids/LaunchPlan.h"

#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Shape.h"
#include "targets/CUDA/Grids/GridFill.h"
#include "targets/Loops/Rules.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace dpc;

/// From this number of terms on, a block computes a reduction faster than a
/// thread, in spite of two barriers.
static const int64_t kLongReduction = 64;
/// The number of threads that keep a device busy. If a group has at least this
/// many elements, one thread computes each element. If reductions have
/// kVeryLongReduction terms or more, this needs eight times as many elements.
static const int64_t kManyElements = 1 << 12;
static const int64_t kVeryLongReduction = 1 << 10;
/// The number of terms that a thread adds up before the threads of an element combine their sums,
/// if there are many elements.
static const int64_t kManyTerms = 32;
/// A thread that computes several neighbours in loops of their own reads at most so many terms of
/// each.
static const int64_t kFewTerms = 16;
/// From this number of rows on, one block per row keeps a device busy.
static const int64_t kManyRows = 64;
/// The number of parts that a fill rule is asked for. If too few threads can share a
/// part, the rule is asked again for kManyElements parts, with one thread per part.
static const int64_t kManyParts = 512;
/// If rows have more elements than this, or reductions more terms, a group with few rows
/// becomes one launch per stage.
static const int64_t kLongRow = 4096;
/// If there are many rows, and each has at most this many steps, one thread computes a
/// row. A step is one term of a reduction, or one element without a reduction.
static const int64_t kShortRow = 64;

/// Rows of fewer bytes stay in the cache of a multiprocessor while a block reads them repeatedly.
static const int64_t kCachedRow = 32 * 1024;
/// The shared memory that a device takes for each block, besides that of the block.
static const int64_t kTakenBytes = 1024;

/// The bytes of the widest access, and the most neighbours that a thread computes together.
static const int64_t kAccessBytes = 16, kMostNeighbours = 8;
/// The most rows in which a thread computes neighbours, if it reads numbers per column.
static const int64_t kRowsOfThread = 8;
/// A thread computes several neighbours only if so many threads are left, or half or a quarter of
/// them if each has two or four terms under way.
static const int64_t kEnoughThreads = 1 << 16, kTermsUnderWay = 4;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t Launch::bytesOfRow(Value value, int64_t rows) {
  return llvm::alignTo(tensorBytes(value.getType()) / rows, 16);
}

int64_t Launch::getCopiedBytes() const {
  int64_t bytes = 0;
  for (Value value : copied)
    bytes += bytesOfRow(value, group.rows.count);
  return bytes;
}

namespace {
/// Counts the terms of the reductions that compute one element of an op's results.
/// Reductions of inlined values count too. The number is 1 if there are no
/// reductions.
class Terms {
public:
  explicit Terms(const KernelGraph &graph) : graph(graph) {}

  /// The largest number of terms for an element of one of `roots`.
  int64_t most(ArrayRef<Operation *> roots) {
    int64_t most = 1;
    for (Operation *root : roots)
      most = std::max(most, of(root));
    return most;
  }

  /// The most neighbours that `roots` can compute together, along an innermost loop of `extent`. An
  /// element of a pad is read only if a condition on its position holds. Accesses to neighbours can
  /// be joined only if the condition is the same for all of them. If `end` is not null, this
  /// function may store there where operands of pads end (Launch::Pieces::end).
  int64_t mostNeighbours(ArrayRef<Operation *> roots, int64_t extent, std::optional<int64_t> *end) {
    int64_t most = kMostNeighbours;
    anyInlined(roots, [&](Operation *op) {
      auto pad = dyn_cast<nn::PadOp>(op);
      if (!pad)
        return false;
      const RankedTensorType type = nn::typeOf(pad.getResult());
      const bool isSpread =
          llvm::any_of(pad.getInterior(), [](int64_t between) { return between != 0; });
      if (type.getRank() == 0 || isSpread)
        return (most = 1, true);
      const int64_t low = pad.getLow().back(), own = nn::typeOf(pad.getInput()).getShape().back();
      most = std::gcd(most, type.getShape().back());
      if (end && low == 0 && type.getShape().back() == extent && own % kMostNeighbours != 0)
        *end = std::min(own, end->value_or(own));
      else
        most = std::gcd(most, std::gcd(low, own));
      return most == 1;
    });
    return most;
  }

  /// Whether a long reduction that computes elements of `roots` runs along the innermost dimension
  /// of its operand, so that its terms are neighbours in memory. The loop over a term's window (as
  /// that of a pooling's gradient) keeps the accesses of neighbouring terms apart.
  bool areNeighbours(ArrayRef<Operation *> roots) {
    return anyInlined(roots, [&](Operation *op) {
      auto reduction = dyn_cast<FusableOpInterface>(op);
      if (!reduction || reduction.getFusionKind() != FusionKind::reduction ||
          reduction.getReducedDims().empty() || of(op) < kLongReduction)
        return false;
      const Value operand = op->getOperand(0);
      Operation *producer = graph.isMaterialised(operand) ? nullptr : operand.getDefiningOp();
      return reduction.getReducedDims().back() + 1 == nn::typeOf(operand).getRank() &&
             !(producer && anyInlined(producer, [](Operation *op) {
                 auto rule = dyn_cast<ElementOpInterface>(op);
                 return isa<nn::TransposeOp>(op) ||
                        (rule && rule.getElementCost() > 1 && !rule.joinsNeighbours());
               }));
    });
  }

  /// The largest number of terms in [1, most] by which each long reduction that computes elements
  /// of `roots` may divide its terms, so that all pieces are aligned alike: the terms that are
  /// neighbours in memory, e.g. those of a plane of an image, consist of such pieces.
  int64_t alignedTerms(ArrayRef<Operation *> roots, int64_t most) {
    anyInlined(roots, [&](Operation *op) {
      auto reduction = dyn_cast<FusableOpInterface>(op);
      if (!reduction || reduction.getFusionKind() != FusionKind::reduction ||
          of(op) < kLongReduction)
        return false;
      ArrayRef<int64_t> shape = nn::typeOf(op->getOperand(0)).getShape();
      int64_t run = 1;
      auto last = static_cast<int64_t>(shape.size());
      for (int64_t reduced : llvm::reverse(reduction.getReducedDims())) {
        if (reduced + 1 != last)
          break;
        run *= shape[static_cast<size_t>(--last)];
      }
      most = std::gcd(most, run);
      return false;
    });
    return most;
  }

  /// Whether accesses of `roots` to terms of neighbours can be joined. Rules compute neighbours
  /// together, or `roots` need few terms per element, each of which is a neighbour of the same term
  /// of the next element: LLVM then unrolls the loops over the terms.
  bool haveNeighbours(ArrayRef<Operation *> roots) {
    DenseSet<Operation *> joined;
    for (Operation *root : roots)
      for (Operation *op : graph.getNeighboursRules(root))
        joined.insert(op);
    return !anyInlined(roots, [&](Operation *op) {
      auto rule = dyn_cast<ElementOpInterface>(op);
      if (!rule || rule.getElementCost() <= 1 || joined.contains(op))
        return false;
      return most(roots) > kFewTerms || !isa<nn::ReduceOp>(op) || !rule.joinsNeighbours();
    });
  }

  /// Whether `roots` are reductions whose terms need no other reductions.
  bool areSingleReductions(ArrayRef<Operation *> roots) {
    return llvm::all_of(roots, [&](Operation *root) {
      auto rule = dyn_cast<ElementOpInterface>(root);
      return isa<nn::ReduceOp>(root) && rule && of(root) == rule.getElementCost();
    });
  }

private:
  /// Whether `test` holds for one of `roots` or of the ops whose results they compute where they
  /// read them.
  bool anyInlined(ArrayRef<Operation *> roots, function_ref<bool(Operation *)> test) {
    SmallVector<Operation *> open(roots);
    DenseSet<Operation *> seen(open.begin(), open.end());
    while (!open.empty()) {
      Operation *op = open.pop_back_val();
      if (test(op))
        return true;
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && !graph.isMaterialised(operand) && seen.insert(producer).second)
          open.push_back(producer);
    }
    return false;
  }

  int64_t of(Operation *op) {
    auto [known, isNew] = terms.try_emplace(op, 1);
    if (!isNew)
      return known->second;
    int64_t most = 1;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && !graph.isMaterialised(operand))
        most = std::max(most, of(producer));
    if (auto rule = dyn_cast<ElementOpInterface>(op))
      most *= std::max<int64_t>(1, rule.getElementCost());
    return terms[op] = std::min<int64_t>(most, int64_t(1) << 40);
  }

  const KernelGraph &graph;
  DenseMap<Operation *, int64_t> terms;
};
} // namespace

/// The number of threads of a block whose threads share `work` steps.
static int64_t threadsFor(int64_t work) {
  return std::clamp<int64_t>(llvm::alignTo(work, LaunchPlan::kWarp), LaunchPlan::kWarp,
                             LaunchPlan::kMaxThreads);
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

namespace {
class Planner {
public:
  Planner(const KernelGraph &graph, const LoopPlan &plan, const LaunchPlanOptions &options)
      : graph(graph), options(options), terms(graph) {
    for (Value value : graph.getYielded())
      yielded.insert(value);
    for (const LoopGroup &group : plan.groups)
      for (Operation *root : group.getRoots())
        for (Value value : graph.getReads(root))
          readers[value].push_back(root);
    // A sum over columns gets a launch only before a group that reads it, or at the end, because
    // each of the other groups may have its terms.
    for (const LoopGroup &group : plan.groups)
      if (nn::ReduceOp sum = ownColumnSum(group))
        waiting.insert({sum, &group});
    for (const LoopGroup &group : plan.groups) {
      if (group.stages[0].getElements() == 0 || ownColumnSum(group))
        continue;
      addWaiting(&group);
      add(group);
    }
    addWaiting();
    if (graph.getPartCount() > 1)
      joinLaunches();
  }

  LaunchPlan result;

private:
  /// Returns the sum over columns that is all of `group`, if a launch of another group may compute
  /// it.
  nn::ReduceOp ownColumnSum(const LoopGroup &group) const {
    const bool isOwn = group.isFilled && group.stages.size() == 1 && !options.keepsOrder &&
                       group.stages[0].getElements() > 0;
    return isOwn ? asColumnSum(group.stages[0].roots[0]) : nn::ReduceOp();
  }

  /// Adds the sums over columns that `group` reads. Without `group`, adds all that are left.
  void addWaiting(const LoopGroup *group = nullptr) {
    llvm::SetVector<Value> reads;
    if (group)
      for (Operation *root : group->getRoots())
        for (Value value : graph.getReads(root))
          reads.insert(value);
    for (const auto &[sum, own] : waiting.takeVector()) {
      if (group && !reads.contains(sum->getResult(0))) {
        waiting.insert({sum, own});
        continue;
      }
      addWaiting(own);
      add(*own);
    }
  }

  void add(const LoopGroup &group) {
    if (group.isFilled)
      addFilled(group);
    else if (group.rows.count == 1 || isStarved(group))
      for (const LoopGroup::Stage &stage : group.stages)
        addStage(stage);
    else if (isShort(group))
      addElements(group, group.rows.count);
    else
      addRows(group, takeSums(group));
  }

  /// Whether one block per row would leave most of a device idle, and every stage
  /// can be a launch of its own.
  bool isStarved(const LoopGroup &group) {
    if (group.rows.count >= kManyRows)
      return false;
    bool isLong = false;
    for (const LoopGroup::Stage &stage : group.stages) {
      isLong |=
          stage.getElements() / group.rows.count > kLongRow || terms.most(stage.roots) > kLongRow;
      if (!nestOf(graph, stage.roots, {}))
        return false;
    }
    return isLong;
  }

  /// Whether one thread computes each row, because rows are short and there are
  /// many of them.
  bool isShort(const LoopGroup &group) {
    int64_t steps = 0;
    for (const LoopGroup::Stage &stage : group.stages)
      steps += stage.getElements() / group.rows.count * terms.most(stage.roots);
    return steps <= kShortRow && group.rows.count >= LaunchPlan::kMaxThreads;
  }

  /// Returns how many neighbours have kAccessBytes in the tensor with the widest elements. If they
  /// had more bytes, each access of a warp would leave gaps. Only tensors that `isOfLoop` accepts
  /// count, among those that `roots` read or compute.
  int64_t neighboursOf(ArrayRef<Operation *> roots, function_ref<bool(Value)> isOfLoop) {
    int64_t bytes = kAccessBytes / kMostNeighbours;
    auto count = [&](Value value) {
      if (isOfLoop(value))
        bytes = std::max<int64_t>(bytes,
                                  llvm::divideCeil(nn::typeOf(value).getElementTypeBitWidth(), 8));
    };
    for (Operation *root : roots) {
      llvm::for_each(root->getResults(), count);
      llvm::for_each(graph.getReads(root), count);
    }
    return std::max<int64_t>(1, kAccessBytes / bytes);
  }

  /// Returns how many neighbouring terms of the elements of `stage` a thread adds up together.
  int64_t neighbourTermsOf(const LoopGroup::Stage &stage) {
    const int64_t elements = stage.getElements();
    return terms.alignedTerms(stage.roots, neighboursOf(stage.roots, [&](Value value) {
                                return nn::typeOf(value).getNumElements() > elements;
                              }));
  }

  /// The pieces of `stage`, whose loops are `nest` inside a loop over `rows`. `threads` is the
  /// number of threads that must have a piece of the elements.
  Launch::Pieces piecesOf(const LoopGroup::Stage &stage, const LoopNest &nest, const LoopRows &rows,
                          int64_t threads) {
    Launch::Pieces pieces;
    const int64_t elements = stage.getElements(), longest = terms.most(stage.roots);
    if (terms.haveNeighbours(stage.roots) && !nest.strided && !nest.extents.empty()) {
      pieces.elements = std::min(terms.mostNeighbours(stage.roots, nest.extents.back(),
                                                      rows.count > 1 ? &pieces.end : nullptr),
                                 neighboursOf(stage.roots, [&](Value value) {
                                   // A pad reads a smaller tensor, and a gather a larger one.
                                   return 2 * nn::typeOf(value).getNumElements() >= elements;
                                 }));
      const int64_t all = ShapedType::getNumElements(nest.extents);
      // A piece has consecutive numbers, so it does not cross the runs of a split row. Wide
      // accesses are aligned, so rows must have complete pieces.
      const int64_t run = rows.count > 1 ? rows.runOf(elements) : 0;
      while (pieces.elements > 1 && (all / pieces.elements < threads || run % pieces.elements != 0))
        pieces.elements /= 2;
      if (pieces.elements == 1)
        pieces.end.reset();
      else if (pieces.end)
        *pieces.end -= *pieces.end % pieces.elements;
    }
    if (longest >= kLongReduction && !options.keepsOrder && terms.areNeighbours(stage.roots)) {
      pieces.terms = neighbourTermsOf(stage);
      while (pieces.terms > 1 && longest / pieces.terms < LaunchPlan::kWarp)
        pieces.terms /= 2;
    }
    return pieces;
  }

  /// Adds the launches of a group with a fill rule. If a grid fill rule of the op pays, one
  /// block computes each tile. If not, the work is divided into parts. If at least a warp
  /// can share a part, one block computes each part. With fewer threads per part, one
  /// thread computes each part.
  void addFilled(const LoopGroup &group) {
    if (GridFillOpInterface tiles = payingGridFill(group.stages[0].roots[0])) {
      addTiles(group, tiles);
      return;
    }
    auto rule = cast<FillOpInterface>(group.stages[0].roots[0]);
    FillParts parts = rule.getParts(kManyParts);
    Launch launch{Launch::Kind::results, group, parts.count, threadsFor(parts.width), parts};
    if (parts.width >= LaunchPlan::kWarp) {
      result.launches.push_back(launch);
      return;
    }
    parts = rule.getParts(kManyElements);
    addElements(group, parts.count);
    result.launches.back().parts = {parts.count, 1};
  }

  /// The number of the first launch after those that compute what `op` reads.
  size_t firstLaunchFor(Operation *op) const {
    const auto reads = graph.getReads(op);
    size_t first = 0;
    for (auto [number, launch] : llvm::enumerate(result.launches))
      for (Operation *root : launch.group.getRoots())
        if (llvm::any_of(root->getResults(), [&](Value made) { return reads.contains(made); }))
          first = number + 1;
    return first;
  }

  /// Lets the launches of an earlier group of tiles compute `group` too. Returns false if there are
  /// none that may.
  bool joinTiles(const LoopGroup &group, GridFillOpInterface rule) {
    if (options.keepsOrder || group.stages.size() > 1)
      return false;
    Operation *root = group.stages[0].roots[0];
    MutableArrayRef<Launch> launches = result.launches;
    for (size_t number = firstLaunchFor(root); number < launches.size(); ++number) {
      const Launch &earlier = launches[number];
      if (earlier.kind != Launch::Kind::tiles || earlier.phase.number > 0 || earlier.call ||
          (earlier.group.stages.size() > 1 && !rule.mayFinish()) ||
          !rule.mayShareLaunch(earlier.group.stages[0].roots))
        continue;
      for (Launch &launch : launches.slice(number, earlier.phase.count))
        launch.group.stages[0].roots.push_back(root);
      return true;
    }
    return false;
  }

  void addTiles(const LoopGroup &group, GridFillOpInterface rule) {
    if (joinTiles(group, rule))
      return;
    Launch launch{Launch::Kind::tiles, group};
    if (!options.keepsOrder)
      launch.call = planCall(graph, group, options.calls);
    const bool isDivided = launch.call && !launch.call->isComplete;
    Operation *epilogue = isDivided ? launch.call->epilogue : nullptr;
    if (isDivided)
      launch.group.stages.truncate(epilogue ? 2 : 1);
    if (epilogue)
      launch.group.stages[1].roots = {epilogue};
    SmallVector<TileGrid> grids = rule.getGrids(gridOptionsOf(options, launch));
    launch.phase.count = grids.size();
    for (auto [number, grid] : llvm::enumerate(grids)) {
      launch.phase.number = number;
      launch.blocks = grid.blocks;
      launch.threads = grid.threads;
      launch.residentBlocks = grid.residentBlocks;
      result.launches.push_back(launch);
    }
    if (isDivided)
      for (LoopGroup::Stage stage : llvm::drop_begin(group.stages)) {
        llvm::erase(stage.roots, epilogue);
        if (!stage.roots.empty())
          addStage(stage);
      }
  }

  /// Whether operands, earlier launches and the launch of `group` have all that `sum` reads.
  bool isReady(nn::ReduceOp sum, const LoopGroup &group) {
    DenseSet<Operation *> done;
    for (const Launch &launch : result.launches)
      for (Operation *root : launch.group.getRoots())
        done.insert(root);
    for (Operation *root : group.getRoots())
      done.insert(root);
    return llvm::all_of(graph.getReads(sum), [&](Value value) {
      Operation *maker = value.getDefiningOp();
      return !maker || isa<nn::ConstantOp>(maker) || done.contains(maker);
    });
  }

  /// Takes the sums over columns that the launch of `group` computes too.
  std::optional<ColumnSums> takeSums(const LoopGroup &group) {
    SmallVector<nn::ReduceOp> candidates;
    for (const auto &[sum, own] : waiting)
      if (isReady(cast<nn::ReduceOp>(sum), group))
        candidates.push_back(cast<nn::ReduceOp>(sum));
    std::optional<ColumnSums> found =
        findColumnSums(graph, group, candidates, LaunchPlan::kSharedBytes / 2);
    if (found)
      for (nn::ReduceOp sum : found->sums)
        waiting.erase(sum);
    return found;
  }

  /// Adds the elements of `stage`, which is in no loop over rows, in rows whose columns are summed
  /// up too. Returns whether there are such sums.
  bool addStageWithSums(const LoopGroup::Stage &stage) {
    for (const auto &[sum, own] : waiting) {
      if (nn::typeOf(sum->getOperand(0)).getNumElements() != stage.getElements())
        continue;
      LoopGroup group;
      group.rows.count = stage.getElements() / nn::typeOf(sum->getResult(0)).getNumElements();
      group.stages.push_back(stage);
      std::optional<LoopNest> nest = nestOf(graph, stage.roots, group.rows);
      if (!nest)
        continue;
      group.stages[0].nest = *nest;
      if (!canShareLoops(graph, group))
        continue;
      if (std::optional<ColumnSums> found = takeSums(group)) {
        addRows(group, found);
        return true; // `waiting` has changed
      }
    }
    return false;
  }

  /// Adds the long reductions of `stage`, which is in no loop over rows, with one row per element,
  /// if they read long rows several times. Returns whether they do.
  bool addCopiedRows(const LoopGroup::Stage &stage) {
    LoopGroup group;
    group.rows.count = stage.getElements();
    group.stages.push_back(stage);
    const std::optional<LoopNest> nest = nestOf(graph, stage.roots, group.rows);
    if (group.rows.count == 1 || options.keepsOrder || !nest)
      return false;
    group.stages[0].nest = *nest;
    Launch launch{Launch::Kind::rows, group};
    if (canShareLoops(graph, group))
      copyRows(launch, 0);
    if (launch.copied.empty())
      return false;
    addRows(group, std::nullopt);
    return true;
  }

  /// Lets the launch that computes the last of what `stage` reads compute its elements too, if it
  /// has each of them in a register. Returns false if it has not.
  bool finishBefore(const LoopGroup::Stage &stage) {
    size_t number = 0; // of the launch after it
    for (Operation *root : stage.roots)
      number = std::max(number, firstLaunchFor(root));
    if (options.keepsOrder || number == 0 || terms.most(stage.roots) > 1)
      return false;
    Launch &last = result.launches[number - 1];
    if (last.kind != Launch::Kind::tiles || last.call ||
        !cast<GridFillOpInterface>(last.group.stages[0].roots[0]).mayFinish() ||
        last.group.stages[0].getElements() != stage.getElements())
      return false;
    LoopGroup group = last.group;
    if (group.stages.size() == 1)
      group.stages.emplace_back();
    LoopGroup::Stage &finished = group.stages.back();
    llvm::append_range(finished.roots, stage.roots);
    const std::optional<LoopNest> nest = nestOf(graph, finished.roots, group.rows);
    if (!nest)
      return false;
    finished.nest = *nest;
    if (!canShareLoops(graph, group))
      return false;
    const size_t phases = last.phase.count;
    for (Launch &launch : MutableArrayRef(result.launches).slice(number - phases, phases))
      launch.group = group;
    return true;
  }

  void addStage(const LoopGroup::Stage &stage) {
    if (finishBefore(stage) || addStageWithSums(stage))
      return;
    LoopGroup group;
    group.stages.push_back(stage);
    group.stages[0].nest = *nestOf(graph, stage.roots, {});
    int64_t elements = stage.getElements(), longest = terms.most(stage.roots);
    int64_t enough = longest < kVeryLongReduction ? kManyElements : 8 * kManyElements;
    const bool isLong = longest >= kLongReduction, sharesTerms = isLong && !options.keepsOrder &&
                                                                 elements <= INT32_MAX &&
                                                                 terms.areNeighbours(stage.roots);
    const int64_t threads = kEnoughThreads / std::min(longest, kTermsUnderWay);
    Launch::Pieces pieces = piecesOf(stage, group.stages[0].nest, {}, threads);
    if (!isLong || (elements >= enough && !sharesTerms)) {
      if (std::optional<BoxPlan> boxes = planBoxes(graph, group.stages[0]))
        return addBoxes(group, *boxes);
      // Each thread of the grid has one piece, so all pieces are complete.
      pieces.terms = 1;
      while (pieces.elements > 1 && group.stages[0].nest.extents.back() % pieces.elements != 0)
        pieces.elements /= 2;
      pieces.rows = rowsOfThread(group.stages[0], pieces.elements);
      addElements(group, elements / pieces.elements / pieces.rows);
      result.launches.back().pieces = {pieces};
      return;
    }
    if (addCopiedRows(stage) || (sharesTerms && addTeams(group)))
      return;
    // If there are many elements, few threads per element keep a device busy, and have less to
    // combine.
    const auto work = static_cast<int64_t>(
        llvm::divideCeil(longest, elements >= kManyElements ? kManyTerms : pieces.terms));
    pieces.elements = 1;
    Launch launch{Launch::Kind::results, group, elements, threadsFor(work), {}};
    launch.pieces = {pieces};
    launch.residentBlocks = pieces.terms == 1; // the assembler unrolls loops over single terms
    result.launches.push_back(launch);
  }

  /// Returns Launch::Pieces::rows for `stage`, if a thread computes `neighbours` elements of a row
  /// together.
  int64_t rowsOfThread(const LoopGroup::Stage &stage, int64_t neighbours) {
    ArrayRef<int64_t> extents = stage.nest.extents;
    if (neighbours == 1 || extents.size() < 2)
      return 1;
    const bool readsOften = llvm::any_of(stage.roots, [&](Operation *root) {
      return llvm::any_of(graph.getReads(root), [&](Value value) {
        return nn::typeOf(value).getNumElements() == extents.back();
      });
    });
    int64_t rows = readsOften ? kRowsOfThread : 1;
    while (extents[extents.size() - 2] % rows != 0 ||
           (rows > 1 && stage.getElements() / neighbours / rows < kEnoughThreads))
      rows /= 2;
    return rows;
  }

  /// Adds the many reductions of `group`, if part of a warp is enough for the terms of each. The
  /// elements of a block are then read by full warps. Returns whether it is enough.
  bool addTeams(const LoopGroup &group) {
    const LoopGroup::Stage &stage = group.stages[0];
    const int64_t elements = stage.getElements(), longest = terms.most(stage.roots);
    if (elements < kManyElements || longest > LaunchPlan::kWarp * kManyTerms ||
        !terms.areSingleReductions(stage.roots))
      return false;
    Launch launch{Launch::Kind::results, group};
    launch.pieces = {{/*elements=*/1, neighbourTermsOf(stage)}};
    const auto share = static_cast<uint64_t>(longest / launch.pieces[0].terms);
    const auto ofTeam =
        static_cast<int64_t>(std::min<uint64_t>(llvm::bit_ceil(share), LaunchPlan::kWarp));
    launch.threads = LaunchPlan::kMaxThreads;
    launch.teams = launch.threads / ofTeam;
    launch.blocks = llvm::divideCeil(elements, launch.teams);
    result.launches.push_back(launch);
    return true;
  }

  void addElements(const LoopGroup &group, int64_t count) {
    int64_t threads = threadsFor(count);
    auto blocks = static_cast<int64_t>(llvm::divideCeil(count, threads));
    result.launches.push_back({Launch::Kind::elements, group, blocks, threads});
  }

  void addBoxes(const LoopGroup &group, const BoxPlan &boxes) {
    Launch launch{Launch::Kind::boxes, group, boxes.countBlocks(), boxes.countThreads()};
    launch.boxes = boxes;
    result.launches.push_back(launch);
  }

  void addRows(const LoopGroup &group, const std::optional<ColumnSums> &sums) {
    Launch launch{Launch::Kind::rows, group, sums ? sums->countBlocks() : group.rows.count};
    launch.sums = sums;
    int64_t work = 1, bytes = sums ? sums->getSharedBytes() : 0;
    for (const LoopGroup::Stage &stage : group.stages) {
      int64_t elements = stage.getElements() / group.rows.count, longest = terms.most(stage.roots);
      bool isTogether =
          elements == 1 || (longest >= kLongReduction && elements < LaunchPlan::kWarp);
      launch.together.push_back(isTogether);
      Launch::Pieces pieces = piecesOf(stage, stage.nest, group.rows, LaunchPlan::kWarp);
      if (isTogether)
        pieces = {1, pieces.terms};
      launch.pieces.push_back(pieces);
      work = std::max(
          work, static_cast<int64_t>(isTogether ? llvm::divideCeil(longest, pieces.terms)
                                                : llvm::divideCeil(elements, pieces.elements)));
      for (Operation *root : stage.roots)
        for (Value value : root->getResults()) {
          if (elements == 1 || yielded.contains(value) || isReadLater(value, launch))
            continue;
          int64_t size = Launch::bytesOfRow(value, group.rows.count);
          if (bytes + size > LaunchPlan::kSharedBytes)
            continue;
          bytes += size;
          launch.shared.push_back(value);
        }
    }
    launch.threads = threadsFor(work);
    if (sums) {
      const Launch::Pieces pieces = launch.getPieces(sums->stage);
      if (!pieces.end && group.stages[sums->stage].nest.extents.back() % pieces.elements == 0)
        launch.sums->neighbours = pieces.elements;
    } else {
      copyRows(launch, bytes);
    }
    result.launches.push_back(launch);
    if (sums)
      addSums(*launch.sums);
  }

  /// Lets the blocks of `launch` copy long rows that they read several times. `bytes` is the shared
  /// memory that the launch has for values that it computes.
  void copyRows(Launch &launch, int64_t bytes) {
    bytes += LaunchPlan::kReservedBytes;
    const int64_t rows = launch.group.rows.count, most = options.mostSharedBytes;
    for (const auto &[value, reads] : findRowReads(graph, launch.group)) {
      const int64_t row = tensorBytes(value.getType()) / rows,
                    size = Launch::bytesOfRow(value, rows);
      if (reads.passes < 2 || !reads.areInRow || row < kCachedRow ||
          row % LaunchPlan::kLeastCopy != 0 || bytes + size > most)
        continue;
      bytes += size;
      launch.copied.push_back(value);
    }
    if (launch.copied.empty())
      return;
    const int64_t resident = std::max<int64_t>(1, (most + kTakenBytes) / (bytes + kTakenBytes));
    const int64_t threads = LaunchPlan::kMostThreadsOfCopies / llvm::bit_ceil<uint64_t>(resident);
    launch.threads = std::max(launch.threads, threads);
  }

  /// Adds the launch that adds up the partial sums of the launch before.
  void addSums(const ColumnSums &sums) {
    Launch launch{Launch::Kind::sums};
    launch.group.isFilled = true;
    launch.group.stages.push_back({sums.getOps(), {}});
    launch.blocks = sums.countSumBlocks();
    launch.threads = LaunchPlan::kMaxThreads;
    launch.sums = sums;
    result.launches.push_back(launch);
  }

  /// Whether a launch computes elements one by one, so that it can be a part of a larger grid.
  static bool mayBePart(const Launch &launch) {
    return launch.kind == Launch::Kind::elements && !launch.group.isFilled &&
           launch.group.rows.count == 1;
  }

  /// Joins consecutive launches of different parts of the kernel. No part reads what another one
  /// computes.
  void joinLaunches() {
    std::vector<Launch> launches;
    for (Launch &launch : result.launches) {
      Launch *last = launches.empty() ? nullptr : &launches.back();
      auto part = [&](const Launch &of) { return graph.getPart(of.group.stages[0].roots[0]); };
      if (!last || !mayBePart(launch) || (last->kind != Launch::Kind::joint && !mayBePart(*last)) ||
          part(last->joined.empty() ? *last : last->joined.back()) == part(launch)) {
        launches.push_back(std::move(launch));
        continue;
      }
      if (last->kind != Launch::Kind::joint) {
        Launch joint{Launch::Kind::joint};
        joint.blocks = 0;
        joint.threads = LaunchPlan::kMaxThreads;
        addPart(joint, std::move(*last));
        *last = std::move(joint);
      }
      addPart(*last, std::move(launch));
    }
    result.launches = std::move(launches);
  }

  /// Adds `launch` to `joint`, whose blocks have as many threads as possible.
  static void addPart(Launch &joint, Launch launch) {
    launch.blocks = llvm::divideCeil(launch.blocks * launch.threads, joint.threads);
    launch.threads = joint.threads;
    joint.blocks += launch.blocks;
    llvm::append_range(joint.group.stages, launch.group.stages);
    joint.joined.push_back(std::move(launch));
  }

  /// Whether other launches than `launch`, which computes `value`, read it.
  bool isReadLater(Value value, const Launch &launch) {
    SmallVector<Operation *> own = launch.group.getRoots();
    if (launch.sums)
      llvm::append_range(own, launch.sums->getOps());
    return llvm::any_of(readers.lookup(value),
                        [&](Operation *reader) { return !llvm::is_contained(own, reader); });
  }

  const KernelGraph &graph;
  const LaunchPlanOptions options;
  Terms terms;
  /// The sums over columns without a launch so far, with their groups.
  llvm::MapVector<Operation *, const LoopGroup *> waiting;
  DenseMap<Value, SmallVector<Operation *>> readers; // the roots that read a value
  DenseSet<Value> yielded;
};
} // namespace

LaunchPlan dpc::planLaunches(const KernelGraph &graph, const LoopPlan &plan,
                             const LaunchPlanOptions &options) {
  return Planner(graph, plan, options).result;
}

Launch dpc::copyLaunch(Value value) {
  Launch copy;
  copy.threads = LaunchPlan::kMaxThreads;
  copy.blocks = llvm::divideCeil(nn::typeOf(value).getNumElements(), copy.threads);
  return copy;
}
