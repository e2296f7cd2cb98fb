// Evaluates If nodes and inner loops in the body of a loop, for all iterations of the
// outer loop at once.

#include "frontends/onnx/Import/Constants.h"
#include "frontends/onnx/Ops/LoopLanes.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

using Kind = Lanes::Kind;

/// The shape that a reduction of rows (Kind::reduced) has in one iteration.
static SmallVector<int64_t> shapeOfReduced(const Lanes &value) {
  SmallVector<int64_t> shape(shapeOf(value.segments.rows).drop_front());
  if (value.keepsDimension)
    shape.insert(shape.begin(), 1);
  return shape;
}

Value LoopLanes::selectDivisor(Value mask, const Lanes &holds, const Lanes &fails) {
  if (!holds.divisor && !fails.divisor)
    return {};
  Value one = c.e.splatLike(holds.divisor ? holds.divisor : fails.divisor, 1);
  return c.e.select(mask, holds.divisor ? holds.divisor : one, fails.divisor ? fails.divisor : one);
}

/// Merges two values: `holds` in iterations in which `condition` is true, `fails`
/// in the others.
std::optional<Lanes> LoopLanes::merge(const Lanes &condition, const Lanes &holds,
                                      const Lanes &fails) {
  Value mask = flat(condition);
  if (holds.kind == Kind::appended || fails.kind == Kind::appended) {
    if (holds.kind != fails.kind || bool(holds.tensor) == bool(fails.tensor))
      return std::nullopt;
    Lanes result = holds.tensor ? holds : fails;
    result.kept = holds.tensor ? mask : Value(c.e.make<nn::NotOp>(mask));
    return result;
  }
  if (holds.kind == Kind::rows && fails.kind == Kind::rows)
    return mergeRows(mask, holds, fails);
  if (holds.kind == Kind::reduced && fails.kind == Kind::reduced &&
      holds.segments.rows == fails.segments.rows &&
      haveEqualBounds(holds.segments, fails.segments) && holds.reduction == fails.reduction &&
      holds.keepsDimension == fails.keepsDimension) {
    Lanes result = holds;
    result.divisor = selectDivisor(mask, holds, fails);
    return result;
  }
  // The reduction of an empty segment is 0, so the branch for empty segments is
  // redundant.
  if (condition.isEmpty && fails.kind == Kind::reduced && holds.kind == Kind::same &&
      shapeOf(holds.tensor) == ArrayRef(shapeOfReduced(fails)) && isZero(holds.tensor) &&
      haveEqualBounds(condition.segments, fails.segments))
    return fails;
  Value left = materialize(holds), right = materialize(fails);
  if (!left || !right || left.getType() != right.getType())
    return std::nullopt;
  return Lanes::eachOf(c.e.select(c.e.broadcast(mask, shapeOf(left), {0}), left, right));
}

std::optional<Lanes> LoopLanes::mergeRows(Value mask, const Lanes &holds, const Lanes &fails) {
  const Segments &left = holds.segments, &right = fails.segments;
  if (left.rows != right.rows || left.kept != right.kept)
    return std::nullopt;
  Lanes result = holds;
  result.segments.begin = selectBound(c, mask, left.begin, right.begin);
  result.segments.end = selectBound(c, mask, left.end, right.end);
  return result;
}

LogicalResult LoopLanes::evaluateIf(const Node &node) {
  Lanes condition = lookup(node.input(0));
  const Subgraph *branches[2] = {};
  for (const Subgraph &each : node.subgraphs)
    branches[each.attribute == "then_branch"] = &each;
  if (!branches[0] || !branches[1])
    return failure();
  std::optional<std::vector<int64_t>> known = knownEach(condition, count);
  if (known && llvm::all_equal(*known)) {
    const Subgraph &taken = *branches[known->front() != 0];
    if (failed(evaluate(taken.nodes)))
      return failure();
    for (auto [id, output] : llvm::zip_equal(node.outputs, taken.outputs))
      values[id] = lookup(output);
    return success();
  }
  if (!flat(condition) || failed(evaluate(branches[1]->nodes)) ||
      failed(evaluate(branches[0]->nodes)))
    return failure();
  for (auto [i, id] : llvm::enumerate(node.outputs)) {
    std::optional<Lanes> merged =
        merge(condition, lookup(branches[1]->outputs[i]), lookup(branches[0]->outputs[i]));
    if (!merged)
      return failure();
    values[id] = *merged;
  }
  return success();
}

