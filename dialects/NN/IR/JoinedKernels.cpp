// Kernels that compute the results of several independent kernels.

#include "dialects/NN/IR/JoinedKernels.h"

#include "dialects/NN/IR/Shape.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

ArrayRef<int64_t> nn::getJoined(Operation *kernel) {
  auto joined = kernel->getAttrOfType<DenseI64ArrayAttr>(kJoinedAttrName);
  return joined ? joined.asArrayRef() : ArrayRef<int64_t>();
}

bool nn::holdsUpdates(Operation *kernel) {
  return isa<UpdateOp>(kernel) || kernel->hasAttr(kUpdatesAttrName);
}

SmallVector<Value> nn::cloneUpdate(UpdateOp update, ValueRange operands, OpBuilder &builder) {
  IRMapping mapping;
  ArrayRef<int64_t> shape;
  if (!update.getTensors().empty())
    shape = typeOf(update.getTensors()[0]).getShape();
  else if (update.getNumResults())
    shape = typeOf(update.getResult(0)).getShape();
  for (auto [operand, argument] : llvm::zip_equal(operands, update.getBodyBlock().getArguments())) {
    Value value = operand;
    if (typeOf(value).getShape() != shape)
      value = builder.create<BroadcastOp>(update.getLoc(), withShape(typeOf(value), shape), value,
                                          ArrayRef<int64_t>());
    mapping.map(argument, value);
  }
  for (Operation &op : update.getBodyBlock().without_terminator()) {
    if (auto constantOp = dyn_cast<ConstantOp>(op)) {
      auto type = withShape(typeOf(constantOp.getResult()), shape);
      auto value = cast<DenseElementsAttr>(constantOp.getValue());
      mapping.map(constantOp.getResult(),
                  builder.create<ConstantOp>(op.getLoc(), type,
                                             cast<ElementsAttr>(value.resizeSplat(type))));
      continue;
    }
    Operation *made = builder.clone(op, mapping);
    for (Value result : made->getResults())
      result.setType(withShape(typeOf(result), shape));
  }
  SmallVector<Value> results;
  for (Value yielded : update.getBodyBlock().getTerminator()->getOperands())
    results.push_back(mapping.lookup(yielded));
  return results;
}
