// Slices the last dimension of a value. Moves the slice through the ops that compute the value.

#include "passes/Normalize/LastDimension.h"

#include "dialects/NN/IR/Expressions.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

namespace {

class LastSlicer {
public:
  LastSlicer(OpBuilder &builder, Location loc) : e{builder, loc} {}

  Value slice(Value value, int64_t low, int64_t high) {
    if (high - low == typeOf(value).getShape().back())
      return value;
    // Slice each value once, because a value may have several uses, e.g. x in x < 0 ? x + n : x.
    Value &part = done[{value.getAsOpaquePointer(), low, high}];
    if (!part)
      part = sliceOp(value, low, high);
    return part;
  }

private:
  Value sliceOp(Value value, int64_t low, int64_t high) {
    RankedTensorType type = typeOf(value);
    int64_t last = type.getRank() - 1;
    SmallVector<int64_t> shape(type.getShape());
    shape[last] = high - low;
    Operation *op = value.getDefiningOp();
    if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
      Value input = broadcast.getInput();
      ArrayRef<int64_t> dims = broadcast.getDimensions();
      if (!dims.empty() && dims.back() == last)
        input = slice(input, low, high);
      return e.broadcast(input, shape, dims);
    }
    if (auto concat = dyn_cast_or_null<ConcatOp>(op))
      return sliceConcat(concat, low, high);
    if (isa_and_nonnull<ElementwiseOpInterface>(op) && op->getNumOperands()) {
      auto parts =
          llvm::map_to_vector(op->getOperands(), [&](Value v) { return slice(v, low, high); });
      OperationState state(e.loc, op->getName(), parts, withShape(type, shape), op->getAttrs());
      return e.builder.create(state)->getResult(0);
    }
    if (auto constant = dyn_cast_or_null<ConstantOp>(op))
      if (auto held = HostTensor::fromAttr(constant.getValue()))
        return sliceConstant(*held, shape, low);
    SmallVector<int64_t> starts(shape.size(), 0), strides(shape.size(), 1);
    starts[last] = low;
    shape[last] = high;
    return e.make<SliceOp>(value, starts, shape, strides);
  }

  /// Returns the slice of a constant as a new constant. An nn.slice of the constant would not do,
  /// because passes recognize a constant by the op that defines it.
  Value sliceConstant(const HostTensor &whole, ArrayRef<int64_t> shape, int64_t low) {
    HostTensor part(withShape(whole.getType(), shape));
    int64_t length = shape.back(), all = whole.getShape().back();
    auto copyRows = [&](const auto &from, auto &to) {
      for (size_t i = 0; i < to.size(); ++i)
        to[i] = from[int64_t(i) / length * all + low + int64_t(i) % length];
    };
    copyRows(whole.floats, part.floats);
    copyRows(whole.ints, part.ints);
    return e.make<ConstantOp>(part.getType(), cast<ElementsAttr>(part.toAttr()));
  }

  Value sliceConcat(ConcatOp concat, int64_t low, int64_t high) {
    SmallVector<Value> parts;
    bool isAlong = concat.getDimension() == uint64_t(typeOf(concat).getRank() - 1);
    int64_t start = 0;
    for (Value input : concat.getInputs()) {
      int64_t extent = typeOf(input).getShape().back();
      int64_t from = std::max(low - start, int64_t(0)), to = std::min(high - start, extent);
      if (from < to)
        parts.push_back(slice(input, from, to));
      if (isAlong)
        start += extent;
    }
    if (parts.size() == 1)
      return parts[0];
    return e.make<ConcatOp>(parts, concat.getDimension());
  }

  Expressions e;
  std::map<std::tuple<const void *, int64_t, int64_t>, Value> done;
};

} // namespace

Value dpc::sliceLast(OpBuilder &builder, Location loc, Value value, int64_t low, int64_t high) {
  return LastSlicer(builder, loc).slice(value, low, high);
}
