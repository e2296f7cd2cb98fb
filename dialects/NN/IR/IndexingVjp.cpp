// Vector-Jacobian products of the ops that read or write at positions from an index
// tensor. The gradient of a gather is a scatter, and the gradient of a scatter is a
// gather.

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Indexing.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define VJP(OP)                                                                                    \
  LogicalResult OP::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,                      \
                             ArrayRef<bool> wanted, MutableArrayRef<Value> grads)

VJP(GatherOp) {
  Expressions e{builder, getLoc()};
  if (!wanted[0])
    return success();
  Value updates = resultGrads[0];
  if (std::optional<uint64_t> padding = getPadding()) {
    Value isPadding =
        e.compare(Comparison::eq, getIndices(), static_cast<double>(int64_t(*padding)));
    const auto first = static_cast<int64_t>(getDimension());
    isPadding = e.broadcast(
        isPadding, typeOf(updates).getShape(),
        llvm::to_vector(llvm::seq<int64_t>(first, first + typeOf(getIndices()).getRank())));
    updates = e.select(isPadding, e.splatLike(updates, 0), updates);
  }
  grads[0] = e.make<ScatterAddOp>(getTable().getType(), updates, getIndices(), getDimension());
  return success();
}

VJP(ScatterAddOp) {
  Expressions e{builder, getLoc()};
  if (wanted[0])
    grads[0] = e.make<GatherOp>(resultGrads[0], getIndices(), getDimension());
  return success();
}

namespace {
/// Builds a gather from a tensor, or a scatter into a tensor, with the indices of
/// an op.
struct IndexedAccess {
  function_ref<Value(Value)> gather;
  function_ref<Value(ScatterKind, Value, Value)> scatter;
};
} // namespace

/// Builds the gradients of a scatter of `updates` into `input`. `access` has the
/// indices, which may be one per element or tuples.
static LogicalResult buildScatterVjp(Expressions e, Operation *op, ScatterKind kind, Value input,
                                     Value updates, Value g, IndexedAccess access,
                                     ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  switch (kind) {
  case ScatterKind::none:
    // Replaced elements of the input get no gradient.
    if (wanted[0])
      grads[0] = access.scatter(ScatterKind::none, g, e.splatLike(updates, 0));
    if (wanted[2])
      grads[2] = access.gather(g);
    return success();
  case ScatterKind::add:
    if (wanted[0])
      grads[0] = g;
    if (wanted[2])
      grads[2] = access.gather(g);
    return success();
  case ScatterKind::max:
  case ScatterKind::min: {
    Value result = op->getResult(0);
    Type element = typeOf(result).getElementType();
    Value inputWins = e.compare(Comparison::eq, input, result);
    Value updateWins = e.compare(Comparison::eq, updates, access.gather(result));
    Value winners = access.scatter(ScatterKind::add, e.convert(inputWins, element),
                                   e.convert(updateWins, element));
    Value share = e.div(g, winners);
    if (wanted[0])
      grads[0] = e.select(inputWins, share, e.splatLike(input, 0));
    if (wanted[2])
      grads[2] = e.select(updateWins, access.gather(share), e.splatLike(updates, 0));
    return success();
  }
  case ScatterKind::mul:
    return op->emitOpError("of kind mul has no gradient");
  }
  return failure();
}

VJP(GatherElementsOp) {
  Expressions e{builder, getLoc()};
  if (wanted[0])
    grads[0] = e.make<ScatterElementsOp>(ScatterKind::add, e.splatLike(getInput(), 0), getIndices(),
                                         resultGrads[0], getDimension());
  return success();
}

VJP(ScatterElementsOp) {
  Expressions e{builder, getLoc()};
  auto gather = [&](Value x) -> Value {
    return e.make<GatherElementsOp>(x, getIndices(), getDimension());
  };
  auto scatter = [&](ScatterKind kind, Value x, Value updates) -> Value {
    return e.make<ScatterElementsOp>(kind, x, getIndices(), updates, getDimension());
  };
  return buildScatterVjp(e, *this, getKind(), getInput(), getUpdates(), resultGrads[0],
                         {gather, scatter}, wanted, grads);
}

VJP(GatherNDOp) {
  Expressions e{builder, getLoc()};
  if (wanted[0])
    grads[0] = e.make<ScatterNDOp>(ScatterKind::add, e.splatLike(getInput(), 0), getIndices(),
                                   resultGrads[0], getBatchDims());
  return success();
}

VJP(ScatterNDOp) {
  Expressions e{builder, getLoc()};
  auto gather = [&](Value x) -> Value {
    return e.make<GatherNDOp>(x, getIndices(), getBatchDims());
  };
  auto scatter = [&](ScatterKind kind, Value x, Value updates) -> Value {
    return e.make<ScatterNDOp>(kind, x, getIndices(), updates, getBatchDims());
  };
  return buildScatterVjp(e, *this, getKind(), getInput(), getUpdates(), resultGrads[0],
                         {gather, scatter}, wanted, grads);
}

VJP(TopKOp) {
  Expressions e{builder, getLoc()};
  // The indices have no gradient.
  if (wanted[0] && resultGrads[0])
    grads[0] = e.make<ScatterElementsOp>(ScatterKind::add, e.splatLike(getInput(), 0), getIndices(),
                                         resultGrads[0], getDimension());
  return success();
}
