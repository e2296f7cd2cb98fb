// Prices of ops, by the bytes that they move.

#include "passes/Prices/OpPrices.h"

#include "test/unit/planning/FlatMachine.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;
using dpc::test::makeFlatMachine;

namespace {

class OpPricesTest : public testing::Test {
protected:
  /// Returns the op whose result the function in `text` returns.
  Operation *parse(const std::string &text) {
    context.loadDialect<nn::NNDialect, dist::DistDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    auto function = *module->getOps<func::FuncOp>().begin();
    return function.front().getTerminator()->getOperand(0).getDefiningOp();
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};

TEST_F(OpPricesTest, AGatherHasTheBytesOfTheRowsThatItTakes) {
  Operation *gather = parse(R"(
    func.func @f(%x: tensor<1000x8xf32>, %i: tensor<2xi64>) -> tensor<2x8xf32> {
      %0 = nn.gather %x, %i dim 0 : tensor<1000x8xf32>, tensor<2xi64> -> tensor<2x8xf32>
      return %0 : tensor<2x8xf32>
    })");
  // The rows that it reads and writes, and the indices.
  EXPECT_EQ(workBeforeFusion(gather).bytes, 2 * 64 + 16);
  EXPECT_EQ(workOfKernel(gather).bytes, 2 * 64 + 16);
}

TEST_F(OpPricesTest, AKernelHasTheBytesOfTheRowsThatItsGathersTake) {
  Operation *kernel = parse(R"(
    func.func @f(%x: tensor<1000x8xf32>, %i: tensor<2xi64>) -> tensor<2x8xf32> {
      %0 = nn.kernel(%x, %i : tensor<1000x8xf32>, tensor<2xi64>) {
      ^bb0(%t: tensor<1000x8xf32>, %j: tensor<2xi64>):
        %1 = nn.gather %t, %j dim 0 : tensor<1000x8xf32>, tensor<2xi64> -> tensor<2x8xf32>
        %2 = nn.exp %1 : tensor<2x8xf32>
        nn.yield %2 : tensor<2x8xf32>
      } -> tensor<2x8xf32>
      return %0 : tensor<2x8xf32>
    })");
  EXPECT_EQ(workOfKernel(kernel).bytes, 2 * 64 + 16);
}

TEST_F(OpPricesTest, AKernelHasAllBytesOfATableThatAnotherOpReads) {
  Operation *kernel = parse(R"(
    func.func @f(%x: tensor<1000x8xf32>, %i: tensor<2xi64>) -> tensor<2x8xf32> {
      %0:2 = nn.kernel(%x, %i : tensor<1000x8xf32>, tensor<2xi64>) {
      ^bb0(%t: tensor<1000x8xf32>, %j: tensor<2xi64>):
        %1 = nn.gather %t, %j dim 0 : tensor<1000x8xf32>, tensor<2xi64> -> tensor<2x8xf32>
        %2 = nn.exp %t : tensor<1000x8xf32>
        nn.yield %1, %2 : tensor<2x8xf32>, tensor<1000x8xf32>
      } -> tensor<2x8xf32>, tensor<1000x8xf32>
      return %0#0 : tensor<2x8xf32>
    })");
  EXPECT_EQ(workOfKernel(kernel).bytes, 32000 + 16 + 64 + 32000);
}

TEST_F(OpPricesTest, ProductsOfF32HaveTheTypeToWhichThePlanRoundsTheirFactors) {
  const std::string text = R"(
    func.func @f(%x: tensor<8x4xf32>, %y: tensor<4x2xf32>) -> tensor<8x2xf32> {
      %0 = nn.dot %x, %y contract [1] [0] : tensor<8x4xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
      return %0 : tensor<8x2xf32>
    })";
  EXPECT_EQ(workOfKernel(parse(text)).type, NumberType::f32);
  auto workIn = [&](const std::string &form) {
    return workOfKernel(parse("module attributes {dist.plan = #dist.plan<factors = \"" + form +
                              "\">} {" + text + "}"));
  };
  EXPECT_EQ(workIn("tf32").type, NumberType::tf32);
  EXPECT_EQ(workIn("tf32").flops, 128);
  // Three products of tf32.
  EXPECT_EQ(workIn("tf32x3").type, NumberType::tf32);
  EXPECT_EQ(workIn("tf32x3").flops, 3 * 128);
}

TEST_F(OpPricesTest, ValuesInRegistersHaveNoBytesBeforeFusion) {
  Operation *relu = parse(R"(
    func.func @f(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %0 = nn.exp %x : tensor<8x16xf32>
      %1 = nn.relu %0 : tensor<8x16xf32>
      return %1 : tensor<8x16xf32>
    })");
  EXPECT_EQ(workBeforeFusion(relu).bytes, 512);
  EXPECT_EQ(workOfKernel(relu).bytes, 1024);
}

TEST_F(OpPricesTest, CollectivesHaveTheBytesOfTheLargerBuffer) {
  Operation *scatter = parse(R"(
    dist.mesh @mesh axes ["data"] sizes [4]
    func.func @f(%x: tensor<4x2x3xf32>) -> tensor<2x3xf32> {
      %0 = dist.reduce_scatter sum %x on @mesh ["data"] : tensor<4x2x3xf32> -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    })");
  const MeshPrices prices(makeFlatMachine(1, 1, /*bytesPerSecond=*/8, /*startSeconds=*/1),
                          {{"data", 4}});
  const Price price = priceCollective(cast<dist::CollectiveOpInterface>(scatter), prices);
  EXPECT_EQ(price.bytes, 72);
  EXPECT_EQ(price.seconds, 10);
}

} // namespace
