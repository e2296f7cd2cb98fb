// Finds the ops of a training step that form its forward pass, by a walk backwards from the loss
// and from the messages to later chunks of a pipeline.

#include "passes/Forward/ForwardPass.h"

#include "dialects/Dist/IR/Messages.h"
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

/// Returns the values that `block` itself sends to later chunks.
static SmallVector<Value> sentForward(Block &block) {
  SmallVector<Value> sent;
  for (auto send : block.getOps<dist::SendOp>())
    if (!send.getBackward())
      sent.push_back(send.getInput());
  return sent;
}

Ancestors::Ancestors(dist::MicroOp loop, const Ancestors &outside)
    : Ancestors(llvm::to_vector(
          llvm::concat<Value>(yieldedFor(loop, outside), sentForward(loop.getBodyBlock())))) {}

Ancestors dpc::findForwardPass(func::FuncOp function) {
  SmallVector<Value> roots = sentForward(function.front());
  for (OpOperand &result : function.front().getTerminator()->getOpOperands())
    if (nn::ResultAttr attr = nn::getResult(function, result.getOperandNumber());
        attr && attr.getKind() == nn::ResultKind::metric && attr.getName() == "loss")
      roots.push_back(result.get());
  SmallVector<Operation *> loops;
  for (auto loop : function.front().getOps<dist::MicroOp>())
    if (!sentForward(loop.getBodyBlock()).empty()) {
      loops.push_back(loop);
      llvm::append_range(roots, loop.getInputs());
    }
  Ancestors forward(roots);
  forward.ops.insert(loops.begin(), loops.end());
  return forward;
}

Ancestors dpc::findUpdates(func::FuncOp function) {
  SmallVector<Value> read;
  for (Operation &op : function.front())
    if (updatesState(&op))
      llvm::append_range(read, op.getOperands());
  return Ancestors(read);
}
