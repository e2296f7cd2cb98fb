// Converts a Loop whose iterations do not depend on each other as one batch: its
// body is evaluated once, on values that represent all iterations together.
//
// A value is the same in all iterations, or has one element per iteration (a lane),
// or is a range of rows of one tensor per iteration, such as a slice between two
// offsets. Counters are known numbers. A sequence or a list of indices to which
// each iteration appends is represented by the appended value. PyTorch's exporters write
// EmbeddingBag as a loop over its bags that has this form. If the bags leave out an index
// (padding_idx), the loop contains a second loop over the indices of one bag, which makes
// the list of the remaining indices.

#include "frontends/onnx/Ops/BatchedLoop.h"

#include "frontends/onnx/Import/Constants.h"
#include "frontends/onnx/Ops/LoopLanes.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

using Kind = Lanes::Kind;

namespace {

/// The values that a Loop node carries from one iteration to the next.
struct Carried {
  /// One entry per carried value: the first value of a number that grows by 1 per
  /// iteration, or nullopt for a sequence that starts empty.
  SmallVector<std::optional<int64_t>> first;
  int64_t trips = 0;
};

/// Reads the carried values and the trip count. The trip count is an operand of the node,
/// or follows from a condition that compares a counter with a limit.
std::optional<Carried> readCarried(Conversion &c, const Subgraph &body) {
  Carried carried;
  LoopLanes outside(c, 1);
  for (unsigned i = 2; i < c.numOperands(); ++i) {
    const SmallVector<Value> *sequence = c.sequenceOf(c.node.inputs[i]);
    if (sequence && !sequence->empty())
      return std::nullopt;
    carried.first.push_back(sequence ? std::nullopt
                                     : knownScalar(outside.lookup(c.node.inputs[i])));
    if (!sequence && !carried.first.back())
      return std::nullopt;
  }
  if (c.has(1) && knownScalar(outside.lookup(c.node.inputs[1])).value_or(0) == 0)
    return std::nullopt;
  if (c.has(0)) {
    carried.trips = knownScalar(outside.lookup(c.node.inputs[0])).value_or(0);
    return carried;
  }
  auto numbers =
      llvm::make_filter_range(carried.first, [](auto &each) { return each.has_value(); });
  const Node *goesOn = nullptr;
  for (const Node &node : body.nodes)
    if (node.output(0) == body.outputs[0] && node.is("Less"))
      goesOn = &node;
  std::optional<int64_t> limit =
      goesOn ? knownScalar(outside.lookup(goesOn->input(1))) : std::nullopt;
  if (!limit || llvm::range_size(numbers) != 1)
    return std::nullopt;
  carried.trips = *limit - **numbers.begin();
  return carried;
}

/// Whether the loop runs for exactly `trips` iterations: its condition must hold after
/// all iterations except the last one. After the last one it must be false, unless the
/// loop has a trip count (`isCounted`).
bool goesOnToTheEnd(const Lanes &condition, int64_t trips, bool isCounted) {
  std::optional<std::vector<int64_t>> known = knownEach(condition, trips);
  return known && !llvm::is_contained(ArrayRef(*known).drop_back(), 0) &&
         (isCounted || known->back() == 0);
}

/// The elements of a sequence, which `all` has stacked along its first dimension.
SmallVector<Value> elementsOf(Conversion &c, Value all) {
  SmallVector<int64_t> shape(shapeOf(all).drop_front());
  Value joined = all;
  // The elements are slices of one tensor, which ConcatFromSequence recognises.
  if (!shape.empty() && shape[0] == 1) {
    SmallVector<int64_t> merged(shape);
    merged[0] = shapeOf(all)[0];
    joined = c.e.reshape(all, merged);
  }
  SmallVector<Value> elements;
  for (int64_t i = 0; i < shapeOf(all)[0]; ++i)
    elements.push_back(c.e.reshape(c.sliceAlong(joined, 0, i, i + 1), shape));
  return elements;
}

LogicalResult setResults(Conversion &c, const Subgraph &body, const Carried &carried,
                         LoopLanes &lanes) {
  const size_t count = carried.first.size();
  for (size_t i = 0; i < count; ++i) {
    Lanes after = lanes.lookup(body.outputs[1 + i]);
    if (!carried.first[i]) {
      if (after.kind != Kind::appended || !after.tensor || after.kept)
        return failure();
      c.setResult(unsigned(i), Imported{{}, elementsOf(c, after.tensor)});
      continue;
    }
    std::optional<std::vector<int64_t>> next = knownEach(after, carried.trips);
    int64_t first = *carried.first[i] + 1;
    if (!next || !llvm::equal(*next, range(first, first + carried.trips)))
      return failure();
    Value last = c.sliceAlong(after.tensor, 0, carried.trips - 1, carried.trips);
    c.setResult(unsigned(i), c.e.reshape(last, shapeOf(after.tensor).drop_front()));
  }
  for (size_t i = count; i + 1 < body.outputs.size(); ++i) {
    Value all = lanes.materialize(lanes.lookup(body.outputs[1 + i]));
    if (!all)
      return failure();
    c.setResult(unsigned(i), all);
  }
  return success();
}

LogicalResult convertAtOnce(Conversion &c, const Subgraph &body) {
  std::optional<Carried> carried = readCarried(c, body);
  if (!carried || carried->trips < 1 || carried->trips > kMaxFoldedElements)
    return failure();
  LoopLanes lanes(c, carried->trips);
  (void)lanes.bind(body.inputs[0], Lanes::eachOf(lanes.countFrom(0)));
  (void)lanes.bind(body.inputs[1],
                   Lanes::sameOf(c.e.splat(RankedTensorType::get({}, c.builder.getI1Type()), 1)));
  for (auto [i, first] : llvm::enumerate(carried->first)) {
    ValueId input = body.inputs[2 + i];
    if (!first) {
      (void)lanes.bind(input, {Kind::appended});
      continue;
    }
    Value before = c.valueOf(c.node.inputs[2 + i]);
    Value numbers = lanes.countFrom(*first, rankOf(before));
    (void)lanes.bind(input,
                     Lanes::eachOf(c.e.convert(numbers, nn::typeOf(before).getElementType())));
  }
  if (failed(lanes.evaluate(body.nodes)) ||
      !goesOnToTheEnd(lanes.lookup(body.outputs[0]), carried->trips, c.has(0)))
    return failure();
  return setResults(c, body, *carried, lanes);
}

} // namespace

bool dpc::onnx::convertBatchedLoop(Conversion &c, const Subgraph &body) {
  return c.attempt([&] { return convertAtOnce(c, body); });
}
