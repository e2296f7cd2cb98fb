// A plan of kernels is found sound, and each way to break one is named.

#include "passes/Fusion/KernelPlan.h"

#include "dialects/NN/IR/NNDialect.h"
#include "targets/CPU/CPUTarget.h"
#include "targets/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;

namespace {

class KernelPlanTest : public testing::Test {
protected:
  KernelPlanTest() {
    static const bool registered = (registerCPUTarget(), true);
    (void)registered;
    DialectRegistry registry;
    registerTargetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<nn::NNDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(R"(
      func.func @f(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> (tensor<64x32xf32>, tensor<32x64xf32>) {
        %0 = nn.exp %x : tensor<64x32xf32>
        %1 = nn.relu %0 : tensor<64x32xf32>
        %2 = nn.dot %1, %w contract [1] [0] : tensor<64x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
        %3 = nn.dot %2, %w contract [1] [0] : tensor<64x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
        %4 = nn.reshape %3 : tensor<64x32xf32> -> tensor<32x64xf32>
        return %2, %4 : tensor<64x32xf32>, tensor<32x64xf32>
      })",
                                         &context);
    auto function = *module->getOps<func::FuncOp>().begin();
    block = &function.front();
    for (Operation &op : block->without_terminator())
      ops.push_back(&op);
  }

  KernelProblem makeProblem(int64_t maxOps = 8, int64_t recomputedOps = 0) {
    return {*block, *findTarget("cpu"), CodeOptions(), maxOps, recomputedOps};
  }

  std::string refusal(std::vector<KernelOps> kernels) {
    return llvm::toString(KernelPlan{std::move(kernels)}.verify(makeProblem()));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Block *block = nullptr;
  SmallVector<Operation *> ops; // exp, relu, dot, dot, reshape
};

TEST_F(KernelPlanTest, JoinsAndIsSound) {
  KernelProblem problem = makeProblem();
  llvm::Expected<KernelPlan> plan = planKernels(problem);
  ASSERT_TRUE(bool(plan));
  EXPECT_FALSE(bool(plan->verify(problem)));
  ASSERT_EQ(plan->kernels.size(), 4u);
  EXPECT_EQ(plan->kernels[0], (KernelOps{ops[0], ops[1]}));
}

TEST_F(KernelPlanTest, OneOpAKernel) {
  KernelProblem problem = makeProblem(1);
  llvm::Expected<KernelPlan> plan = planKernels(problem);
  ASSERT_TRUE(bool(plan));
  EXPECT_FALSE(bool(plan->verify(problem)));
  EXPECT_EQ(plan->kernels.size(), 5u);
}

TEST_F(KernelPlanTest, RefusesNumbers) {
  EXPECT_EQ(llvm::toString(planKernels(makeProblem(0)).takeError()),
            "a kernel may have 0 ops at most");
  EXPECT_EQ(llvm::toString(planKernels(makeProblem(8, -1)).takeError()),
            "-1 ops may be computed again");
}

TEST_F(KernelPlanTest, EachOpOnce) {
  EXPECT_EQ(refusal({{ops[0], ops[1]}, {ops[2]}, {ops[3]}}), "nn.reshape is in no kernel");
  EXPECT_EQ(refusal({{ops[0], ops[1]}, {ops[1], ops[2]}, {ops[3]}, {ops[4]}}),
            "nn.relu is in kernel 0 and in kernel 1");
  EXPECT_EQ(refusal({{ops[0]}, {}}), "kernel 1 has no ops");
}

TEST_F(KernelPlanTest, OneTiledOpAKernel) {
  EXPECT_EQ(refusal({{ops[0], ops[1]}, {ops[2], ops[3]}, {ops[4]}}),
            "kernel 1 has 2 ops that make their results in tiles");
}

TEST_F(KernelPlanTest, ViewsAreNoPart) {
  EXPECT_EQ(refusal({{ops[0], ops[1]}, {ops[2]}, {ops[3], ops[4]}}),
            "kernel 2 joins nn.reshape, which is no part of a kernel, with 1 "
            "other ops");
}

TEST_F(KernelPlanTest, AfterWhatItReads) {
  EXPECT_EQ(refusal({{ops[1], ops[0]}, {ops[2]}, {ops[3]}, {ops[4]}}),
            "kernel 0 runs nn.relu before what it reads");
  EXPECT_EQ(refusal({{ops[0], ops[1]}, {ops[3]}, {ops[2]}, {ops[4]}}),
            "kernel 1 runs nn.dot before what it reads");
}

} // namespace
