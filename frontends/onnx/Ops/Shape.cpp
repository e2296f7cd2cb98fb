// Imports ONNX operators that rearrange, repeat or drop elements.

#include "frontends/onnx/Import/Registry.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

int64_t product(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

LogicalResult convertReshape(Conversion &c) {
  Value x = c.operand(0);
  ArrayRef<int64_t> from = shapeOf(x);
  SmallVector<int64_t> shape = c.ints(1, "shape");
  bool allowZero = c.intAttr("allowzero");
  if (c.failed)
    return failure();
  SmallVector<int64_t> asked(shape);
  int64_t inferred = -1, known = 1;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == 0 && !allowZero) {
      if (i >= from.size())
        return c.error("shape " + printed(asked) + " copies dimension " + Twine(i) + " of " +
                       printed(from) + ", which does not exist");
      size = from[i];
    }
    if (size == -1) {
      if (inferred >= 0)
        return c.error("shape " + printed(asked) + " has two -1");
      inferred = static_cast<int64_t>(i);
      continue;
    }
    if (size < 0 || llvm::MulOverflow(known, size, known))
      return c.error("shape " + printed(asked) + " has an extent that is negative or too large");
  }
  int64_t elements = product(from);
  if (inferred >= 0) {
    if (known == 0 || elements % known)
      return c.error("shape " + printed(asked) + " cannot hold the " + Twine(elements) +
                     " elements of " + printed(from));
    shape[inferred] = elements / known;
  } else if (known != elements) {
    return c.error("shape " + printed(asked) + " has " + Twine(known) + " elements but the input " +
                   printed(from) + " has " + Twine(elements) + bakedBatchHint);
  }
  return c.done(c.e.reshape(x, shape));
}

LogicalResult convertFlatten(Conversion &c) {
  Value x = c.operand(0);
  int64_t rank = rankOf(x), axis = c.intAttr("axis");
  if (axis < -rank || axis > rank)
    return c.error("axis " + Twine(axis) + " is out of range for rank " + Twine(rank));
  if (axis < 0)
    axis += rank;
  return c.done(
      c.e.reshape(x, {product(shapeOf(x).take_front(axis)), product(shapeOf(x).drop_front(axis))}));
}

LogicalResult convertTranspose(Conversion &c) {
  Value x = c.operand(0);
  int64_t rank = rankOf(x);
  SmallVector<int64_t> permutation = c.intsAttr("perm");
  if (!c.hasAttr("perm"))
    for (int64_t i = rank; i-- > 0;)
      permutation.push_back(i);
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank)))
    return c.error("perm " + printed(permutation) + " is not a permutation of " + Twine(rank) +
                   " dimensions");
  return c.done(c.e.transpose(x, permutation));
}

LogicalResult convertSqueeze(Conversion &c) {
  Value x = c.operand(0);
  auto axes = c.axes(1);
  if (c.failed)
    return failure();
  SmallVector<int64_t> shape, dropped;
  if (axes)
    dropped = c.normalizeAxes(*axes, rankOf(x));
  for (auto [i, size] : llvm::enumerate(shapeOf(x))) {
    bool drop = axes ? llvm::is_contained(dropped, int64_t(i)) : size == 1;
    if (drop && size != 1)
      return c.error("dimension " + Twine(i) + " has extent " + Twine(size) + " but must have 1");
    if (!drop)
      shape.push_back(size);
  }
  return c.done(c.e.reshape(x, shape));
}

LogicalResult convertUnsqueeze(Conversion &c) {
  Value x = c.operand(0);
  SmallVector<int64_t> axes = c.ints(1, "axes");
  if (c.failed)
    return failure();
  int64_t rank = rankOf(x) + static_cast<int64_t>(axes.size());
  SmallVector<int64_t> sorted = c.normalizeAxes(axes, rank), shape(shapeOf(x));
  if (c.failed)
    return failure();
  for (int64_t axis : sorted)
    shape.insert(shape.begin() + axis, 1);
  return c.done(c.e.reshape(x, shape));
}

