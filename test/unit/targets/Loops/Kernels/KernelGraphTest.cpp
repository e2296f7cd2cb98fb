// What a kernel keeps in memory follows what its target says elements cost.

#include "targets/Loops/Kernels/KernelGraph.h"

#include "dialects/NN/IR/NNDialect.h"
#include "targets/Loops/Kernels/LoopTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;

namespace {

/// Says only what elements cost.
class PricedTarget : public HostLoopTarget {
public:
  explicit PricedTarget(ElementCosts costs) : costs(costs) {}
  StringRef getName() const override { return "priced"; }
  ArrayRef<StringRef> getProcessors() const override { return {}; }
  Topology getTopology(StringRef) const override { return {}; }
  ElementCosts getElementCosts() const override { return costs; }
  FunctionForm getFunctionForm() const override { return FunctionForm::launchTable; }
  HostLevel getHostLevel(const CodeOptions &) const override { return HostLevel::any; }
  FailureOr<std::vector<KernelObject>> compileKernels(ModuleOp, const CodeOptions &,
                                                      const ObjectCache *) const override {
    return failure();
  }

protected:
  std::unique_ptr<KernelEmitter> createEmitter(OpBuilder &, Location, const KernelGraph &,
                                               const CodeOptions &) const override {
    return nullptr;
  }
  std::unique_ptr<AccessWalk> createWalk(const KernelGraph &, const KernelPlaces &,
                                         const CodeOptions &) const override {
    return nullptr;
  }

private:
  ElementCosts costs;
};

/// The names of the ops whose results the kernel of `text` keeps in memory.
std::vector<std::string> keptOps(const char *text, ElementCosts costs) {
  PricedTarget target(costs);
  DialectRegistry registry;
  target.registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  std::vector<std::string> names;
  module->walk([&](nn::KernelOp kernel) {
    auto graph = KernelGraph::build(kernel, target, /*recompute=*/true);
    ASSERT_TRUE(succeeded(graph));
    for (Operation *root : (*graph)->getRoots())
      names.push_back(root->getName().getStringRef().str());
  });
  return names;
}

// exp is read by both results, in loops that cannot be shared.
const char *const readTwice = R"(
  func.func @f(%x: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<16xf32>) {
    %0:2 = nn.kernel(%x : tensor<4x16xf32>) {
    ^bb0(%a: tensor<4x16xf32>):
      %1 = nn.exp %a : tensor<4x16xf32>
      %2 = nn.neg %1 : tensor<4x16xf32>
      %3 = nn.reduce sum %1 [0] : tensor<4x16xf32> -> tensor<16xf32>
      nn.yield %2, %3 : tensor<4x16xf32>, tensor<16xf32>
    } -> tensor<4x16xf32>, tensor<16xf32>
    return %0#0, %0#1 : tensor<4x16xf32>, tensor<16xf32>
  })";

using Names = std::vector<std::string>;

TEST(KernelGraph, AFunctionIsKeptWhereMemoryIsNear) {
  EXPECT_EQ(keptOps(readTwice, {}), (Names{"nn.exp", "nn.neg", "nn.reduce"}));
  ElementCosts cheap;
  cheap.function = 5;
  EXPECT_EQ(keptOps(readTwice, cheap), (Names{"nn.neg", "nn.reduce"}));
}

TEST(KernelGraph, AFunctionIsRepeatedWhereMemoryIsFar) {
  ElementCosts far;
  far.storeAndLoad = 100;
  EXPECT_EQ(keptOps(readTwice, far), (Names{"nn.neg", "nn.reduce"}));
}

TEST(KernelGraph, ALongElementIsKeptThoughItIsReadOnce) {
  const char *const rows = R"(
    func.func @f(%x: tensor<4x64xf32>) -> tensor<4xf32> {
      %0 = nn.kernel(%x : tensor<4x64xf32>) {
      ^bb0(%a: tensor<4x64xf32>):
        %1 = nn.exp %a : tensor<4x64xf32>
        %2 = nn.reduce sum %1 [1] : tensor<4x64xf32> -> tensor<4xf32>
        %3 = nn.sqrt %2 : tensor<4xf32>
        nn.yield %3 : tensor<4xf32>
      } -> tensor<4xf32>
      return %0 : tensor<4xf32>
    })";
  EXPECT_EQ(keptOps(rows, {}), (Names{"nn.reduce", "nn.sqrt"}));
  ElementCosts patient;
  patient.longElement = 1e9;
  EXPECT_EQ(keptOps(rows, patient), (Names{"nn.sqrt"}));
}

TEST(KernelGraph, TheLogitsOfLabelsAreKept) {
  auto loss = [](const std::string &classes) {
    const std::string logits = "tensor<64x" + classes + "xf32>";
    return "func.func @f(%x: " + logits + ", %y: tensor<64xi64>) -> tensor<64xf32> {\n" +
           "%0 = nn.kernel(%x, %y : " + logits + ", tensor<64xi64>) {\n^bb0(%a: " + logits +
           ", %b: tensor<64xi64>):\n%l, %s = nn.cross_entropy %a, %b dim 1 : " + logits +
           ", tensor<64xi64> -> tensor<64xf32>, tensor<64xf32>\nnn.yield %l : tensor<64xf32>\n" +
           "} -> tensor<64xf32>\nreturn %0 : tensor<64xf32>\n}";
  };
  ElementCosts patient;
  patient.longElement = 1e9;
  EXPECT_EQ(keptOps(loss("32").c_str(), patient),
            (Names{"nn.reduce", "nn.gather_elements", "nn.select"}));
  // They are no few elements of a small tensor.
  EXPECT_EQ(keptOps(loss("31").c_str(), patient), (Names{"nn.reduce", "nn.select"}));
}

} // namespace
