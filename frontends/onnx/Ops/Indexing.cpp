// Imports ONNX gather, scatter and top-k.

#include "frontends/onnx/Ops/Indexing.h"

#include "frontends/onnx/Import/Constants.h"
#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Model/ExporterMetadata.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

Value dpc::onnx::wrapIndices(Conversion &c, unsigned operand, int64_t extent) {
  Value indices = c.operand(operand);
  if (auto known = c.tryInts(operand)) {
    bool negative = false;
    for (int64_t index : *known) {
      if (index < -extent || index >= extent) {
        (void)c.error("index " + Twine(index) + " is out of range for extent " + Twine(extent));
        return {};
      }
      negative |= index < 0;
    }
    if (!negative)
      return indices;
  }
  Value wrapped = c.e.add(indices, double(extent));
  return c.e.select(c.e.compare(nn::Comparison::lt, indices, 0.0), wrapped, indices);
}

namespace {

/// The rows of `table` at known indices, as a slice of the table. The indices must form
/// an ascending arithmetic sequence, which may be repeated (e.g. one index, or the same
/// positions for every sample). Null for other indices, or if an index is out of range.
Value gatherInSteps(Conversion &c, Value table, int64_t axis, HostTensor indices) {
  int64_t extent = shapeOf(table)[axis], count = indices.size();
  for (int64_t &index : indices.ints) {
    if (index < -extent || index >= extent)
      return {};
    index += index < 0 ? extent : 0;
  }
  SmallVector<int64_t> kept;
  HostTensor rows = dropConstantDimensions(indices, kept);
  int64_t step = rows.size() > 1 ? rows.ints[1] - rows.ints[0] : 1;
  if (count == 0 || step < 1)
    return {};
  for (int64_t i = 1; i < rows.size(); ++i)
    if (rows.ints[i] - rows.ints[i - 1] != step)
      return {};
  SmallVector<int64_t> starts(rankOf(table), 0), limits(shapeOf(table)), strides(rankOf(table), 1);
  starts[axis] = rows.ints.front();
  limits[axis] = rows.ints.back() + 1;
  strides[axis] = step;
  Value part = table;
  if (step != 1 || starts[axis] != 0 || limits[axis] != extent)
    part = c.e.make<nn::SliceOp>(table, starts, limits, strides);
  // Reshape the slice to [before, rows, after], then broadcast to [before, indices,
  // after].
  int64_t shift = rankOf(table) ? int64_t(indices.getShape().size()) - 1 : 0;
  SmallVector<int64_t> narrow, wide, dimensions;
  for (int64_t d = 0; d < rankOf(table); ++d) {
    if (d == axis) {
      for (int64_t each : kept) {
        narrow.push_back(indices.getShape()[each]);
        dimensions.push_back(axis + each);
      }
      llvm::append_range(wide, indices.getShape());
      continue;
    }
    narrow.push_back(shapeOf(table)[d]);
    wide.push_back(shapeOf(table)[d]);
    dimensions.push_back(d < axis ? d : d + shift);
  }
  return c.e.broadcast(c.e.reshape(part, narrow), wide, dimensions);
}

/// `rows`, which were gathered from a table of `extent` rows, with another gradient. The
/// gradient of each index is divided by the number of indices that read the same row.
Value divideByCounts(Conversion &c, Value rows, Value indices, int64_t extent) {
  Type element = cast<RankedTensorType>(rows.getType()).getElementType();
  Value ones = c.e.splat(RankedTensorType::get(shapeOf(indices), element), 1);
  Value counts = c.e.make<nn::ScatterAddOp>(RankedTensorType::get({extent}, element), ones, indices,
                                            uint64_t(0));
  Value shares = c.e.div(ones, c.e.make<nn::GatherOp>(counts, indices, int64_t(0)));
  SmallVector<int64_t> dimensions = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(indices)));
  Value scaled = c.e.mul(rows, c.e.broadcast(shares, shapeOf(rows), dimensions));
  // The difference is 0, but its gradient is that of `scaled`.
  Value difference = c.e.sub(scaled, c.e.make<nn::StopGradientOp>(scaled));
  return c.e.add(c.e.make<nn::StopGradientOp>(rows), difference);
}

