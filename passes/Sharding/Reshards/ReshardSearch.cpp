// Finds the cheapest reshard.
//
// The search is Dijkstra's algorithm (1959). A node is a layout and the step that led to it. An
// edge adds a step over one axis, or widens the last step by one axis. For a dimension of several
// segments, an edge may also take all axes of the dimension at once.

#include "passes/Sharding/Reshards/ReshardPlan.h"

#include "dialects/Dist/IR/LayoutAlignment.h"
#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace dpc;
using namespace dpc::dist;
using llvm::ArrayRef;

namespace {

/// An edge: `axes` stop cutting dimension `gathered` (if it is set), and start to cut dimension
/// `cut` (if it is set).
struct Move {
  ReshardKind kind;
  AxisNames axes;
  Reduction reduction;
  Layout after;
  std::optional<unsigned> gathered, cut;
};

struct Node {
  Layout layout;
  std::optional<size_t> parent; // the node before `step`
  std::optional<ReshardStep> step;
  std::set<unsigned> gathered, cut; // dimensions that `step` changes
  double seconds = 0;
  size_t steps = 0;
};

/// The moves that lead from a layout towards `to`. Invariant: each dimension is written either in
/// the factors that it has where the reshard starts, or in the factors that it has in `to`. A
/// dimension changes to the factors of `to` once it has no cut left.
class Moves {
public:
  Moves(const Layout &layout, const Layout &to) : layout(layout), to(to) {
    addReductions();
    addSlices();
    for (unsigned d = 0; d < layout.dims.size(); ++d)
      addGathers(d);
  }

  std::vector<Move> list;

private:
  bool isUsed(const std::string &axis) const {
    return llvm::is_contained(shardedAxes(layout), axis) ||
           llvm::any_of(layout.partial, [&](const Partial &p) { return p.axis == axis; });
  }

  /// Returns dimension `d` of `base` with one more cut, the cut over `axis` that `to` has;
  /// nullopt if `axis` is not the next axis to cut the dimension.
  std::optional<DimLayout> cutNext(const Layout &base, unsigned d, const std::string &axis) const {
    const DimLayout &target = to.dims[d];
    DimLayout dim = base.dims[d];
    if (!llvm::is_contained(shardedAxes(target), axis))
      return std::nullopt;
    if (!haveSameFactors(dim, target)) {
      if (!shardedAxes(dim).empty())
        return std::nullopt;
      dim = withoutAxes(target);
    }
    for (auto [segment, wanted] : llvm::zip_equal(dim.segments, target.segments))
      for (auto [factor, goal] : llvm::zip_equal(segment.factors, wanted.factors)) {
        auto place = llvm::find(goal.axes, axis) - goal.axes.begin();
        if (place == int64_t(goal.axes.size()))
          continue;
        if (ArrayRef(factor.axes) != ArrayRef(goal.axes).take_front(place))
          return std::nullopt;
        factor.axes.push_back(axis);
      }
    return dim;
  }

  /// Returns dimension `d` without its cut over `axis`; nullopt if `axis` is not the innermost
  /// axis of each factor that it cuts.
  std::optional<DimLayout> undoLast(unsigned d, const std::string &axis) const {
    DimLayout dim = layout.dims[d];
    for (Segment &segment : dim.segments)
      for (Factor &factor : segment.factors) {
        if (!llvm::is_contained(factor.axes, axis))
          continue;
        if (factor.axes.back() != axis)
          return std::nullopt;
        factor.axes.pop_back();
      }
    return shardedAxes(dim).empty() ? withoutAxes(to.dims[d]) : dim;
  }

  Layout with(Layout base, unsigned d, DimLayout dim) const {
    base.dims[d] = std::move(dim);
    return base;
  }

  /// Adds the reductions. Sums come before maxima, and maxima before minima, because different
  /// reductions do not commute.
  void addReductions() {
    for (Reduction reduction : {Reduction::sum, Reduction::max, Reduction::min}) {
      bool found = false;
      for (const Partial &partial : layout.partial) {
        if (partial.reduction != reduction || llvm::is_contained(to.partial, partial))
          continue;
        found = true;
        Layout reduced = layout;
        llvm::erase(reduced.partial, partial);
        list.push_back({ReshardKind::allReduce, {partial.axis}, reduction, reduced, {}, {}});
        for (unsigned d = 0; d < layout.dims.size(); ++d)
          if (auto dim = cutNext(layout, d, partial.axis))
            list.push_back({ReshardKind::reduceScatter,
                            {partial.axis},
                            reduction,
                            with(reduced, d, *dim),
                            {},
                            d});
      }
      if (found)
        return;
    }
  }

  void addSlices() {
    for (unsigned d = 0; d < layout.dims.size(); ++d) {
      AxisNames axes = shardedAxes(to.dims[d]);
      for (const std::string &axis : axes)
        if (!isUsed(axis))
          if (auto dim = cutNext(layout, d, axis))
            list.push_back(
                {ReshardKind::slice, {axis}, Reduction::sum, with(layout, d, *dim), {}, d});
      // The segments of a dimension may nest axes in different orders. Then a single step must make
      // the cuts over all axes.
      if (to.dims[d].segments.size() > 1 && axes.size() > 1 &&
          shardedAxes(layout.dims[d]).empty() &&
          llvm::none_of(axes, [&](const std::string &axis) { return isUsed(axis); }))
        list.push_back(
            {ReshardKind::slice, axes, Reduction::sum, with(layout, d, to.dims[d]), {}, d});
    }
  }

