// Builds dynamic loss scaling: the choice between a taken and a skipped step, and the next scale.

#include "passes/Optimize/LossScale.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

Value LossScale::isFinite(Expressions e, Value norm, Value loss) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // The gradients can be finite even if the loss is not, e.g. if a label has probability 0.
  if (loss)
    norm = e.select(e.compare(Comparison::lt, e.make<AbsOp>(loss), infinity), norm,
                    e.splatLike(norm, infinity));
  return e.compare(Comparison::lt, norm, infinity);
}

Value LossScale::inverse(Expressions e) const { return e.div(e.splatLike(scale, 1), scale); }

Value LossScale::choose(Expressions e, Value updated, Value state) const {
  auto update = updated.getDefiningOp<UpdateOp>();
  if (!update || !llvm::is_contained(update.getTensors(), state))
    return e.select(e.broadcastScalar(finite, typeOf(state).getShape()), updated, state);
  Block &body = update.getBodyBlock();
  auto scalar = llvm::find(update.getScalars(), finite);
  Value taken;
  if (scalar != update.getScalars().end()) {
    taken = body.getArgument(update.getTensors().size() + (scalar - update.getScalars().begin()));
  } else {
    update.getScalarsMutable().append(finite);
    taken = body.addArgument(finite.getType(), e.loc);
  }
  Value old =
      body.getArgument(llvm::find(update.getTensors(), state) - update.getTensors().begin());
  Operation *yield = body.getTerminator();
  OpOperand &value = yield->getOpOperand(cast<OpResult>(updated).getResultNumber());
  OpBuilder builder(yield);
  value.set(Expressions{builder, e.loc}.select(taken, value.get(), old));
  return updated;
}

SmallVector<Value> LossScale::advance(Expressions e) const {
  Value one = e.splatLike(goodSteps, 1), zero = e.splatLike(goodSteps, 0);
  Value inARow = e.add(goodSteps, one);
  Value grows = e.compare(Comparison::ge, inARow, e.splatLike(goodSteps, interval));
  return {e.select(finite, e.select(grows, e.mul(scale, 2), scale), e.mul(scale, 0.5)),
          e.select(finite, e.select(grows, zero, inARow), zero),
          e.select(finite, stepsSkipped, e.add(stepsSkipped, one))};
}