LogicalResult convertGather(Conversion &c) {
  Value table = c.operand(0);
  if (rankOf(table) == 0)
    return c.error("input has rank 0 but must have 1 or more");
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(table));
  if (c.failed)
    return failure();
  // The row of the table that gets no gradient. PyTorch's lookups have axis 0.
  int64_t row = 0;
  bool isPadded =
      axis == 0 && !c.node.metadata(kPaddingRow).getAsInteger(10, row) && row < shapeOf(table)[0];
  const bool isScaled = axis == 0 && !c.node.metadata(kScaledByCounts).empty();
  std::optional<HostTensor> known = evaluate(c.operand(1));
  if (known && !isScaled && !(isPadded && llvm::is_contained(known->ints, row)))
    if (Value slice = gatherInSteps(c, table, axis, std::move(*known)))
      return c.done(slice);
  Value indices = wrapIndices(c, 1, shapeOf(table)[axis]);
  if (!indices)
    return failure();
  Value rows = c.e.make<nn::GatherOp>(table, indices, static_cast<uint64_t>(axis),
                                      isPadded ? c.builder.getI64IntegerAttr(row) : IntegerAttr());
  return c.done(isScaled ? divideByCounts(c, rows, indices, shapeOf(table)[0]) : rows);
}

/// Checks that `indices` has the rank of `input` and no larger extent except along
/// `axis`.
LogicalResult checkElementIndices(Conversion &c, Value input, Value indices, int64_t axis) {
  bool fits = rankOf(input) == rankOf(indices);
  for (int64_t i = 0; fits && i < rankOf(input); ++i)
    fits = i == axis || shapeOf(indices)[i] <= shapeOf(input)[i];
  if (fits)
    return success();
  return c.error("indices " + printed(shapeOf(indices)) + " do not fit input " +
                 printed(shapeOf(input)) + " along axis " + Twine(axis));
}

LogicalResult convertGatherElements(Conversion &c) {
  Value input = c.operand(0);
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(input));
  if (c.failed || failed(checkElementIndices(c, input, c.operand(1), axis)))
    return failure();
  Value indices = wrapIndices(c, 1, shapeOf(input)[axis]);
  if (!indices)
    return failure();
  return c.done(c.e.make<nn::GatherElementsOp>(input, indices, axis));
}

std::optional<nn::ScatterKind> scatterKind(Conversion &c) {
  std::string name = c.stringAttr("reduction", "none");
  if (auto kind = nn::symbolizeScatterKind(name))
    return kind;
  (void)c.error("reduction '" + name + "' is not supported");
  return std::nullopt;
}

LogicalResult convertScatterElements(Conversion &c) {
  Value input = c.operand(0), updates = c.operand(2);
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(input));
  auto kind = scatterKind(c);
  if (c.failed || !kind || failed(checkElementIndices(c, input, c.operand(1), axis)))
    return failure();
  if (shapeOf(updates) != shapeOf(c.operand(1)))
    return c.error("updates " + printed(shapeOf(updates)) + " do not match indices " +
                   printed(shapeOf(c.operand(1))));
  Value indices = wrapIndices(c, 1, shapeOf(input)[axis]);
  if (!indices)
    return failure();
  return c.done(
      c.e.make<nn::ScatterElementsOp>(input.getType(), *kind, input, indices, updates, axis));
}

/// The index tuples `indices` without negative elements, which would count from the end.
/// Element k of a tuple is wrapped by the extent of the dimension that it indexes.
Value wrapTuples(Conversion &c, Value input, Value indices, int64_t batchDims) {
  int64_t length = rankOf(indices) ? shapeOf(indices).back() : 0;
  if (rankOf(indices) <= batchDims || rankOf(input) < batchDims ||
      length > rankOf(input) - batchDims ||
      shapeOf(input).take_front(batchDims) != shapeOf(indices).take_front(batchDims)) {
    (void)c.error("indices " + printed(shapeOf(indices)) + " with batch_dims " + Twine(batchDims) +
                  " do not fit input " + printed(shapeOf(input)));
    return {};
  }
  ArrayRef<int64_t> indexed = shapeOf(input).slice(batchDims, length);
  if (auto known = c.tryInts(1)) {
    bool negative = false;
    for (auto [i, index] : llvm::enumerate(*known)) {
      int64_t extent = indexed[i % length];
      if (index < -extent || index >= extent) {
        (void)c.error("index " + Twine(index) + " is out of range for extent " + Twine(extent));
        return {};
      }
      negative |= index < 0;
    }
    if (!negative)
      return indices;
  }
  Value extents =
      c.e.convert(c.intConstant({length}, indexed), nn::typeOf(indices).getElementType());
  Value wide = c.broadcastTo(extents, shapeOf(indices));
  return c.e.select(c.e.compare(nn::Comparison::lt, indices, 0.0), c.e.add(indices, wide), indices);
}

LogicalResult convertGatherND(Conversion &c) {
  Value input = c.operand(0);
  int64_t batchDims = c.intAttr("batch_dims");
  if (c.failed || batchDims < 0)
    return c.failed ? failure() : c.error("batch_dims is " + Twine(batchDims));
  Value indices = wrapTuples(c, input, c.operand(1), batchDims);
  if (!indices)
    return failure();
  return c.done(c.e.make<nn::GatherNDOp>(input, indices, batchDims));
}

