// Forms loop groups greedily. A group begins with the first root that has no group
// yet. It takes all later roots that the same loop over rows can compute. Of all
// numbers of rows, the one with the largest group is chosen. A root that does not
// fit the loop, e.g. a sum over all rows, is postponed to a later group, together
// with all roots that read it.

#include "targets/Loops/Kernels/LoopPlan.h"

#include "dialects/NN/IR/Fusion.h"
#include "planning/PlanError.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace mlir;
using namespace dpc;

static int64_t elementsOf(Operation *root) {
  return nn::typeOf(root->getResult(0)).getNumElements();
}

int64_t LoopGroup::Stage::getElements() const { return elementsOf(roots[0]); }

SmallVector<Operation *> LoopGroup::getRoots() const {
  SmallVector<Operation *> roots;
  for (const Stage &stage : stages)
    llvm::append_range(roots, stage.roots);
  return roots;
}

/// `group` with `root` added to stage `number`, which may be a new last stage.
/// Null if they cannot share loops.
static std::optional<LoopGroup> joined(const KernelGraph &graph, LoopGroup group, unsigned number,
                                       Operation *root) {
  if (number == group.stages.size())
    group.stages.emplace_back();
  LoopGroup::Stage &stage = group.stages[number];
  stage.roots.push_back(root);
  std::optional<LoopNest> nest = nestOf(graph, stage.roots, group.rows);
  if (!nest)
    return std::nullopt;
  stage.nest = *nest;
  if (!canShareLoops(graph, group))
    return std::nullopt;
  return group;
}

namespace {
/// The roots that are postponed to a later group. Says whether a root reads one of
/// them, directly or through inlined ops.
class Postponed {
public:
  explicit Postponed(const KernelGraph &graph) : graph(graph) {}

  void add(Operation *root) { postponed.insert(root); }
  bool isNeededBy(Operation *root) const {
    return llvm::any_of(graph.getReads(root),
                        [&](Value value) { return postponed.contains(value.getDefiningOp()); });
  }

private:
  const KernelGraph &graph;
  DenseSet<Operation *> postponed;
};
} // namespace

/// The largest group with the rows `rows` that begins with the first of `roots`. It
/// has no stages if the first root does not fit a loop over these rows. Roots
/// that do not fit are postponed, together with the roots that read them.
static LoopGroup extend(const KernelGraph &graph, ArrayRef<Operation *> roots,
                        const LoopRows &rows) {
  LoopGroup group;
  group.rows = rows;
  Postponed postponed(graph);
  auto tryJoin = [&](Operation *root) {
    if (graph.getPart(root) != graph.getPart(roots[0]) || graph.isFilled(root) ||
        elementsOf(root) == 0 || !rows.fit(elementsOf(root)) || postponed.isNeededBy(root))
      return false;
    unsigned stages = group.stages.size();
    std::optional<LoopGroup> longer;
    if (stages && elementsOf(root) == group.stages.back().getElements())
      longer = joined(graph, group, stages - 1, root);
    if (!longer && (stages == 0 || rows.count > 1))
      longer = joined(graph, group, stages, root);
    if (longer)
      group = std::move(*longer);
    return longer.has_value();
  };
  if (!tryJoin(roots[0]))
    return group;
  for (Operation *root : roots.drop_front())
    if (!tryJoin(root))
      postponed.add(root);
  return group;
}

/// The group of a root with a fill rule. If the rule computes tiles, the group
/// also has the roots whose elements can be computed from a tile as soon as it is
/// final.
static LoopGroup extendFilled(const KernelGraph &graph, ArrayRef<Operation *> roots) {
  LoopGroup group;
  group.isFilled = true;
  group.stages.push_back({{roots[0]}, {}});
  if (!graph.makesTiles(roots[0]))
    return group;
  Postponed postponed(graph);
  for (Operation *root : roots.drop_front()) {
    std::optional<LoopGroup> longer;
    if (!graph.isFilled(root) && elementsOf(root) == elementsOf(roots[0]) &&
        !postponed.isNeededBy(root))
      longer = joined(graph, group, 1, root);
    if (longer)
      group = std::move(*longer);
    else
      postponed.add(root);
  }
  return group;
}

/// The numbers of rows to try, largest first. They come from the sizes of smaller
/// roots, e.g. of sums, which have one element for each row of a larger root.
static std::set<int64_t, std::greater<>> rowCandidates(const KernelGraph &graph,
                                                       ArrayRef<Operation *> roots) {
  int64_t largest = 0;
  for (Operation *root : roots)
    if (!graph.isFilled(root))
      largest = std::max(largest, elementsOf(root));
  std::set<int64_t, std::greater<>> candidates;
  for (Operation *root : roots) {
    if (graph.isFilled(root) || elementsOf(root) == largest)
      continue;
    int64_t rows = 1;
    for (int64_t extent : nn::typeOf(root->getResult(0)).getShape())
      if ((rows *= extent) > 1)
        candidates.insert(rows);
  }
  return candidates;
}

