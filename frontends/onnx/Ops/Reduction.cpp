// Imports ONNX reductions.

#include "frontends/onnx/Ops/Reduction.h"

#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Ops/Indexing.h"
#include "frontends/onnx/Ops/Kinks.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

Value dpc::onnx::rootOfPowers(Conversion &c, Value sum, function_ref<Value(Value)> root) {
  Value isZero = c.e.compare(nn::Comparison::eq, sum, 0.0);
  Value safe = c.e.select(isZero, c.e.splatLike(sum, 1), sum);
  return c.e.select(isZero, c.e.splatLike(sum, 0), root(safe));
}

Value dpc::onnx::rootOfSquares(Conversion &c, Value sum) {
  return rootOfPowers(c, sum, [&](Value safe) { return c.e.sqrt(safe); });
}

namespace {

/// The axes of a Reduce* operator, and the shape and type of its result.
struct Reduction {
  Value input;
  Type elementType;
  SmallVector<int64_t> dimensions;
  SmallVector<int64_t> resultShape;
  int64_t count = 1;
};

/// Reads the node's axes and input; nullopt after an error. `dimensions` is empty if the
/// operator reduces no dimension.
std::optional<Reduction> readReduction(Conversion &c) {
  Reduction reduction;
  reduction.input = c.operand(0);
  reduction.elementType = nn::typeOf(reduction.input).getElementType();
  ArrayRef<int64_t> shape = shapeOf(reduction.input);
  std::optional<SmallVector<int64_t>> axes = c.axes(1);
  bool keep = c.intAttr("keepdims");
  if (!axes || axes->empty()) {
    if (!c.intAttr("noop_with_empty_axes"))
      reduction.dimensions = range(0, shape.size());
  } else {
    reduction.dimensions = c.normalizeAxes(*axes, static_cast<int64_t>(shape.size()));
  }
  if (c.failed)
    return std::nullopt;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(reduction.dimensions, int64_t(i))) {
      reduction.resultShape.push_back(size);
    } else {
      reduction.count *= size;
      if (keep)
        reduction.resultShape.push_back(1);
    }
  }
  return reduction;
}

LogicalResult finish(Conversion &c, const Reduction &reduction, Value reduced) {
  return c.done(c.e.reshape(c.e.convert(reduced, reduction.elementType), reduction.resultShape));
}

/// The input of a reduction that takes a root or a logarithm. Integers are converted to
/// F64; the result of the reduction is later truncated to an integer.
Value asFloat(Conversion &c, const Reduction &reduction) {
  return isa<FloatType>(reduction.elementType)
             ? reduction.input
             : c.e.convert(reduction.input, c.builder.getF64Type());
}

template <nn::ReduceKind kind> LogicalResult convertReduce(Conversion &c) {
  auto reduction = readReduction(c);
  if (!reduction)
    return failure();
  bool first = kind == nn::ReduceKind::max || kind == nn::ReduceKind::min
                   ? choosesFirst(c, reduction->dimensions)
                   : false;
  return finish(c, *reduction, c.e.reduce(kind, reduction->input, reduction->dimensions, first));
}

LogicalResult convertReduceMean(Conversion &c) {
  auto reduction = readReduction(c);
  if (!reduction)
    return failure();
  Value sum = c.e.sum(reduction->input, reduction->dimensions);
  Value count = c.e.splatLike(sum, double(reduction->count));
  return finish(c, *reduction, reduction->dimensions.empty() ? sum : c.e.div(sum, count));
}

LogicalResult convertReduceL1(Conversion &c) {
  auto reduction = readReduction(c);
  if (!reduction)
    return failure();
  return finish(c, *reduction,
                c.e.sum(c.e.make<nn::AbsOp>(reduction->input), reduction->dimensions));
}

LogicalResult convertReduceSumSquare(Conversion &c) {
  auto reduction = readReduction(c);
  if (!reduction)
    return failure();
  bool root = c.node.opType == "ReduceL2";
  Value x = root ? asFloat(c, *reduction) : reduction->input,
        sum = c.e.sum(c.e.mul(x, x), reduction->dimensions);
  return finish(c, *reduction, root ? rootOfSquares(c, sum) : sum);
}

LogicalResult convertReduceLogSum(Conversion &c) {
  auto reduction = readReduction(c);
  if (!reduction)
    return failure();
  return finish(c, *reduction, c.e.log(c.e.sum(asFloat(c, *reduction), reduction->dimensions)));
}

/// Computes log sum e^x. The largest element is subtracted from all elements first, so
/// that no exponential overflows.
LogicalResult convertReduceLogSumExp(Conversion &c) {
  auto reduction = readReduction(c);
  if (!reduction)
    return failure();
  Value x = asFloat(c, *reduction);
  Value largest = c.e.reduce(nn::ReduceKind::max, x, reduction->dimensions);
  Value shifted = c.e.sub(x, c.e.broadcastAlong(largest, shapeOf(x), reduction->dimensions));
  Value sum = c.e.sum(c.e.exp(shifted), reduction->dimensions);
  return finish(c, *reduction, c.e.add(c.e.log(sum), largest));
}