/// The extent of the dimension that a Gather among `nodes` indexes with `index`; nullopt
/// if no Gather does.
static std::optional<int64_t> extentAt(LoopLanes &lanes, ArrayRef<Node> nodes, ValueId index) {
  for (const Node &node : nodes) {
    if (!node.is("Gather") || node.input(1) != index)
      continue;
    Lanes data = lanes.lookup(node.input(0));
    if (data.kind == Kind::same && rankOf(data.tensor) > 0)
      return shapeOf(data.tensor)[0];
  }
  return std::nullopt;
}

/// Evaluates an inner loop whose counter runs from `begin` to `end` - 1. Both bounds may
/// differ between iterations of the outer loop. Each counter value may append one item to a
/// list. The body is evaluated once for all counter values that can occur, which gives a
/// tensor with one item per counter value. The list of an outer iteration is the range
/// [begin, end) of this tensor, without the items that the body does not append.
LogicalResult LoopLanes::evaluateInnerLoop(const Node &node) {
  const Subgraph &body = node.subgraphs.front();
  const Node *enters = makerOf(node.input(1));
  if (node.inputs.size() != 4 || body.inputs.size() != 4 || body.outputs.size() != 3 ||
      node.input(0) != kNoValue || !enters || !enters->is("Less"))
    return failure();
  // Exporters carry the counter and the list in either order.
  const unsigned number = enters->input(0) == node.input(2) ? 0 : 1, list = 1 - number;
  const ValueId next = body.outputs[1 + number];
  Lanes begin = lookup(node.input(2 + number)), end = lookup(enters->input(1)),
        empty = lookup(node.input(2 + list));
  std::optional<int64_t> extent = extentAt(*this, body.nodes, body.inputs[2 + number]);
  if (enters->input(0) != node.input(2 + number) || begin.kind != Kind::each || !flat(begin) ||
      !flat(end) || empty.kind != Kind::same || nn::typeOf(empty.tensor).getNumElements() != 0 ||
      !extent || *extent == 0)
    return failure();
  LoopLanes inner(c, *extent, this);
  inner.values[body.inputs[2 + number]] =
      Lanes::eachOf(inner.countFrom(0, rankOf(begin.tensor) - 1));
  inner.values[body.inputs[2 + list]] = {Kind::appended};
  if (failed(inner.evaluate(body.nodes)))
    return failure();
  // The counter must grow by 1, and the loop must run while it is less than the
  // end.
  const Node *goesOn = inner.makerOf(body.outputs[0]);
  std::optional<std::vector<int64_t>> grown = knownEach(inner.lookup(next), *extent);
  Lanes appended = inner.lookup(body.outputs[1 + list]);
  if (!goesOn || !goesOn->is("Less") || goesOn->input(0) != next ||
      goesOn->input(1) != enters->input(1) || !grown ||
      !llvm::equal(*grown, range(1, *extent + 1)) || appended.kind != Kind::appended ||
      !appended.tensor)
    return failure();
  Type i64 = c.builder.getI64Type();
  Lanes result{Kind::rows};
  result.segments = {c.e.reshape(appended.tensor, {*extent}), c.e.convert(flat(begin), i64),
                     c.e.convert(flat(end), i64), appended.kept};
  values[node.output(number)] = {};
  values[node.output(list)] = result;
  return success();
}
