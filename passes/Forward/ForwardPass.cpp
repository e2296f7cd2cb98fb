// Finds the ops of a training step that form its forward pass, by a walk backwards from the loss.

#include "passes/Forward/ForwardPass.h"

#include "dialects/NN/IR/Program.h"

using namespace mlir;
using namespace dpc;

Ancestors::Ancestors(ArrayRef<Value> roots) {
  SmallVector<Value> waiting(roots);
  while (!waiting.empty()) {
    Value value = waiting.pop_back_val();
    values.insert(value);
    if (Operation *op = value.getDefiningOp(); op && ops.insert(op).second)
      llvm::append_range(waiting, op->getOperands());
  }
}

/// For each result of `loop` that is in `outside`, returns the value that the body of `loop` yields
/// for it.
static SmallVector<Value> yieldedFor(dist::MicroOp loop, const Ancestors &outside) {
  SmallVector<Value> yielded;
  for (auto [result, value] :
       llvm::zip_equal(loop.getResults(), loop.getBodyBlock().getTerminator()->getOperands()))
    if (outside.values.contains(result))
      yielded.push_back(value);
  return yielded;
}

Ancestors::Ancestors(dist::MicroOp loop, const Ancestors &outside)
    : Ancestors(yieldedFor(loop, outside)) {}

Ancestors dpc::findForwardPass(func::FuncOp function) {
  SmallVector<Value> losses;
  for (OpOperand &result : function.front().getTerminator()->getOpOperands())
    if (nn::ResultAttr attr = nn::getResult(function, result.getOperandNumber());
        attr && attr.getKind() == nn::ResultKind::metric && attr.getName() == "loss")
      losses.push_back(result.get());
  return Ancestors(losses);
}

Ancestors dpc::findUpdates(func::FuncOp function) {
  SmallVector<Value> read;
  for (Operation &op : function.front())
    if (updatesState(&op))
      llvm::append_range(read, op.getOperands());
  return Ancestors(read);
}