LogicalResult convertConcat(Conversion &c) {
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < c.numOperands(); ++i)
    inputs.push_back(c.operand(i));
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(inputs[0]));
  if (c.failed)
    return failure();
  for (Value input : inputs) {
    bool fits = rankOf(input) == rankOf(inputs[0]);
    for (int64_t i = 0; fits && i < rankOf(input); ++i)
      fits = i == axis || shapeOf(input)[i] == shapeOf(inputs[0])[i];
    if (!fits)
      return c.error("shapes " + printed(shapeOf(inputs[0])) + " and " + printed(shapeOf(input)) +
                     " cannot be joined along dimension " + Twine(axis));
  }
  // Operands without elements contribute nothing to the result, so they are left out.
  SmallVector<Value> parts;
  for (Value input : inputs)
    if (shapeOf(input)[axis] != 0)
      parts.push_back(input);
  if (parts.size() <= 1)
    return c.done(parts.empty() ? inputs[0] : parts[0]);
  return c.done(c.e.make<nn::ConcatOp>(parts, axis));
}

LogicalResult convertSplit(Conversion &c) {
  Value x = c.operand(0);
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(x));
  if (c.failed)
    return failure();
  int64_t extent = shapeOf(x)[axis], count = static_cast<int64_t>(c.node.outputs.size());
  SmallVector<int64_t> sizes;
  if (c.has(1)) {
    sizes = c.ints(1, "split");
    if (c.failed)
      return failure();
  } else {
    int64_t parts = c.intAttr("num_outputs", count);
    if (parts != count)
      return c.error("num_outputs is " + Twine(parts) + " but the node has " + Twine(count) +
                     " outputs");
    int64_t chunk = (extent + count - 1) / count;
    for (int64_t i = 0, left = extent; i < count; ++i, left -= sizes.back())
      sizes.push_back(std::clamp<int64_t>(left, 0, chunk));
  }
  int64_t total = 0;
  for (int64_t size : sizes)
    total += size;
  if (int64_t(sizes.size()) != count || total != extent ||
      llvm::any_of(sizes, [](int64_t s) { return s < 0; }))
    return c.error("split " + printed(sizes) + " does not cut extent " + Twine(extent) + " into " +
                   Twine(count) + " parts");
  int64_t start = 0;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (c.wantsResult(unsigned(i)))
      c.setResult(unsigned(i), c.sliceAlong(x, axis, start, start + size));
    start += size;
  }
  return success();
}

