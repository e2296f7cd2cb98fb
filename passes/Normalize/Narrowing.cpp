// Finds a small tensor whose broadcast is a given value.

#include "passes/Normalize/Narrowing.h"

#include "dialects/NN/IR/Expressions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <set>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

static SmallVector<int64_t> dimsBut1(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dims;
  for (auto [d, extent] : llvm::enumerate(shape))
    if (extent != 1)
      dims.push_back(d);
  return dims;
}

/// Returns `value` without its dimensions of extent 1. The search returns this tensor if it finds
/// no smaller one.
static Narrow whole(Expressions e, Value value) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  SmallVector<int64_t> dims = dimsBut1(shape), extents;
  for (int64_t d : dims)
    extents.push_back(shape[d]);
  return {e.reshape(value, extents), dims};
}

Narrow Narrowing::buildElementwise(OpBuilder &builder, Location loc, Operation *op) {
  Expressions e{builder, loc};
  Value value = op->getResult(0);
  SmallVector<Narrow> operands;
  std::set<int64_t> joined;
  for (Value operand : op->getOperands()) {
    operands.push_back(narrow(loc, operand));
    joined.insert(operands.back().dimensions.begin(), operands.back().dimensions.end());
  }
  if (joined.size() == dimsBut1(typeOf(value).getShape()).size())
    return whole(e, value);
  SmallVector<int64_t> dims(joined.begin(), joined.end()), shape;
  for (int64_t d : dims)
    shape.push_back(typeOf(value).getDimSize(d));
  SmallVector<Value> small;
  for (const Narrow &operand : operands) {
    SmallVector<int64_t> places;
    for (int64_t d : operand.dimensions)
      places.push_back(llvm::find(dims, d) - dims.begin());
    small.push_back(e.broadcast(operand.value, shape, places));
  }
  OperationState state(e.loc, op->getName(), small, withShape(typeOf(value), shape),
                       op->getAttrs());
  return {e.builder.create(state)->getResult(0), dims};
}

Narrow Narrowing::narrow(Location loc, Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Narrow result = build(builder, loc, value);
  known[value] = result;
  return result;
}

Narrow Narrowing::build(OpBuilder &builder, Location loc, Value value) {
  Operation *op = value.getDefiningOp();
  Expressions e{builder, loc};
  if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense || !dense.isSplat())
      return whole(e, value);
    auto type = withShape(typeOf(value), {});
    return {e.make<ConstantOp>(type, cast<ElementsAttr>(dense.resizeSplat(type))), {}};
  }
  if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
    int64_t d = iota.getDimension(), extent = typeOf(value).getDimSize(d);
    return {e.make<IotaOp>(withShape(typeOf(value), {extent}), 0), {d}};
  }
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
    Narrow inner = narrow(loc, broadcast.getInput());
    for (int64_t &d : inner.dimensions)
      d = broadcast.getDimensions()[d];
    return inner;
  }
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
    // Only a reshape that adds or removes dimensions of extent 1 can be looked through.
    ArrayRef<int64_t> from = typeOf(reshape.getInput()).getShape(), to = typeOf(value).getShape();
    SmallVector<int64_t> old = dimsBut1(from), now = dimsBut1(to);
    if (llvm::map_to_vector(old, [&](int64_t d) { return from[d]; }) !=
        llvm::map_to_vector(now, [&](int64_t d) { return to[d]; }))
      return whole(e, value);
    Narrow inner = narrow(loc, reshape.getInput());
    for (int64_t &d : inner.dimensions)
      d = now[llvm::find(old, d) - old.begin()];
    return inner;
  }
  if (isa_and_nonnull<ElementwiseOpInterface>(op) && op->getNumOperands() > 0)
    return buildElementwise(builder, loc, op);
  return whole(e, value);
}
