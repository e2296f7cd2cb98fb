// Verifiers and interpreter rules of the ops that exchange tensors between stages. A trailing
// comment such as `send_c1` names the constraint that its line checks: (C1) of dist.send.

#include "dialects/Dist/IR/Messages.h"

#include "dialects/Dist/IR/Collectives.h"
#include "planning/Plan.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

const llvm::StringLiteral dist::kPipeAxis = dpc::kPipeAxis;

#define GET_OP_CLASSES
#include "dialects/Dist/IR/Messages.cpp.inc"

using Operands = ArrayRef<const HostTensor *>;
using Results = MutableArrayRef<HostTensor>;

static void addInto(HostTensor &to, const HostTensor &from) {
  for (size_t i = 0; i < to.floats.size(); ++i)
    to.floats[i] += from.floats[i];
  for (size_t i = 0; i < to.ints.size(); ++i)
    to.ints[i] += from.ints[i];
}

LogicalResult CombineStagesOp::interpret(InterpreterContext &, Operands in, Results out) {
  out[0] = *in[0];
  for (const HostTensor *term : in.drop_front()) {
    addInto(out[0], *term);
    out[0].roundToType();
  }
  return success();
}

/// Checks that `axis` is a parallel axis of the mesh, and that `stages` are coordinates on it.
static LogicalResult verifyStages(Operation *op, SymbolTableCollection &tables,
                                  FlatSymbolRefAttr meshName, StringAttr axis,
                                  ArrayRef<int64_t> stages) {
  FailureOr<int64_t> size =
      verifyGroup(op, tables, meshName, ArrayAttr::get(op->getContext(), axis)); // send_c1, c2
  if (failed(size))
    return failure();
  for (int64_t stage : stages)
    if (stage < 0 || stage >= *size) // send_c3
      return op->emitOpError("names stage ") << stage << " of " << *size;
  return success();
}

LogicalResult SendOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyStages(*this, tables, getMeshAttr(), getAxisAttr(), int64_t(getStage()));
}

LogicalResult SendOp::interpret(InterpreterContext &context, Operands in, Results) {
  return context.send(*this, getAxis(), getStage(), getNumber(), *in[0]);
}

LogicalResult RecvOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyStages(*this, tables, getMeshAttr(), getAxisAttr(), int64_t(getStage()));
}

LogicalResult RecvOp::interpret(InterpreterContext &context, Operands, Results out) {
  FailureOr<HostTensor> message = context.receive(*this, getAxis(), getStage(), getNumber());
  if (failed(message))
    return failure();
  if (message->getType() != out[0].getType())
    return emitOpError("receives ") << message->getType();
  out[0] = std::move(*message);
  return success();
}

LogicalResult StageReduceOp::verifySymbolUses(SymbolTableCollection &tables) {
  const ArrayRef<int64_t> stages = getStages();
  if (stages.size() < 2 || std::adjacent_find(stages.begin(), stages.end(), // stage_reduce_c3
                                              std::greater_equal<int64_t>()) != stages.end())
    return emitOpError("lists the stages ") << getStages();
  return verifyStages(*this, tables, getMeshAttr(), getAxisAttr(), getStages());
}

LogicalResult StageReduceOp::interpret(InterpreterContext &context, Operands in, Results out) {
  FailureOr<std::vector<HostTensor>> all =
      context.exchangeAmong(*this, getAxis(), getStages(), getNumber(), *in[0]);
  if (failed(all))
    return failure();
  out[0] = (*all)[0];
  for (const HostTensor &other : llvm::drop_begin(*all))
    addInto(out[0], other);
  return success();
}
