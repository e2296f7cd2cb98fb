// Interprets a block on one device without rounding floats to their type, so
// that gradients can be compared with differences (BlockInterpreter.h).

#include "test/unit/dialects/NN/IR/BlockInterpreter.h"

#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

void dpc::test::loadDialects(MLIRContext &context) {
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
}

LogicalResult BlockInterpreter::run(Block &block, Values &values) {
  for (Operation &op : block.without_terminator()) {
    auto interpretable = dyn_cast<InterpretableOpInterface>(op);
    if (!interpretable)
      return op.emitOpError("has no interpreter rule");
    // Copied: the map moves its entries when it grows.
    std::vector<HostTensor> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    SmallVector<const HostTensor *> pointers;
    for (const HostTensor &operand : operands)
      pointers.push_back(&operand);
    SmallVector<HostTensor> results;
    for (Type type : op.getResultTypes())
      results.emplace_back(cast<RankedTensorType>(type));
    if (failed(interpretable.interpret(*this, pointers, results)))
      return failure();
    for (auto [value, result] : llvm::zip_equal(op.getResults(), results)) {
      if (!result.isFloat())
        result.roundToType();
      values[value] = std::move(result);
    }
  }
  return success();
}

LogicalResult BlockInterpreter::runRegion(Region &region, ArrayRef<HostTensor> arguments,
                                          SmallVectorImpl<HostTensor> &yielded) {
  Values values;
  Block &block = region.front();
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = tensor;
  if (failed(run(block, values)))
    return failure();
  for (Value value : block.getTerminator()->getOperands())
    yielded.push_back(values.lookup(value));
  return success();
}

/// Element `from` of one tensor to element `to` of another.
static void copyElement(const HostTensor &source, int64_t from, HostTensor &target, int64_t to) {
  if (target.isFloat())
    target.floats[to] = source.floats[from];
  else
    target.ints[to] = source.ints[from];
}

LogicalResult BlockInterpreter::runElementwiseRegion(Region &region, ArrayRef<int64_t> shape,
                                                     ArrayRef<HostTensor> arguments,
                                                     SmallVectorImpl<HostTensor> &yielded) {
  Block &block = region.front();
  for (Value value : block.getTerminator()->getOperands())
    yielded.emplace_back(nn::withShape(nn::typeOf(value), shape));
  int64_t size = yielded.empty() ? 0 : yielded[0].size();
  for (int64_t i = 0; i < size; ++i) {
    SmallVector<HostTensor> elements, values;
    for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments)) {
      elements.emplace_back(nn::typeOf(argument));
      copyElement(tensor, tensor.size() == 1 ? 0 : i, elements.back(), 0);
    }
    if (failed(runRegion(region, elements, values)))
      return failure();
    for (auto [target, value] : llvm::zip_equal(yielded, values))
      copyElement(value, 0, target, i);
  }
  return success();
}

OwningOpRef<ModuleOp> dpc::test::parseFunction(MLIRContext &context, const std::string &body,
                                               ArrayRef<Arg> args) {
  std::string text = "func.func @f(";
  for (auto [index, arg] : llvm::enumerate(args)) {
    text += index ? ", %" : "%";
    text += char('a' + index);
    text += std::string(": tensor<") + arg.type + ">";
  }
  text += ") {\n" + body + "\nreturn\n}\n";
  return parseSourceString<ModuleOp>(text, &context);
}

func::FuncOp dpc::test::functionOf(ModuleOp module) {
  return cast<func::FuncOp>(module.getBody()->front());
}

HostTensor dpc::test::randomTensor(Type type, double low, double high, std::mt19937 &random) {
  HostTensor result(cast<RankedTensorType>(type));
  std::uniform_real_distribution<double> real(low, high);
  std::uniform_int_distribution<int64_t> whole(static_cast<int64_t>(low),
                                               static_cast<int64_t>(high));
  for (double &element : result.floats)
    element = real(random);
  for (int64_t &element : result.ints)
    element = whole(random);
  return result;
}

HostTensor dpc::test::tensorOf(Type type, const std::vector<double> &elements) {
  HostTensor result(cast<RankedTensorType>(type));
  for (size_t i = 0; i < elements.size(); ++i) {
    if (result.isFloat())
      result.floats[i] = elements[i];
    else
      result.ints[i] = static_cast<int64_t>(elements[i]);
  }
  return result;
}