template <nn::ReduceKind kind> LogicalResult convertArgReduce(Conversion &c) {
  Value x = c.operand(0);
  int64_t axis = c.normalizeAxis(c.intAttr("axis"), rankOf(x));
  bool keep = c.intAttr("keepdims"), last = c.intAttr("select_last_index");
  if (c.failed)
    return failure();
  if (shapeOf(x)[axis] == 0)
    return c.error("dimension " + Twine(axis) + " is empty");
  SmallVector<int64_t> shape(shapeOf(x));
  shape.erase(shape.begin() + axis);
  auto type = RankedTensorType::get(shape, c.builder.getI64Type());
  Value index = c.e.make<nn::ArgReduceOp>(type, kind, x, axis, last);
  if (keep)
    shape.insert(shape.begin() + axis, 1);
  return c.done(c.e.reshape(index, shape));
}

/// Sets the result to `along(axis)` for the axis that operand 1 gives. If the axis is not
/// known at import, the program computes the results along all axes and selects one of
/// them. `along` must give the type of `x`.
LogicalResult cumulate(Conversion &c, Value x,
                       function_ref<Value(int64_t axis, bool exclusive, bool reverse)> along) {
  bool exclusive = c.intAttr("exclusive"), reverse = c.intAttr("reverse");
  std::optional<SmallVector<int64_t>> known = c.tryInts(1);
  int64_t rank = rankOf(x);
  Value operand = c.operand(1);
  if (nn::typeOf(operand).getNumElements() != 1)
    return c.error("axis has shape " + printed(shapeOf(operand)) + " but must be a scalar");
  if (known) {
    int64_t axis = c.normalizeAxis(known->front(), rank);
    return c.failed ? failure() : c.done(along(axis, exclusive, reverse));
  }
  if (c.failed)
    return failure();
  if (rank == 0)
    return c.error("input has rank 0 but must have 1 or more");
  Value axis = wrapIndices(c, 1, rank);
  if (!axis)
    return failure();
  SmallVector<int64_t> one(shapeOf(x));
  one.insert(one.begin(), 1);
  SmallVector<Value> each;
  for (int64_t i = 0; i < rank; ++i)
    each.push_back(c.e.reshape(along(i, exclusive, reverse), one));
  Value all = rank == 1 ? each[0] : Value(c.e.make<nn::ConcatOp>(each, int64_t(0)));
  return c.done(c.e.make<nn::GatherOp>(all, c.e.reshape(axis, {}), int64_t(0)));
}

LogicalResult convertCumSum(Conversion &c) {
  Value x = c.operand(0);
  return cumulate(c, x, [&](int64_t axis, bool exclusive, bool reverse) -> Value {
    return c.e.make<nn::CumSumOp>(x.getType(), x, axis, exclusive, reverse);
  });
}

/// The running product of `x` along `axis`, in a logarithmic number of passes (Hillis and
/// Steele, CACM 29, 1986). After the passes each element is a product of 2, 4, 8, ..
/// neighbours: a pass multiplies the tensor by itself shifted, with ones shifted in.
Value cumulativeProduct(Conversion &c, Value x, int64_t axis, bool exclusive, bool reverse) {
  int64_t extent = shapeOf(x)[axis];
  Value one = c.e.splat(nn::withShape(nn::typeOf(x), {}), 1);
  auto shifted = [&](Value from, int64_t by) -> Value {
    SmallVector<int64_t> low(rankOf(x), 0), high(low), interior(low);
    (reverse ? high : low)[axis] = by;
    Value part =
        reverse ? c.sliceAlong(from, axis, by, extent) : c.sliceAlong(from, axis, 0, extent - by);
    return c.e.make<nn::PadOp>(part, one, low, high, interior);
  };
  Value product = exclusive && extent > 0 ? shifted(x, 1) : x;
  for (int64_t reach = 1; reach < extent; reach *= 2)
    product = c.e.mul(product, shifted(product, reach));
  return product;
}

LogicalResult convertCumProd(Conversion &c) {
  Value x = c.operand(0);
  return cumulate(c, x, [&](int64_t axis, bool exclusive, bool reverse) {
    return cumulativeProduct(c, x, axis, exclusive, reverse);
  });
}

} // namespace

void dpc::onnx::registerReductionOps(Registry &registry) {
  registry.add("ReduceSum", convertReduce<nn::ReduceKind::sum>);
  registry.add("ReduceMax", convertReduce<nn::ReduceKind::max>);
  registry.add("ReduceMin", convertReduce<nn::ReduceKind::min>);
  registry.add("ReduceProd", convertReduce<nn::ReduceKind::prod>);
  registry.add("ReduceMean", convertReduceMean);
  registry.add("ReduceL1", convertReduceL1);
  registry.add("ReduceL2", convertReduceSumSquare);
  registry.add("ReduceSumSquare", convertReduceSumSquare);
  registry.add("ReduceLogSum", convertReduceLogSum);
  registry.add("ReduceLogSumExp", convertReduceLogSumExp);
  registry.add("ArgMax", convertArgReduce<nn::ReduceKind::max>);
  registry.add("ArgMin", convertArgReduce<nn::ReduceKind::min>);
  registry.add("CumSum", convertCumSum);
  registry.add("CumProd", convertCumProd);
}