LogicalResult convertSlice(Conversion &c) {
  Value x = c.operand(0);
  ArrayRef<int64_t> shape = shapeOf(x);
  SmallVector<int64_t> starts = c.ints(1, "starts"), ends, axes, steps(starts.size(), 1);
  if (c.failed)
    return failure();
  ends = c.ints(2, "ends");
  if (c.has(3))
    axes = c.ints(3, "axes");
  else
    axes = range(0, starts.size());
  if (c.has(4))
    steps = c.ints(4, "steps");
  if (c.failed)
    return failure();
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size())
    return c.error("starts, ends, axes and steps have " + Twine(starts.size()) + ", " +
                   Twine(ends.size()) + ", " + Twine(axes.size()) + " and " + Twine(steps.size()) +
                   " elements");
  SmallVector<int64_t> low(shape.size(), 0), high(shape), stride(shape.size(), 1), reversed, seen;
  for (auto [start, end, given, step] : llvm::zip(starts, ends, axes, steps)) {
    int64_t axis = c.normalizeAxis(given, static_cast<int64_t>(shape.size()));
    if (c.failed)
      return failure();
    if (llvm::is_contained(seen, axis))
      return c.error("axis " + Twine(axis) + " is given twice");
    seen.push_back(axis);
    if (step == 0 || step == std::numeric_limits<int64_t>::min())
      return c.error("step " + Twine(step) + " along axis " + Twine(axis) + " is not possible");
    int64_t extent = shape[axis];
    auto fromEnd = [&](int64_t v) { return v < 0 ? (v < -extent ? int64_t(-1) : v + extent) : v; };
    if (step > 0) {
      low[axis] = std::clamp<int64_t>(start < -extent ? 0 : fromEnd(start), 0, extent);
      high[axis] = std::clamp<int64_t>(end < -extent ? 0 : fromEnd(end), low[axis], extent);
      stride[axis] = step;
      continue;
    }
    // A negative step reads from `first` down to `last`, without `last` itself. The
    // same elements are sliced forwards, then reversed.
    int64_t first = std::clamp<int64_t>(fromEnd(start), -1, extent - 1);
    int64_t last = std::clamp<int64_t>(fromEnd(end), -1, extent - 1);
    int64_t count = first > last ? (first - last + (-step) - 1) / (-step) : 0;
    low[axis] = count ? first + (count - 1) * step : 0;
    high[axis] = count ? first + 1 : 0;
    stride[axis] = -step;
    reversed.push_back(axis);
  }
  for (auto [l, h, s] : llvm::zip(low, high, stride))
    s = std::max<int64_t>(1, std::min(s, std::max<int64_t>(h - l, 1)));
  if (!llvm::all_of(low, [](int64_t v) { return v == 0; }) || ArrayRef<int64_t>(high) != shape ||
      !llvm::all_of(stride, [](int64_t v) { return v == 1; }))
    x = c.e.make<nn::SliceOp>(x, low, high, stride);
  llvm::sort(reversed);
  if (!reversed.empty())
    x = c.e.make<nn::ReverseOp>(x.getType(), x, reversed);
  return c.done(x);
}

LogicalResult convertExpand(Conversion &c) {
  Value x = c.operand(0);
  SmallVector<int64_t> shape = c.ints(1, "shape");
  if (c.failed)
    return failure();
  // Expand broadcasts both ways: if an extent of `shape` is 1, the result keeps the
  // extent of the input.
  ArrayRef<int64_t> from = shapeOf(x);
  SmallVector<int64_t> asked(shape);
  if (shape.size() < from.size())
    shape.insert(shape.begin(), from.size() - shape.size(), 1);
  int64_t elements = 1;
  for (auto [i, size] : llvm::enumerate(shape)) {
    int64_t at = int64_t(i) - int64_t(shape.size() - from.size());
    if (at >= 0 && size == 1)
      size = from[at];
    if (size < 0 || llvm::MulOverflow(elements, size, elements))
      return c.error("shape " + printed(asked) + " has an extent that is negative or too large");
  }
  Value result = c.broadcastTo(x, shape);
  return result ? c.done(result) : failure();
}

/// Converts Tile. To tile [a, b] by [m, n], the tensor is broadcast to [m, a, n, b] and
/// reshaped to [m * a, n * b].
LogicalResult convertTile(Conversion &c) {
  Value x = c.operand(0);
  SmallVector<int64_t> repeats = c.ints(1, "repeats");
  if (c.failed)
    return failure();
  ArrayRef<int64_t> from = shapeOf(x);
  if (repeats.size() != from.size())
    return c.error("repeats " + printed(repeats) + " do not match shape " + printed(from));
  SmallVector<int64_t> wide, dimensions, shape;
  int64_t elements = 1;
  for (auto [size, times] : llvm::zip(from, repeats)) {
    if (times < 0 || llvm::MulOverflow(elements, std::max<int64_t>(size, 1) * times, elements))
      return c.error("repeats " + printed(repeats) + " are negative or too large");
    if (times != 1)
      wide.push_back(times);
    dimensions.push_back(static_cast<int64_t>(wide.size()));
    wide.push_back(size);
    shape.push_back(size * times);
  }
  return c.done(c.e.reshape(c.e.broadcast(x, wide, dimensions), shape));
}

