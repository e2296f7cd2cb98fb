// Verifiers, sharding rules and interpreter rules of nn.variable, nn.constant,
// nn.update and nn.kernel.

#include "dialects/NN/IR/Program.h"
#include "planning/KernelClass.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Program.cpp.inc"

void NNDialect::registerProgramOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Program.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// nn.variable, nn.constant
//===----------------------------------------------------------------------===//

LogicalResult VariableOp::verify() {
  if (!isa<RankedTensorType>(getValue().getType())) // variable_c1
    return emitOpError("has a value of type ")
           << getValue().getType() << ", which is not a ranked tensor";
  return success();
}

Variables::Variables(ModuleOp module) {
  for (auto variable : module.getOps<VariableOp>())
    byName.try_emplace(variable.getTensorName(), variable);
}

void ConstantOp::build(OpBuilder &builder, OperationState &state, Type type, double splat) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  Attribute value;
  if (isa<FloatType>(element))
    value = builder.getFloatAttr(element, splat);
  else
    value = builder.getIntegerAttr(element, static_cast<int64_t>(splat));
  build(builder, state, type, cast<ElementsAttr>(DenseElementsAttr::get(tensor, value)));
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

FusionKind ConstantOp::getFusionKind() { return FusionKind::repeated; }

FusionKind AfterOp::getFusionKind() { return FusionKind::view; }

LogicalResult AfterOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                 MutableArrayRef<HostTensor> out) {
  out[0] = *in[0];
  return success();
}

LogicalResult ConstantOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *>,
                                    MutableArrayRef<HostTensor> results) {
  std::optional<HostTensor> value = HostTensor::fromAttr(getValue());
  if (!value)
    return emitOpError("has a value that cannot be read");
  results[0] = std::move(*value);
  return success();
}

ShardingRule ConstantOp::getShardingRule() {
  // Axes may cut any dimension of a splat, because every shard is a splat too.
  // They may not cut other values.
  ShardingRule rule = elementwiseShardingRule(*this);
  auto dense = dyn_cast<DenseElementsAttr>(getValue());
  if (!dense || !dense.isSplat())
    for (ShardingRule::Loop &loop : rule.loops)
      loop.kind = LoopKind::whole;
  return rule;
}

//===----------------------------------------------------------------------===//
// nn.update
//===----------------------------------------------------------------------===//

LogicalResult UpdateOp::verify() {
  SmallVector<Value> all(getTensors());
  llvm::append_range(all, getResults());
  for (Value value : all)
    if (typeOf(value).getShape() != typeOf(all[0]).getShape()) // update_c1
      return emitOpError("has tensors of different shapes: ")
             << value.getType() << " beside " << all[0].getType();
  Block &block = getBodyBlock();
  if (block.getNumArguments() != getNumOperands()) // update_c2
    return emitOpError("has ") << getNumOperands() << " operands but " << block.getNumArguments()
                               << " region arguments";
  for (auto [operand, argument] : llvm::zip_equal(getOperands(), block.getArguments())) {
    auto expected = RankedTensorType::get({}, typeOf(operand).getElementType());
    if (argument.getType() != expected) // update_c2
      return emitOpError("has a region argument of type ")
             << argument.getType() << " where " << expected << " is needed";
  }
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield->getNumOperands() != getNumResults()) // update_c3
    return emitOpError("yields ") << block.getTerminator()->getNumOperands() << " values for "
                                  << getNumResults() << " results";
  for (auto [operand, result] : llvm::zip_equal(yield.getOperands(), getResults())) {
    auto expected = RankedTensorType::get({}, typeOf(result).getElementType());
    if (operand.getType() != expected) // update_c3
      return emitOpError("yields ") << operand.getType() << " where " << expected << " is needed";
  }
  for (Operation &op : block.without_terminator())
    if (!isa<ElementwiseOpInterface, ConstantOp>(op)) // update_c4
      return emitOpError("holds ") << op.getName() << ", which is not elementwise";
  return success();
}

KernelClass UpdateOp::getKernelClass() { return KernelClass::update; }
int64_t UpdateOp::getFlops() {
  int64_t ops = llvm::range_size(getBodyBlock().without_terminator());
  return getNumResults() ? ops * typeOf(getResult(0)).getNumElements() : 0;
}

bool UpdateOp::updatesState() { return true; }

ShardingRule UpdateOp::getShardingRule() { return elementwiseShardingRule(*this); }

LogicalResult UpdateOp::interpret(InterpreterContext &context,
                                  ArrayRef<const HostTensor *> operands,
                                  MutableArrayRef<HostTensor> results) {
  if (results.empty())
    return success();
  ArrayRef<int64_t> shape = results[0].getShape();
  SmallVector<HostTensor> arguments, yielded;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (index < getTensors().size()) {
      arguments.push_back(*operand);
      continue;
    }
    HostTensor repeated(withShape(operand->getType(), shape));
    std::fill(repeated.floats.begin(), repeated.floats.end(),
              operand->isFloat() ? operand->floats[0] : 0);
    std::fill(repeated.ints.begin(), repeated.ints.end(),
              operand->isFloat() ? 0 : operand->ints[0]);
    arguments.push_back(std::move(repeated));
  }
  if (failed(context.runElementwiseRegion(getBody(), shape, arguments, yielded)))
    return failure();
  for (auto [result, value] : llvm::zip_equal(results, yielded))
    result = std::move(value);
  return success();
}

//===----------------------------------------------------------------------===//
// nn.kernel
//===----------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  Block &block = getBodyBlock();
  if (block.getArgumentTypes() != getInputs().getTypes()) // kernel_c1
    return emitOpError("has region arguments that are not of the types of its "
                       "operands");
  Operation *yield = block.getTerminator();
  if (!isa<YieldOp>(yield) || yield->getOperandTypes() != getResultTypes()) // kernel_c2
    return emitOpError("yields values that are not of the types of its "
                       "results");
  return success();
}

int64_t KernelOp::getFlops() {
  int64_t flops = 0;
  for (Operation &op : getBodyBlock())
    if (auto cost = dyn_cast<CostOpInterface>(op))
      flops += cost.getFlops();
  return flops;
}

LogicalResult KernelOp::interpret(InterpreterContext &context,
                                  ArrayRef<const HostTensor *> operands,
                                  MutableArrayRef<HostTensor> results) {
  SmallVector<HostTensor> arguments, yielded;
  for (const HostTensor *operand : operands)
    arguments.push_back(*operand);
  if (failed(context.runRegion(getBody(), arguments, yielded)))
    return failure();
  for (auto [result, value] : llvm::zip_equal(results, yielded))
    result = std::move(value);
  return success();
}
