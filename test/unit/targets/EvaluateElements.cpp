#include "test/unit/dialects/NN/IR/BlockInterpreter.h"
#include "test/unit/targets/CompiledKernel.h"

#include "dialects/NN/IR/Program.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

std::vector<double> dpc::test::evaluateElements(const std::string &op, const std::string &floats,
                                                const std::vector<double> &inputs,
                                                const std::vector<double> &seconds) {
  MLIRContext context;
  loadDialects(context);
  DialectRegistry registry;
  registerTargets(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  std::string type = "tensor<" + std::to_string(inputs.size()) + "x" + floats + ">";
  std::string text = "func.func @f(%a: " + type + ", %b: " + type +
                     ") {\n%k = nn.kernel (%b, %a : " + type + ", " + type +
                     ") {\n^bb0(%z: " + type + ", %x: " + type + "):\n%y = " + op +
                     " %x : " + type + "\nnn.yield %y : " + type + "\n} -> " + type + "\nreturn\n}";
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  if (!module)
    return {};
  Operation *op0 = nullptr;
  module->walk([&](nn::KernelOp kernel) { op0 = kernel; });
  auto compiled = CompiledKernel::create(op0);
  if (!compiled)
    return {};
  HostTensor tensor(cast<RankedTensorType>(op0->getResult(0).getType()));
  HostTensor second = tensor;
  tensor.floats = inputs;
  if (!seconds.empty())
    second.floats = seconds;
  return compiled->run({second, tensor})[0].floats;
}