std::optional<LoopRows> dpc::splitRowsOf(Operation *op) {
  constexpr int64_t kShortestRun = 64;
  if (getFusionKind(op) != FusionKind::reduction)
    return std::nullopt;
  ArrayRef<int64_t> shape = nn::typeOf(op->getOperand(0)).getShape(),
                    reduced = cast<FusableOpInterface>(op).getReducedDims();
  const int64_t rank = shape.size(), kept = rank - int64_t(reduced.size());
  int64_t first = 0; // the first dimension that is kept
  while (first < int64_t(reduced.size()) && reduced[first] == first)
    ++first;
  const bool isBlock =
      first > 0 && first < int64_t(reduced.size()) && reduced[first] == first + kept;
  if (!isBlock)
    return std::nullopt;
  const LoopRows rows{ShapedType::getNumElements(shape.slice(first, kept)),
                      ShapedType::getNumElements(shape.take_front(first))};
  const int64_t run = ShapedType::getNumElements(shape.drop_front(first + kept));
  if (rows.count < 2 || !rows.isSplit() || run < kShortestRun)
    return std::nullopt;
  return rows;
}

/// The different rows of several pieces of the kernel's reductions.
static SmallVector<LoopRows> splitRowCandidates(const KernelGraph &graph) {
  SmallVector<LoopRows> candidates;
  for (Operation &op : graph.getBlock())
    if (std::optional<LoopRows> rows = splitRowsOf(&op))
      if (!llvm::is_contained(candidates, *rows))
        candidates.push_back(*rows);
  return candidates;
}

/// The largest group that begins with the first of `roots`.
static LoopGroup bestGroup(const KernelGraph &graph, ArrayRef<Operation *> roots,
                           RowPieces pieces) {
  if (elementsOf(roots[0]) == 0) // a root without elements has no loops
    return {{}, {{{roots[0]}, {}}}, graph.isFilled(roots[0])};
  if (graph.isFilled(roots[0]))
    return extendFilled(graph, roots);
  LoopGroup best = extend(graph, roots, {});
  auto consider = [&](const LoopRows &rows) {
    LoopGroup group = extend(graph, roots, rows);
    if (group.getRoots().size() > best.getRoots().size())
      best = std::move(group);
  };
  for (int64_t count : rowCandidates(graph, roots))
    consider({count});
  if (pieces == RowPieces::several)
    for (const LoopRows &rows : splitRowCandidates(graph))
      consider(rows);
  return best;
}

LoopPlan dpc::planLoops(const KernelGraph &graph, RowPieces pieces) {
  LoopPlan plan;
  SmallVector<Operation *> roots(graph.getRoots());
  while (!roots.empty()) {
    plan.groups.push_back(bestGroup(graph, roots, pieces));
    SmallVector<Operation *> taken = plan.groups.back().getRoots();
    llvm::erase_if(roots, [&](Operation *root) { return llvm::is_contained(taken, root); });
  }
  return plan;
}

/// Checks that the stages of group `number` have roots of the right sizes, and can
/// share loops.
static llvm::Error verifyGroup(const KernelGraph &graph, const LoopGroup &group, size_t number) {
  if (group.rows.count < 1 || group.rows.pieces < 1)
    return planError("group {0} has {1} rows of {2} pieces", number, group.rows.count,
                     group.rows.pieces);
  for (auto [index, stage] : llvm::enumerate(group.stages)) {
    if (stage.roots.empty())
      return planError("stage {0} of group {1} has no roots", index, number);
    if (!group.rows.fit(stage.getElements()))
      return planError("stage {0} of group {1} has {2} elements in {3} rows of {4} pieces", index,
                       number, stage.getElements(), group.rows.count, group.rows.pieces);
    for (Operation *root : stage.roots) {
      if (elementsOf(root) != stage.getElements())
        return planError("{0} has {1} elements in a stage of {2}", root->getName(),
                         elementsOf(root), stage.getElements());
      if (graph.isFilled(root) != (group.isFilled && index == 0))
        return planError("{0} is in stage {1} of group {2}, which is {3}", root->getName(), index,
                         number, group.isFilled && index == 0 ? "one op's own" : "a loop");
    }
  }
  if (!group.isFilled && group.stages.front().getElements() && !canShareLoops(graph, group))
    return planError("the stages of group {0} cannot share loops", number);
  return llvm::Error::success();
}

llvm::Error LoopPlan::verify(const KernelGraph &graph) const {
  DenseMap<Operation *, std::pair<size_t, size_t>> places; // the group and the stage of each root
  for (auto [number, group] : llvm::enumerate(groups)) {
    if (group.stages.empty())
      return planError("group {0} has no stages", number);
    if (llvm::Error error = verifyGroup(graph, group, number))
      return error;
    for (auto [index, stage] : llvm::enumerate(group.stages))
      for (Operation *root : stage.roots)
        if (!places.insert({root, {number, index}}).second)
          return planError("{0} is in group {1} and in group {2}", root->getName(),
                           places[root].first, number);
  }
  for (Operation *root : graph.getRoots()) {
    auto here = places.find(root);
    if (here == places.end())
      return planError("{0} is in no group", root->getName());
    for (Value value : graph.getReads(root)) {
      auto maker = places.find(value.getDefiningOp());
      if (maker != places.end() && maker->second > here->second)
        return planError("stage {0} of group {1} reads what stage {2} of group "
                         "{3} makes",
                         here->second.second, here->second.first, maker->second.second,
                         maker->second.first);
    }
  }
  return llvm::Error::success();
}
