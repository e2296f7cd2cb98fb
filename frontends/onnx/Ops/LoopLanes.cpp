// Evaluates the nodes in the body of a loop on operands that represent all
// iterations at once.

#include "frontends/onnx/Ops/LoopLanes.h"

#include "frontends/onnx/Import/Constants.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

using Kind = Lanes::Kind;

namespace {

/// Whether the results of the node's operator depend only on its operands and attributes.
bool isPure(const Node &node) {
  static const llvm::StringSet<> pure = {"Add",      "And",
                                         "Cast",     "CastLike",
                                         "Concat",   "Constant",
                                         "Div",      "Equal",
                                         "Expand",   "Gather",
                                         "Greater",  "GreaterOrEqual",
                                         "Less",     "Mul",
                                         "Neg",      "LessOrEqual",
                                         "Not",      "Or",
                                         "Range",    "Reshape",
                                         "Shape",    "Size",
                                         "Slice",    "Squeeze",
                                         "Sub",      "Unsqueeze",
                                         "Where",    "ConstantOfShape",
                                         "Identity", "ScatterElements"};
  return node.domain.empty() && node.subgraphs.empty() && pure.contains(node.opType);
}

bool isElementwise(StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Add", "And", "Cast", "Div", "Equal", true)
      .Cases("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Mul", "Neg", true)
      .Cases("Not", "Or", "Sub", "Where", "Identity", true)
      .Default(false);
}

bool isAxis0(const Lanes &value) { return knownScalar(value) == 0; }

/// Treats the bounds in `known` as ONNX's Slice treats them for a dimension of `extent`
/// rows: negative bounds count from the end, and all are clamped to [0, extent].
void clampToRows(std::vector<int64_t> &known, int64_t extent) {
  for (int64_t &each : known)
    each = std::clamp<int64_t>(each < 0 ? each + extent : each, 0, extent);
}

} // namespace

std::optional<int64_t> dpc::onnx::knownScalar(const Lanes &value) {
  if (value.kind != Kind::same || !value.tensor)
    return std::nullopt;
  std::optional<std::vector<int64_t>> known = knownInts(value.tensor);
  return known && known->size() == 1 ? std::optional(known->front()) : std::nullopt;
}

std::optional<std::vector<int64_t>> dpc::onnx::knownEach(const Lanes &value, int64_t count) {
  if (value.kind == Kind::same) {
    std::optional<int64_t> scalar = knownScalar(value);
    return scalar ? std::optional(std::vector<int64_t>(count, *scalar)) : std::nullopt;
  }
  if (value.kind != Kind::each || nn::typeOf(value.tensor).getNumElements() != count)
    return std::nullopt;
  return knownInts(value.tensor);
}

Lanes LoopLanes::lookup(ValueId id) {
  if (id == kNoValue)
    return {};
  if (auto found = values.find(id); found != values.end())
    return found->second;
  if (outer) {
    Lanes value = outer->lookup(id);
    return value.kind == Kind::same ? value : Lanes();
  }
  Value tensor = c.valueOf(id);
  if (!tensor || c.sequenceOf(id))
    return {};
  // If there are many bags, their offsets are a large constant, which is an argument of
  // the function. Its elements are known nevertheless, so it is emitted as a constant
  // here.
  if (const Tensor *known = c.constantOf(id);
      known && isa<IntegerType>(nn::typeOf(tensor).getElementType()) &&
      known->numElements() <= kMaxFoldedElements)
    tensor =
        emitConstant(c.builder, c.loc, toHostTensor(nn::typeOf(tensor).getElementType(), *known));
  return values[id] = Lanes::sameOf(tensor);
}

Value LoopLanes::countFrom(int64_t first, int64_t rank) {
  SmallVector<int64_t> elements = range(first, first + count), shape(rank + 1, 1);
  shape[0] = count;
  return c.intConstant(shape, elements);
}

Value LoopLanes::flat(const Lanes &value) {
  if (value.kind == Kind::same && nn::typeOf(value.tensor).getNumElements() == 1)
    return c.e.broadcastScalar(c.e.reshape(value.tensor, {}), {count});
  if (value.kind != Kind::each || nn::typeOf(value.tensor).getNumElements() != count)
    return {};
  return c.e.reshape(value.tensor, {count});
}