LogicalResult convertScatterND(Conversion &c) {
  Value input = c.operand(0), updates = c.operand(2);
  auto kind = scatterKind(c);
  if (!kind)
    return failure();
  Value indices = wrapTuples(c, input, c.operand(1), 0);
  if (!indices)
    return failure();
  SmallVector<int64_t> expected(shapeOf(indices).drop_back());
  llvm::append_range(expected, shapeOf(input).drop_front(shapeOf(indices).back()));
  if (shapeOf(updates) != ArrayRef<int64_t>(expected))
    return c.error("updates " + printed(shapeOf(updates)) + " must have shape " +
                   printed(expected));
  return c.done(
      c.e.make<nn::ScatterNDOp>(input.getType(), *kind, input, indices, updates, int64_t(0)));
}

LogicalResult convertTopK(Conversion &c) {
  Value x = c.operand(0);
  if (rankOf(x) == 0)
    return c.error("input has rank 0 but must have 1 or more");
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(x)), k = c.scalarInt(1, "K");
  bool largest = c.intAttr("largest"), sorted = c.intAttr("sorted");
  if (c.failed)
    return failure();
  if (k < 0 || k > shapeOf(x)[axis])
    return c.error("K is " + Twine(k) + " but dimension " + Twine(axis) + " has extent " +
                   Twine(shapeOf(x)[axis]));
  auto top = c.e.make<nn::TopKOp>(x, axis, k, largest, sorted);
  c.setResult(0, top.getValues());
  c.setResult(1, top.getIndices());
  return success();
}

/// Converts OneHot: an element is values[1] if the index equals its position along the
/// new axis, else values[0].
LogicalResult convertOneHot(Conversion &c) {
  Value indices = c.operand(0), values = c.operand(2);
  if (rankOf(indices) == 0)
    return c.error("indices have rank 0 but must have 1 or more");
  auto depths = c.tryDoubles(1);
  if (!depths || depths->size() != 1)
    return c.error("depth must be a scalar known at compile time");
  int64_t depth = static_cast<int64_t>(depths->front());
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(indices) + 1);
  if (c.failed)
    return failure();
  if (depth <= 0 || shapeOf(values) != ArrayRef<int64_t>{2})
    return c.error("depth is " + Twine(depth) + " and values has shape " +
                   printed(shapeOf(values)) + " but they must be positive and [2]");
  SmallVector<int64_t> shape(shapeOf(indices));
  shape.insert(shape.begin() + axis, depth);
  Type i64 = c.builder.getI64Type();
  Value wide = c.e.convert(indices, i64);
  wide = c.e.select(c.e.compare(nn::Comparison::lt, wide, 0.0), c.e.add(wide, double(depth)), wide);
  Value position = c.e.make<nn::IotaOp>(RankedTensorType::get(shape, i64), axis);
  Value hit = c.e.compare(nn::Comparison::eq, position, c.e.broadcastAlong(wide, shape, {axis}));
  auto pick = [&](int64_t i) {
    Value one = c.e.make<nn::SliceOp>(values, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{i + 1},
                                      ArrayRef<int64_t>{1});
    return c.broadcastTo(one, shape);
  };
  return c.done(c.e.select(hit, pick(1), pick(0)));
}

/// Converts NonZero of known elements. The elements must be known, because the shape of
/// the result depends on them.
LogicalResult convertNonZero(Conversion &c) {
  Value x = c.operand(0);
  std::optional<HostTensor> known = evaluate(x);
  if (!known)
    return c.error("its result has a shape that depends on data, which is not "
                   "supported (input '" +
                   c.graph().values[c.node.inputs[0]].name + "' is computed from data)");
  SmallVector<int64_t> found;
  for (int64_t i = 0, end = known->size(); i < end; ++i)
    if (known->isFloat() ? known->floats[i] != 0 : known->ints[i] != 0)
      found.push_back(i);
  ArrayRef<int64_t> shape = known->getShape();
  SmallVector<int64_t> strides = rowMajorStrides(shape), indices;
  for (size_t d = 0; d < shape.size(); ++d)
    for (int64_t at : found)
      indices.push_back(at / strides[d] % shape[d]);
  return c.done(c.intConstant({int64_t(shape.size()), int64_t(found.size())}, indices));
}

} // namespace

void dpc::onnx::registerIndexingOps(Registry &registry) {
  registry.add("Gather", convertGather);
  registry.add("NonZero", convertNonZero);
  registry.add("GatherElements", convertGatherElements);
  registry.add("GatherND", convertGatherND);
  registry.add("ScatterElements", convertScatterElements);
  registry.add("ScatterND", convertScatterND);
  registry.add("TopK", convertTopK);
  registry.add("OneHot", convertOneHot);
}
