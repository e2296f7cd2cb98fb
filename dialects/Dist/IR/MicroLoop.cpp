// Adds and removes operands and results of microbatch loops.

#include "dialects/Dist/IR/MicroLoop.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

BlockArgument dist::addWholeInput(MicroOp loop, Value value) {
  SmallVector<int32_t> kinds(loop.getOperandKinds());
  kinds.push_back(static_cast<int32_t>(MicroKind::whole));
  loop.getInputsMutable().append(value);
  loop.setOperandKinds(kinds);
  return loop.getBodyBlock().addArgument(value.getType(), value.getLoc());
}

void dist::eraseUnreadInputs(MicroOp loop) {
  Block &body = loop.getBodyBlock();
  SmallVector<int32_t> kinds;
  BitVector unread(body.getNumArguments());
  for (BlockArgument argument : body.getArguments()) {
    const unsigned index = argument.getArgNumber();
    if (argument.use_empty())
      unread.set(index);
    else
      kinds.push_back(loop.getOperandKinds()[index]);
  }
  loop->eraseOperands(unread);
  body.eraseArguments(unread);
  loop.setOperandKinds(kinds);
}

/// Creates a loop with results of `types` and `kinds` before `loop`. The new loop
/// takes over the operands and the body of `loop`.
static MicroOp remake(MicroOp loop, TypeRange types, ArrayRef<int32_t> kinds) {
  OpBuilder builder(loop);
  OperationState state(loop.getLoc(), MicroOp::getOperationName());
  MicroOp::build(builder, state, types, loop.getCountAttr(), loop.getAxisAttr(), loop.getInputs(),
                 loop.getOperandKindsAttr(), builder.getDenseI32ArrayAttr(kinds));
  state.regions[0]->takeBody(loop.getBody());
  return cast<MicroOp>(builder.create(state));
}

MicroOp dist::addSums(MicroOp loop, ArrayRef<Value> values) {
  Operation *yield = loop.getBodyBlock().getTerminator();
  SmallVector<Type> types(loop.getResultTypes());
  SmallVector<int32_t> kinds(loop.getResultKinds());
  for (Value value : values) {
    yield->insertOperands(yield->getNumOperands(), value);
    types.push_back(value.getType());
    kinds.push_back(static_cast<int32_t>(MicroKind::summed));
  }
  MicroOp made = remake(loop, types, kinds);
  loop->replaceAllUsesWith(made.getResults().take_front(loop.getNumResults()));
  loop.erase();
  return made;
}

void dist::eraseUnreadResults(MicroOp loop) {
  BitVector unread(loop.getNumResults());
  SmallVector<Type> types;
  SmallVector<int32_t> kinds;
  SmallVector<Value> read;
  for (OpResult result : loop.getResults()) {
    if (result.use_empty()) {
      unread.set(result.getResultNumber());
      continue;
    }
    read.push_back(result);
    types.push_back(result.getType());
    kinds.push_back(loop.getResultKinds()[result.getResultNumber()]);
  }
  if (unread.none())
    return;
  loop.getBodyBlock().getTerminator()->eraseOperands(unread);
  MicroOp made = remake(loop, types, kinds);
  for (auto [old, result] : llvm::zip_equal(read, made.getResults()))
    old.replaceAllUsesWith(result);
  loop.erase();
}