Value LoopLanes::materialize(const Lanes &value) {
  if (value.kind == Kind::each)
    return value.tensor;
  if (value.kind == Kind::same) {
    SmallVector<int64_t> shape(shapeOf(value.tensor));
    SmallVector<int64_t> dimensions = range(1, rankOf(value.tensor) + 1);
    shape.insert(shape.begin(), count);
    return c.e.broadcast(value.tensor, shape, dimensions);
  }
  if (value.kind != Kind::reduced)
    return {};
  Value reduced = reduceSegments(c, value.segments, value.reduction);
  if (!reduced)
    return {};
  if (value.divisor)
    reduced = c.e.div(reduced, c.e.broadcast(value.divisor, shapeOf(reduced), {0}));
  SmallVector<int64_t> shape(shapeOf(reduced));
  if (value.keepsDimension)
    shape.insert(shape.begin() + 1, 1);
  return c.e.reshape(reduced, shape);
}

/// Converts `node` with `operands`. Binds the node's output to `result`, whose tensor
/// (and rows, for Kind::rows) is set to the converted value.
LogicalResult LoopLanes::convert(const Node &node, ArrayRef<Value> operands, Lanes result) {
  SmallVector<Value> made;
  if (failed(c.convertNode(node, operands, made)) || made.size() != 1 || !made[0])
    return failure();
  result.tensor = made[0];
  if (result.kind == Kind::rows)
    result.segments.rows = made[0];
  bool hasLanes = result.kind == Kind::each || result.kind == Kind::rows;
  int64_t lanes = result.kind == Kind::each ? count : -1;
  if (hasLanes && (rankOf(made[0]) == 0 || (lanes >= 0 && shapeOf(made[0])[0] != lanes)))
    return failure();
  return bind(node.output(0), std::move(result));
}

LogicalResult LoopLanes::evaluateSame(const Node &node, ArrayRef<Lanes> operands) {
  SmallVector<Value> tensors;
  for (const Lanes &operand : operands)
    tensors.push_back(operand.tensor);
  return convert(node, tensors, {Kind::same});
}

/// Evaluates an elementwise node if each operand either has the rows of the same segments
/// (Kind::rows) or is the same in every iteration.
LogicalResult LoopLanes::evaluateRows(const Node &node, ArrayRef<Lanes> operands) {
  const Lanes *first = llvm::find_if(operands, [](auto &each) { return each.kind == Kind::rows; });
  int64_t rank = 0;
  SmallVector<Value> tensors;
  for (const Lanes &operand : operands) {
    const bool isRows = operand.kind == Kind::rows;
    if (isRows && !haveEqualBounds(operand.segments, first->segments))
      return failure();
    if (!isRows && operand.kind != Kind::same)
      return failure();
    tensors.push_back(isRows ? operand.segments.rows : operand.tensor);
    rank = std::max(rank, isRows ? rankOf(tensors.back()) : 0);
  }
  // Broadcasting must keep rows as the first dimension.
  for (auto [operand, tensor] : llvm::zip_equal(operands, tensors))
    if (operand.kind == Kind::rows ? rankOf(tensor) != rank : rankOf(tensor) >= rank)
      return failure();
  return convert(node, tensors, {Kind::rows, {}, first->segments});
}

LogicalResult LoopLanes::evaluateElementwise(const Node &node, ArrayRef<Lanes> operands) {
  if (llvm::any_of(operands, [](auto &each) { return each.kind == Kind::rows; }))
    return evaluateRows(node, operands);
  SmallVector<Value> tensors;
  int64_t rank = 0;
  for (const Lanes &operand : operands) {
    Value tensor = operand.kind == Kind::same ? operand.tensor : materialize(operand);
    if (!tensor)
      return failure();
    tensors.push_back(tensor);
    rank = std::max(rank, rankOf(tensor) - (operand.kind != Kind::same));
  }
  // Inserts dimensions of extent 1 after the first one, so that the iterations stay the
  // first dimension when values are broadcast.
  for (auto [operand, tensor] : llvm::zip_equal(operands, tensors)) {
    if (operand.kind == Kind::same)
      continue;
    SmallVector<int64_t> shape(shapeOf(tensor));
    shape.insert(shape.begin() + 1, rank + 1 - rankOf(tensor), 1);
    tensor = c.e.reshape(tensor, shape);
  }
  if (failed(convert(node, tensors, {Kind::each})))
    return failure();
  noteEmpty(node, operands);
  return success();
}

