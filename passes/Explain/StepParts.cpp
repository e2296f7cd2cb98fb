// Divides a step into forward pass, backward pass and update, by following the uses of values.

#include "passes/Explain/StepParts.h"

#include "dialects/Interfaces/NodeNames.h"
#include "dialects/NN/IR/Conversions.h"
#include "passes/Sharding/Partition/LoopSchedule.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

StepParts::StepParts(func::FuncOp function) : function(function) {
  SmallVector<Operation *> waiting;
  auto visit = [&](Value value) {
    if (Operation *op = value.getDefiningOp(); op && forward.insert(op).second)
      waiting.push_back(op);
  };
  for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
    nn::ResultAttr attr = nn::getResult(function, operand.getOperandNumber());
    const bool isLoss =
        attr && attr.getKind() == nn::ResultKind::metric && attr.getName() == "loss";
    hasLoss |= isLoss;
    if (isLoss || (attr && attr.getKind() == nn::ResultKind::output))
      visit(operand.get());
  }
  while (!waiting.empty())
    for (Value operand : waiting.pop_back_val()->getOperands())
      visit(operand);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    nn::ArgAttr arg = nn::getArg(function, i);
    auto layout = function.getArgAttrOfType<LayoutAttr>(i, DistDialect::kLayoutAttrName);
    const bool hasSamples = arg && layout && !nn::isState(arg.getKind()) && arg.getBatch() >= 0;
    if (!hasSamples)
      continue;
    for (const std::string &axis : shardedAxes(layout.getLayout().dims[arg.getBatch()]))
      if (!cutsBatch(axis))
        batchAxes.push_back(axis);
  }
}

bool StepParts::isGradient(Operation *op, bool summed) const {
  if (isForward(op))
    return false;
  const int64_t elements = nn::typeOf(op->getResult(0)).getNumElements();
  auto fits = [&](Value value, const Layout &layout) {
    RankedTensorType type = nn::typeOf(value);
    if (type.getRank() == 0 || type.getNumElements() == elements)
      return true;
    return summed &&
           llvm::none_of(shardedAxes(layout), [&](StringRef axis) { return cutsBatch(axis); });
  };
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> waiting = {op};
  while (!waiting.empty())
    for (Value value : waiting.pop_back_val()->getResults())
      for (Operation *user : value.getUsers()) {
        // Do not follow scalars: the norm of all gradients is a scalar, and would lead to the
        // updates of all parameters.
        if (nn::typeOf(value).getRank() == 0 || user->hasTrait<OpTrait::IsTerminator>() ||
            !seen.insert(user).second)
          continue;
        for (auto [result, layout] : llvm::zip_equal(user->getResults(), resultLayouts(user)))
          if (!fits(result, layout))
            return false;
        waiting.push_back(user);
      }
  return true;
}

StringRef StepParts::nameOf(Operation *op) const {
  return isForward(op) ? "forward" : isGradient(op, /*summed=*/false) ? "update" : "backward";
}

std::string StepParts::stateName(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  nn::ArgAttr arg = argument ? nn::getArg(function, argument.getArgNumber()) : nn::ArgAttr();
  return arg && nn::isState(arg.getKind()) ? arg.getName().str() : "";
}

std::string StepParts::describe(Value value) const {
  if (Value source = nn::getSource(value); isa<BlockArgument>(source))
    value = source;
  if (Operation *op = value.getDefiningOp())
    return describe(op);
  nn::ArgAttr arg = nn::getArg(function, cast<BlockArgument>(value).getArgNumber());
  return arg ? arg.getName().str() : "an argument";
}

std::string StepParts::describe(Operation *op) const {
  if (StringRef node = firstNodeOf(op->getLoc()); !node.empty())
    return node.str();
  return isForward(op) ? "loss" : isGradient(op, /*summed=*/false) ? "optimizer" : "loss";
}
