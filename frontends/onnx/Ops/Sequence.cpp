// Imports ONNX sequences of known length.
//
// Sequences occur because PyTorch's default exporter with optimize=False writes split and
// chunk as SplitToSequence and SequenceAt.

#include "frontends/onnx/Import/Registry.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

LogicalResult convertSplitToSequence(Conversion &c) {
  Value x = c.operand(0);
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(x));
  bool keep = c.intAttr("keepdims") || c.has(1);
  if (c.failed)
    return failure();
  int64_t extent = shapeOf(x)[axis];
  SmallVector<int64_t> sizes;
  if (!c.has(1)) {
    sizes.assign(extent, 1);
  } else {
    SmallVector<int64_t> split = c.ints(1, "split");
    if (c.failed)
      return failure();
    if (rankOf(c.operand(1)) == 0) {
      if (split.front() <= 0)
        return c.error("split " + Twine(split.front()) + " must be positive");
      for (int64_t left = extent; left > 0; left -= split.front())
        sizes.push_back(std::min(left, split.front()));
    } else {
      sizes = split;
    }
  }
  int64_t total = 0;
  for (int64_t size : sizes)
    total += size;
  if (total != extent || llvm::any_of(sizes, [](int64_t size) { return size < 0; }))
    return c.error("split " + printed(sizes) + " does not cut extent " + Twine(extent));
  SmallVector<Value> parts;
  int64_t start = 0;
  for (int64_t size : sizes) {
    Value part = c.sliceAlong(x, axis, start, start + size);
    start += size;
    if (!keep) {
      SmallVector<int64_t> shape(shapeOf(part));
      shape.erase(shape.begin() + axis);
      part = c.e.reshape(part, shape);
    }
    parts.push_back(part);
  }
  return c.doneSequence(std::move(parts));
}

LogicalResult convertSequenceConstruct(Conversion &c) {
  SmallVector<Value> elements;
  for (unsigned i = 0; i < c.numOperands(); ++i)
    elements.push_back(c.operand(i));
  return c.doneSequence(std::move(elements));
}

LogicalResult convertSequenceEmpty(Conversion &c) { return c.doneSequence({}); }

/// The position that operand `i` gives in a sequence of `length` elements, counted from
/// the front; `fallback` if the operand is omitted.
int64_t readPosition(Conversion &c, unsigned i, int64_t length, int64_t fallback) {
  if (!c.has(i))
    return fallback;
  int64_t position = c.scalarInt(i, "position");
  int64_t last = c.node.opType == "SequenceInsert" ? length : length - 1;
  if (!c.failed && (position < -length || position > last))
    (void)c.error("position " + Twine(position) + " is out of range for a sequence of " +
                  Twine(length));
  return position < 0 ? position + length : position;
}

LogicalResult convertSequenceInsert(Conversion &c) {
  const SmallVector<Value> *given = c.sequence(0);
  if (!given)
    return failure();
  int64_t length = static_cast<int64_t>(given->size()), at = readPosition(c, 2, length, length);
  if (c.failed)
    return failure();
  Value tensor = c.operand(1);
  if (!given->empty() &&
      nn::typeOf(given->front()).getElementType() != nn::typeOf(tensor).getElementType())
    return c.error("the tensor has another element type than the sequence");
  SmallVector<Value> elements(*given);
  elements.insert(elements.begin() + at, tensor);
  return c.doneSequence(std::move(elements));
}

LogicalResult convertSequenceErase(Conversion &c) {
  const SmallVector<Value> *given = c.sequence(0);
  if (!given)
    return failure();
  int64_t length = static_cast<int64_t>(given->size()), at = readPosition(c, 1, length, length - 1);
  if (!c.failed && length == 0)
    return c.error("the sequence is empty");
  if (c.failed)
    return failure();
  SmallVector<Value> elements(*given);
  elements.erase(elements.begin() + at);
  return c.doneSequence(std::move(elements));
}

LogicalResult convertSequenceAt(Conversion &c) {
  const SmallVector<Value> *elements = c.sequence(0);
  if (!elements)
    return failure();
  int64_t at = readPosition(c, 1, static_cast<int64_t>(elements->size()), 0);
  return c.failed ? failure() : c.done((*elements)[at]);
}

LogicalResult convertSequenceLength(Conversion &c) {
  const SmallVector<Value> *elements = c.sequence(0);
  return elements ? c.done(c.intConstant({}, {int64_t(elements->size())})) : failure();
}

/// The tensor whose slices of one index along `axis` are exactly `parts`, in this
/// order; null if there is none.
Value joinSlices(ArrayRef<Value> parts, int64_t axis) {
  Value whole;
  for (auto [i, part] : llvm::enumerate(parts)) {
    auto slice = part.getDefiningOp<nn::SliceOp>();
    if (!slice || (whole && slice.getInput() != whole))
      return {};
    whole = slice.getInput();
    if (slice.getStarts()[axis] != int64_t(i) || slice.getLimits()[axis] != int64_t(i) + 1)
      return {};
  }
  SmallVector<int64_t> shape(shapeOf(parts[0]));
  shape[axis] = int64_t(parts.size());
  return shapeOf(whole) == ArrayRef(shape) ? whole : Value();
}

LogicalResult convertConcatFromSequence(Conversion &c) {
  const SmallVector<Value> *elements = c.sequence(0);
  if (!elements)
    return failure();
  bool stack = c.intAttr("new_axis");
  if (elements->empty())
    return c.error("the sequence is empty");
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(elements->front()) + stack);
  if (c.failed)
    return failure();
  SmallVector<Value> parts;
  for (Value element : *elements) {
    SmallVector<int64_t> shape(shapeOf(element)), first(shapeOf(elements->front()));
    if (!stack && axis < int64_t(shape.size()) && shape.size() == first.size())
      first[axis] = shape[axis];
    if (shape != first)
      return c.error("shapes " + printed(shapeOf(elements->front())) + " and " + printed(shape) +
                     " cannot be joined along dimension " + Twine(axis));
    if (stack)
      shape.insert(shape.begin() + axis, 1);
    parts.push_back(c.e.reshape(element, shape));
  }
  if (parts.size() == 1)
    return c.done(parts[0]);
  Value whole = joinSlices(parts, axis);
  return c.done(whole ? whole : Value(c.e.make<nn::ConcatOp>(parts, axis)));
}

} // namespace

void dpc::onnx::registerSequenceOps(Registry &registry) {
  registry.add("SplitToSequence", convertSplitToSequence);
  registry.add("SequenceConstruct", convertSequenceConstruct);
  registry.add("SequenceEmpty", convertSequenceEmpty);
  registry.add("SequenceInsert", convertSequenceInsert);
  registry.add("SequenceErase", convertSequenceErase);
  registry.add("SequenceAt", convertSequenceAt);
  registry.add("SequenceLength", convertSequenceLength);
  registry.add("ConcatFromSequence", convertConcatFromSequence);
}