/// Evaluates CastLike, which needs only the type of the second operand.
LogicalResult LoopLanes::evaluateCastLike(const Node &node, ArrayRef<Lanes> operands) {
  const Lanes &like = operands[1];
  bool isRows = like.kind == Kind::rows || like.kind == Kind::reduced;
  Value type = isRows ? like.segments.rows : like.tensor;
  if (!type)
    return failure();
  switch (operands[0].kind) {
  case Kind::same:
    return convert(node, {operands[0].tensor, type}, {Kind::same});
  case Kind::rows:
    return convert(node, {operands[0].segments.rows, type}, {Kind::rows, {}, operands[0].segments});
  default:
    Value x = materialize(operands[0]);
    return x ? convert(node, {x, type}, {Kind::each}) : failure();
  }
}

/// Recognizes comparisons whose result tells whether a segment is empty, and sets
/// `isEmpty` of the result. They compare the bounds of the segment with each other, or
/// its number of rows with 0.
void LoopLanes::noteEmpty(const Node &node, ArrayRef<Lanes> operands) {
  Lanes &result = values[node.output(0)];
  if (!node.is("Equal")) {
    // A cast number of rows is still the number of rows.
    if (node.is("Cast") && operands[0].countsRows) {
      result.countsRows = true;
      result.segments = operands[0].segments;
    }
    return;
  }
  if (operands[0].countsRows && knownScalar(operands[1]) == 0) {
    result.isEmpty = true;
    result.segments = operands[0].segments;
    return;
  }
  Value begin = flat(operands[0]), end = flat(operands[1]);
  if (begin && end && isa<IntegerType>(nn::typeOf(begin).getElementType())) {
    result.isEmpty = true;
    result.segments = {{}, begin, end, {}};
  }
}

/// Evaluates Reshape, Unsqueeze and the like. If a value has one element per iteration,
/// the iterations stay its first dimension.
LogicalResult LoopLanes::evaluateReshape(const Node &node, ArrayRef<Lanes> operands) {
  const Lanes &x = operands[0];
  if (x.kind == Kind::rows && node.is("Unsqueeze") && operands.size() == 2) {
    std::optional<int64_t> axis = knownScalar(operands[1]);
    bool staysFirst = axis && *axis != 0 && *axis >= -rankOf(x.segments.rows);
    return staysFirst
               ? convert(node, {x.segments.rows, operands[1].tensor}, {Kind::rows, {}, x.segments})
               : failure();
  }
  Value number = flat(x);
  if (x.kind != Kind::each || !number)
    return failure();
  int64_t rank = rankOf(x.tensor) - 1;
  if (node.is("Reshape")) {
    std::optional<std::vector<int64_t>> shape =
        operands[1].kind == Kind::same ? knownInts(operands[1].tensor) : std::nullopt;
    if (!shape || llvm::any_of(*shape, [](int64_t each) { return each != 1 && each != -1; }))
      return failure();
    rank = int64_t(shape->size());
  } else if (node.is("Unsqueeze")) {
    rank += operands.size() == 2 ? nn::typeOf(operands[1].tensor).getNumElements()
                                 : int64_t(c.inside(node).intsAttr("axes").size());
  } else {
    rank = 0;
  }
  SmallVector<int64_t> shape(rank + 1, 1);
  shape[0] = count;
  Lanes result = x;
  result.tensor = c.e.reshape(number, shape);
  return bind(node.output(0), result);
}

