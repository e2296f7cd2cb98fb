// Computes the values that depend only on constants, by the interpreter rules of the ops.

#include "passes/Normalize/ConstantValues.h"

#include "dialects/Interfaces/ConstantContext.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Shape.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

/// Computes result number `number` of `op` for the operand values `operands`. With `isScalar`,
/// operands and results have one element each, regardless of their types.
static std::optional<HostTensor> interpret(Operation *op, unsigned number,
                                           ArrayRef<HostTensor> operands, bool isScalar) {
  auto rule = dyn_cast<InterpretableOpInterface>(op);
  if (!rule || op->getNumRegions())
    return std::nullopt;
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &operand : operands)
    pointers.push_back(&operand);
  SmallVector<HostTensor> results;
  for (Value result : op->getResults())
    results.emplace_back(isScalar ? withShape(typeOf(result), {}) : typeOf(result));
  ConstantContext context;
  if (failed(rule.interpret(context, pointers, results)))
    return std::nullopt;
  results[number].roundToType();
  return std::move(results[number]);
}

std::optional<HostTensor> ConstantValues::get(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  std::optional<HostTensor> result = compute(value);
  known[value] = result;
  return result;
}

std::optional<HostTensor> ConstantValues::compute(Value value) {
  const int64_t most = int64_t(1) << 24; // elements, which take about a second to compute
  if (typeOf(value).getNumElements() > most)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument);
  Operation *op = value.getDefiningOp();
  std::vector<HostTensor> operands;
  for (Value operand : op->getOperands()) {
    std::optional<HostTensor> constant = get(operand);
    if (!constant)
      return std::nullopt;
    operands.push_back(std::move(*constant));
  }
  return interpret(op, cast<OpResult>(value).getResultNumber(), operands,
                   /*isScalar=*/false);
}

std::optional<HostTensor> ConstantValues::ofArgument(BlockArgument argument) {
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  ArgAttr arg = function ? getArg(function, argument.getArgNumber()) : ArgAttr();
  if (!arg || arg.getKind() != ArgKind::constant)
    return std::nullopt;
  auto variable = variables.find(arg.getName());
  return variable ? HostTensor::fromAttr(variable.getValue()) : std::nullopt;
}

std::optional<double> ConstantValues::getSplat(Value value) {
  auto found = splats.find(value);
  if (found != splats.end())
    return found->second;
  auto first = [](const HostTensor &tensor) {
    return tensor.isFloat() ? tensor.floats[0] : double(tensor.ints[0]);
  };
  std::optional<double> result;
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (dense && dense.isSplat())
      if (auto one = HostTensor::fromAttr(dense.resizeSplat(withShape(typeOf(value), {}))))
        result = first(*one);
  } else if (isa_and_nonnull<BroadcastOp, ReshapeOp, TransposeOp>(op)) {
    result = getSplat(op->getOperand(0));
  } else if (isa_and_nonnull<ElementwiseOpInterface>(op)) {
    SmallVector<HostTensor> operands;
    for (Value operand : op->getOperands())
      if (std::optional<double> splat = getSplat(operand))
        operands.push_back(HostTensor::splat(withShape(typeOf(operand), {}), *splat));
    if (operands.size() == op->getNumOperands())
      if (auto one = interpret(op, 0, operands, /*isScalar=*/true))
        result = first(*one);
  }
  splats[value] = result;
  return result;
}