/// Converts Trilu: sets the elements of each matrix on one side of a diagonal to 0.
LogicalResult convertTrilu(Conversion &c) {
  Value x = c.operand(0);
  if (rankOf(x) < 2)
    return c.error("input has rank " + Twine(rankOf(x)) + " but must have 2 or more");
  auto index = RankedTensorType::get(shapeOf(x), c.builder.getI64Type());
  bool upper = c.intAttr("upper");
  Value k;
  if (c.has(1) && !c.tryInts(1)) {
    k = c.operand(1); // known only at run time, so the program compares with it
    if (nn::typeOf(k).getNumElements() != 1)
      return c.error("k has shape " + printed(shapeOf(k)) + " but must be a scalar");
    k = c.e.broadcastScalar(c.e.reshape(k, {}), shapeOf(x));
  } else {
    k = c.e.splat(index, c.has(1) ? double(c.scalarInt(1, "k")) : 0.0);
  }
  if (c.failed)
    return failure();
  Value row = c.e.make<nn::IotaOp>(index, rankOf(x) - 2),
        column = c.e.make<nn::IotaOp>(index, rankOf(x) - 1);
  Value diagonal = c.e.add(row, k);
  Value keep = c.e.compare(upper ? nn::Comparison::ge : nn::Comparison::le, column, diagonal);
  return c.done(c.e.select(keep, x, c.e.splatLike(x, 0)));
}

LogicalResult convertDepthToSpace(Conversion &c) {
  Value x = c.operand(0);
  int64_t block = c.intAttr("blocksize");
  bool depthToSpace = c.node.opType == "DepthToSpace";
  std::string mode = c.stringAttr("mode");
  if (c.failed)
    return failure();
  if (rankOf(x) != 4 || block <= 0 || block > (1 << 16))
    return c.error("input " + printed(shapeOf(x)) + " must have rank 4 and blocksize " +
                   Twine(block) + " must be positive");
  int64_t n = shapeOf(x)[0], ch = shapeOf(x)[1], h = shapeOf(x)[2], w = shapeOf(x)[3], b = block;
  if (depthToSpace) {
    if (ch % (b * b))
      return c.error(Twine(ch) + " channels cannot be divided by the square of blocksize " +
                     Twine(b));
    int64_t out = ch / (b * b);
    Value moved = mode == "CRD"
                      ? c.e.transpose(c.e.reshape(x, {n, out, b, b, h, w}), {0, 1, 4, 2, 5, 3})
                      : c.e.transpose(c.e.reshape(x, {n, b, b, out, h, w}), {0, 3, 4, 1, 5, 2});
    return c.done(c.e.reshape(moved, {n, out, h * b, w * b}));
  }
  if (h % b || w % b)
    return c.error("extents of " + printed(shapeOf(x)) + " cannot be divided by blocksize " +
                   Twine(b));
  Value moved = c.e.transpose(c.e.reshape(x, {n, ch, h / b, b, w / b, b}), {0, 3, 5, 1, 2, 4});
  return c.done(c.e.reshape(moved, {n, ch * b * b, h / b, w / b}));
}

} // namespace

void dpc::onnx::registerShapeOps(Registry &registry) {
  registry.add("Reshape", convertReshape);
  registry.add("Flatten", convertFlatten);
  registry.add("Transpose", convertTranspose);
  registry.add("Squeeze", convertSqueeze);
  registry.add("Unsqueeze", convertUnsqueeze);
  registry.add("Concat", convertConcat);
  registry.add("Split", convertSplit);
  registry.add("Slice", convertSlice);
  registry.add("Expand", convertExpand);
  registry.add("Tile", convertTile);
  registry.add("Trilu", convertTrilu);
  registry.add("DepthToSpace", convertDepthToSpace);
  registry.add("SpaceToDepth", convertDepthToSpace);
}