LogicalResult LoopLanes::evaluateGather(const Node &node, ArrayRef<Lanes> operands) {
  if (operands[0].kind != Kind::same || rankOf(operands[0].tensor) == 0 ||
      c.inside(node).intAttr("axis") != 0)
    return failure();
  const Lanes &indices = operands[1];
  if (indices.kind == Kind::rows)
    return convert(node, {operands[0].tensor, indices.segments.rows},
                   {Kind::rows, {}, indices.segments});
  if (indices.kind != Kind::each)
    return failure();
  std::optional<std::vector<int64_t>> known = knownEach(indices, count);
  const int64_t first = known ? known->front() : 0;
  if (known && rankOf(operands[0].tensor) == 1 && rankOf(indices.tensor) == 1 && first >= 0 &&
      first + count <= shapeOf(operands[0].tensor)[0] &&
      llvm::equal(*known, range(first, first + count)))
    return bind(node.output(0), Lanes::eachOf(takeOffsets(c, operands[0].tensor, first, count)));
  return convert(node, {operands[0].tensor, indices.tensor}, {Kind::each});
}

/// Evaluates a Slice along the first dimension of a tensor that is the same in every
/// iteration. The result consists of the rows between the bounds. If the tensor has
/// rank 1, and iteration i is known to take only element k + i for some k, the result
/// has one element per iteration.
LogicalResult LoopLanes::evaluateSlice(const Node &node, ArrayRef<Lanes> operands) {
  if (operands.size() < 3 || operands[0].kind != Kind::same || rankOf(operands[0].tensor) == 0 ||
      (operands.size() > 3 && node.input(3) != kNoValue && !isAxis0(operands[3])) ||
      (operands.size() > 4 && knownScalar(operands[4]) != 1))
    return failure();
  Value x = operands[0].tensor, begin = flat(operands[1]), end = flat(operands[2]);
  if (!begin || !end)
    return failure();
  const int64_t extent = shapeOf(x)[0];
  std::optional<std::vector<int64_t>> first = knownInts(begin), last = knownInts(end);
  if (first)
    clampToRows(*first, extent);
  if (last)
    clampToRows(*last, extent);
  bool isElement = first && last && rankOf(x) == 1;
  for (int64_t i = 0; isElement && i < count; ++i)
    isElement = (*first)[i] == first->front() + i && (*last)[i] == (*first)[i] + 1;
  if (isElement) {
    Value elements = takeOffsets(c, x, first->front(), count);
    return bind(node.output(0), Lanes::eachOf(c.e.reshape(elements, {count, 1})));
  }
  Type i64 = c.builder.getI64Type();
  begin = first ? c.intConstant({count}, *first) : c.e.convert(begin, i64);
  end = last ? c.intConstant({count}, *last) : c.e.convert(end, i64);
  return bind(node.output(0), {Kind::rows, {}, {x, begin, end, {}}});
}

LogicalResult LoopLanes::evaluateReduce(const Node &node, ArrayRef<Lanes> operands) {
  const Lanes &x = operands[0];
  Conversion reduce = c.inside(node);
  const bool keeps = reduce.intAttr("keepdims") != 0;
  bool isAlongRows = operands.size() > 1
                         ? isAxis0(operands[1])
                         : ArrayRef(reduce.intsAttr("axes")) == ArrayRef<int64_t>{0};
  // If each iteration has one row, the sum, mean and maximum are that row.
  if (x.kind == Kind::each && isAlongRows && rankOf(x.tensor) > 1 && shapeOf(x.tensor)[1] == 1) {
    SmallVector<int64_t> shape(shapeOf(x.tensor));
    if (!keeps)
      shape.erase(shape.begin() + 1);
    return bind(node.output(0), Lanes::eachOf(c.e.reshape(x.tensor, shape)));
  }
  if (x.kind != Kind::rows || !isAlongRows ||
      !isa<FloatType>(nn::typeOf(x.segments.rows).getElementType()))
    return failure();
  Lanes result{Kind::reduced, {}, x.segments};
  result.keepsDimension = keeps;
  if (node.is("ReduceMax"))
    result.reduction = nn::ReduceKind::max;
  if (node.is("ReduceMean")) {
    Value rows = countRows(c, x.segments);
    if (!rows)
      return failure();
    result.divisor = c.e.convert(c.e.max(rows, c.e.splatLike(rows, 1)),
                                 nn::typeOf(x.segments.rows).getElementType());
  }
  return bind(node.output(0), result);
}

