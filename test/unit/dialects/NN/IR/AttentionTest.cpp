// Gradients of attention where logSumExp cannot say how many keys there are, or
// where there are none.

#include "test/unit/dialects/NN/IR/BlockInterpreter.h"

#include "dialects/NN/IR/Attention.h"

#include <gtest/gtest.h>

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

// A finite number that masks all keys leaves them equal weights, and a quarter
// of the gradient each.
TEST(AttentionTest, HiddenRowsHaveEqualWeightsInTheGradient) {
  MLIRContext context;
  loadDialects(context);
  OwningOpRef<ModuleOp> module =
      parseFunction(context,
                    "%m = nn.constant dense<-1.0e+30> : tensor<4xf64> "
                    "%y, %l = nn.attention %a, %b, %c mask %m [1] rows 0 scale 0.5 : "
                    "tensor<1x2xf64>, tensor<4x2xf64>, tensor<4x3xf64>, tensor<4xf64> -> "
                    "tensor<1x3xf64>, tensor<1xf64> "
                    "nn.attention_grad %a, %b, %c, %l, %d, %e mask %m [1] rows 0 scale 0.5 : "
                    "tensor<1x2xf64>, tensor<4x2xf64>, tensor<4x3xf64>, tensor<1xf64>, "
                    "tensor<1xf64>, tensor<1x3xf64>, tensor<4xf64> -> tensor<1x2xf64>, "
                    "tensor<4x2xf64>, tensor<4x3xf64>",
                    {{"1x2xf64"}, {"4x2xf64"}, {"4x3xf64"}, {"1xf64"}, {"1x3xf64"}});
  ASSERT_TRUE(module);
  Block &block = functionOf(*module).getBody().front();
  auto op = cast<nn::AttentionGradOp>(block.getTerminator()->getPrevNode());
  BlockInterpreter machine;
  BlockInterpreter::Values values;
  std::mt19937 random(1);
  for (Value argument : block.getArguments())
    values[argument] = randomTensor(argument.getType(), -1, 1, random);
  ASSERT_TRUE(succeeded(machine.run(block, values)));
  const HostTensor dv = values.lookup(op.getDv()), g = values.lookup(op.getResultGrad());
  for (int64_t key = 0; key < 4; ++key)
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_DOUBLE_EQ(dv.floats[key * 3 + i], g.floats[i] / 4);
}

// Where nothing is visible a guarded attention gives 0, whatever the mask is:
// so the mask's gradient is 0 there, not NaN.
TEST(AttentionTest, MaskThatHidesAllHasNoGradientUnderAGuard) {
  MLIRContext context;
  loadDialects(context);
  OwningOpRef<ModuleOp> module =
      parseFunction(context,
                    "nn.attention %a, %b, %c mask %d [0, 1] rows 0 scale 0.5 guarded : "
                    "tensor<2x2xf64>, tensor<3x2xf64>, tensor<3x2xf64>, tensor<2x3xf64> -> "
                    "tensor<2x2xf64>, tensor<2xf64>",
                    {{"2x2xf64"}, {"3x2xf64"}, {"3x2xf64"}, {"2x3xf64"}});
  ASSERT_TRUE(module);
  Block &block = functionOf(*module).getBody().front();
  auto op = cast<nn::AttentionOp>(block.getTerminator()->getPrevNode());
  Value gradient = block.addArgument(op.getResult().getType(), op.getLoc());
  OpBuilder builder(block.getTerminator());
  SmallVector<Value> grads(4);
  ASSERT_TRUE(
      succeeded(op.buildVjp(builder, {gradient, Value()}, {true, true, true, true}, grads)));
  BlockInterpreter::Values values;
  std::mt19937 random(1);
  for (Value argument : block.getArguments())
    values[argument] = randomTensor(argument.getType(), -1, 1, random);
  const double hidden = -std::numeric_limits<double>::infinity();
  values[op.getMask()] = tensorOf(op.getMask().getType(), {hidden, hidden, hidden, 0, 1, hidden});
  ASSERT_TRUE(succeeded(BlockInterpreter().run(block, values)));
  const std::vector<double> ofMask = values.lookup(grads[3]).floats;
  for (int64_t i : {0, 1, 2, 5})
    EXPECT_EQ(ofMask[i], 0) << i;
  EXPECT_NE(ofMask[3], 0);
  EXPECT_NEAR(ofMask[3] + ofMask[4], 0, 1e-15);
}