  void addGathers(unsigned d) {
    const DimLayout &dim = layout.dims[d];
    if (dim == to.dims[d])
      return;
    AxisNames axes = shardedAxes(dim);
    for (const std::string &axis : axes) {
      auto rest = undoLast(d, axis);
      if (!rest)
        continue;
      Layout gathered = with(layout, d, *rest);
      list.push_back({ReshardKind::allGather, {axis}, Reduction::sum, gathered, d, {}});
      for (unsigned other = 0; other < layout.dims.size(); ++other) {
        // Within one dimension, a cut moves only between factors.
        if (other == d && (dim.segments.size() > 1 || !haveSameFactors(dim, to.dims[d])))
          continue;
        if (auto cut = cutNext(gathered, other, axis))
          list.push_back({ReshardKind::allToAll,
                          {axis},
                          Reduction::sum,
                          with(gathered, other, *cut),
                          d,
                          other});
      }
    }
    if (dim.segments.size() > 1 && axes.size() > 1)
      list.push_back({ReshardKind::allGather,
                      axes,
                      Reduction::sum,
                      with(layout, d, withoutAxes(to.dims[d])),
                      d,
                      {}});
  }

  const Layout &layout, &to;
};

class Search {
public:
  Search(const ReshardProblem &problem, Layout from, Layout to)
      : problem(problem), from(std::move(from)), to(std::move(to)) {}

  ReshardPlan run() {
    add({from, {}, {}, {}, {}, 0, 0});
    while (!open.empty()) {
      size_t index = std::get<2>(*open.begin());
      open.erase(open.begin());
      if (!closed.insert(keyOf(nodes[index])).second)
        continue;
      if (nodes[index].layout.dims == to.dims && nodes[index].layout.partial == to.partial)
        return planTo(index);
      for (const Move &move : Moves(Layout(nodes[index].layout), to).list) {
        add(stepFrom(index, move));
        if (auto wider = widen(index, move))
          add(std::move(*wider));
      }
    }
    llvm_unreachable("everything can be reduced, gathered and cut");
  }

private:
  static std::string keyOf(const Node &node) {
    std::string key = toString(node.layout);
    if (node.step) {
      key += toString(node.step->kind);
      for (const std::string &axis : node.step->axes)
        key += " " + axis;
    }
    return key;
  }

  void add(Node node) {
    open.insert({node.seconds, node.steps, nodes.size()});
    nodes.push_back(std::move(node));
  }

  /// Returns `axes` in the order in which they cut `layout`.
  static AxisNames inOrder(const AxisNames &axes, const Layout &layout) {
    AxisNames ordered;
    for (const std::string &axis : shardedAxes(layout))
      if (llvm::is_contained(axes, axis))
        ordered.push_back(axis);
    for (const std::string &axis : axes)
      if (!llvm::is_contained(ordered, axis))
        ordered.push_back(axis);
    return ordered;
  }

  Node makeNode(size_t parent, const Move &move, AxisNames axes) const {
    const Node &before = nodes[parent];
    Node node;
    node.layout = move.after;
    node.parent = parent;
    bool gathers = move.kind == ReshardKind::allGather;
    node.step = ReshardStep{move.kind, inOrder(axes, gathers ? before.layout : move.after),
                            move.reduction, move.after};
    node.seconds = before.seconds + costOf(before.layout, *node.step, problem).seconds;
    node.steps = before.steps + 1;
    if (move.gathered)
      node.gathered.insert(*move.gathered);
    if (move.cut)
      node.cut.insert(*move.cut);
    return node;
  }

  Node stepFrom(size_t index, const Move &move) const { return makeNode(index, move, move.axes); }

  /// Returns the node whose last step is the last step of node `index`, widened by the axes of
  /// `move`; nullopt if the two cannot be one step. They cannot if their kinds or reductions
  /// differ, or if one of them gathers a dimension that the other one cuts.
  std::optional<Node> widen(size_t index, const Move &move) const {
    const Node &last = nodes[index];
    if (!last.step || last.step->kind != move.kind || last.step->reduction != move.reduction ||
        (move.cut && last.gathered.count(*move.cut)) ||
        (move.gathered && last.cut.count(*move.gathered)))
      return std::nullopt;
    AxisNames axes = last.step->axes;
    axes.append(move.axes);
    Node node = makeNode(*last.parent, move, axes);
    node.gathered.insert(last.gathered.begin(), last.gathered.end());
    node.cut.insert(last.cut.begin(), last.cut.end());
    return node;
  }

  ReshardPlan planTo(size_t index) const {
    ReshardPlan plan;
    plan.start = from;
    for (const Node *node = &nodes[index]; node->step; node = &nodes[*node->parent])
      plan.steps.insert(plan.steps.begin(), *node->step);
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      Price cost = costOf(plan.getBefore(i), plan.steps[i], problem);
      plan.seconds += cost.seconds;
      plan.bytes += cost.bytes;
    }
    return plan;
  }

  const ReshardProblem &problem;
  const Layout from, to;
  std::vector<Node> nodes;
  std::set<std::tuple<double, size_t, size_t>> open; // seconds, steps, node
  std::set<std::string> closed;
};

} // namespace

llvm::Expected<ReshardPlan> dpc::planReshard(const ReshardProblem &problem) {
  if (llvm::Error error = problem.check())
    return std::move(error);
  Layout from = withoutIdleAxes(problem.from, problem.mesh);
  Layout to = withoutIdleAxes(problem.to, problem.mesh);
  for (auto [a, b] : llvm::zip_equal(from.dims, to.dims)) {
    if (sameIndices(a, b, problem.mesh))
      b = a;
    else
      alignFactors(a, b, problem.mesh);
  }
  return Search(problem, std::move(from), std::move(to)).run();
}