/// Evaluates Div. If a reduction of rows (Kind::reduced) is divided by one number
/// per iteration, the result is this reduction with the number as `divisor`. Any
/// other Div is evaluated as an elementwise node.
LogicalResult LoopLanes::evaluateDiv(const Node &node, ArrayRef<Lanes> operands) {
  Lanes result = operands[0];
  Value divisor = operands[1].kind == Kind::each ? flat(operands[1]) : Value();
  if (result.kind != Kind::reduced || result.divisor || !divisor ||
      nn::typeOf(divisor).getElementType() != nn::typeOf(result.segments.rows).getElementType() ||
      rankOf(operands[1].tensor) > rankOf(result.segments.rows) + result.keepsDimension)
    return evaluateElementwise(node, operands);
  result.divisor = divisor;
  return bind(node.output(0), result);
}

LogicalResult LoopLanes::evaluateSize(const Node &node, ArrayRef<Lanes> operands) {
  const Lanes &x = operands[0];
  if (x.kind != Kind::rows || rankOf(x.segments.rows) != 1)
    return failure();
  Value rows = countRows(c, x.segments);
  if (!rows)
    return failure();
  Lanes result = Lanes::eachOf(rows);
  result.countsRows = true;
  result.segments = x.segments;
  return bind(node.output(0), result);
}

/// Evaluates the nodes that append one item: SequenceInsert at the end of a sequence, and
/// Concat of a list and a number.
LogicalResult LoopLanes::evaluateAppend(const Node &node, ArrayRef<Lanes> operands) {
  if (operands.size() != 2 || operands[0].kind != Kind::appended || operands[0].tensor)
    return failure();
  Value item = materialize(operands[1]);
  if (!item || (node.is("Concat") && (!flat(operands[1]) || rankOf(item) != 2)))
    return failure();
  return bind(node.output(0), {Kind::appended, item});
}

LogicalResult LoopLanes::evaluateNode(const Node &node) {
  if (node.is("If"))
    return evaluateIf(node);
  if (node.is("Loop") && !outer)
    return evaluateInnerLoop(node);
  if (node.outputs.size() != 1 || node.output(0) == kNoValue || !node.subgraphs.empty())
    return failure();
  SmallVector<Lanes> operands;
  for (ValueId id : node.inputs)
    operands.push_back(lookup(id));
  bool isUnknown = false, isSame = true;
  for (auto [id, operand] : llvm::zip_equal(node.inputs, operands)) {
    isUnknown |= id != kNoValue && operand.kind == Kind::other;
    isSame &= id == kNoValue || operand.kind == Kind::same;
  }
  if (node.is("SequenceInsert") || (node.is("Concat") && !isSame && !isUnknown))
    return evaluateAppend(node, operands);
  if (!isPure(node) && !StringRef(node.opType).starts_with("Reduce"))
    return failure();
  if (isUnknown)
    return bind(node.output(0), {});
  if (isSame)
    return evaluateSame(node, operands);
  if (node.is("CastLike"))
    return evaluateCastLike(node, operands);
  if (node.is("Div"))
    return evaluateDiv(node, operands);
  if (isElementwise(node.opType))
    return evaluateElementwise(node, operands);
  using Evaluate = LogicalResult (LoopLanes::*)(const Node &, ArrayRef<Lanes>);
  Evaluate evaluate = llvm::StringSwitch<Evaluate>(node.opType)
                          .Cases("Reshape", "Squeeze", "Unsqueeze", &LoopLanes::evaluateReshape)
                          .Case("Gather", &LoopLanes::evaluateGather)
                          .Case("Slice", &LoopLanes::evaluateSlice)
                          .Case("Size", &LoopLanes::evaluateSize)
                          .Cases("ReduceSum", "ReduceMean", "ReduceMax", &LoopLanes::evaluateReduce)
                          .Default(nullptr);
  return evaluate ? (this->*evaluate)(node, operands) : failure();
}

LogicalResult LoopLanes::evaluate(ArrayRef<Node> nodes) {
  for (const Node &node : nodes) {
    for (ValueId id : node.outputs)
      if (id != kNoValue)
        makers[id] = &node;
    if (failed(evaluateNode(node)))
      return failure();
  }
  return success();
}
