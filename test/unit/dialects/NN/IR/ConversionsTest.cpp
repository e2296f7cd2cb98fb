// Values behind conversions, and what reads them.

#include "dialects/NN/IR/Conversions.h"

#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;

namespace {

struct Conversions : testing::Test {
  Conversions() {
    context.loadDialect<func::FuncDialect, nn::NNDialect>();
    module = parseSourceString<ModuleOp>(R"(
      func.func @f(%x: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xf32>) {
        %a = nn.convert %x : tensor<4xf32> -> tensor<4xbf16>
        %b = nn.convert %a : tensor<4xbf16> -> tensor<4xf32>
        %c = nn.exp %b : tensor<4xf32>
        %d = nn.convert %i : tensor<4xi64> -> tensor<4xf32>
        return %c, %d : tensor<4xf32>, tensor<4xf32>
      })",
                                         &context);
    function = *module->getOps<func::FuncOp>().begin();
    for (Operation &op : function.front().without_terminator())
      made.push_back(op.getResult(0));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  SmallVector<Value> made;
};

TEST_F(Conversions, LeadToTheirSource) {
  Value x = function.getArgument(0);
  EXPECT_EQ(nn::getSource(x), x);
  EXPECT_EQ(nn::getSource(made[1]), x);
  // What is computed is no conversion, nor are floats that integers become.
  EXPECT_EQ(nn::getSource(made[2]), made[2]);
  EXPECT_EQ(nn::getSource(made[3]), made[3]);
}

TEST_F(Conversions, AreFormsOfAValue) {
  Value x = function.getArgument(0);
  EXPECT_EQ(nn::getForms(x), SmallVector<Value>({x, made[0], made[1]}));
  EXPECT_EQ(nn::getForms(function.getArgument(1)).size(), 1u);
}

TEST_F(Conversions, ReadersAreBehindThem) {
  auto isExp = [](Operation *op) { return isa<nn::ExpOp>(op); };
  EXPECT_TRUE(nn::isReadOnlyBy(function.getArgument(0), isExp));
  EXPECT_FALSE(nn::isReadOnlyBy(function.getArgument(1), isExp));
  // Nothing reads it.
  made[2].getDefiningOp()->replaceAllUsesWith(ValueRange{made[3]});
  EXPECT_FALSE(nn::isReadOnlyBy(made[2], isExp));
}

} // namespace
