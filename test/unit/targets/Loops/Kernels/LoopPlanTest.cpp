// A plan of loops is found sound, and each way to break one is named.

#include "targets/Loops/Kernels/LoopPlan.h"

#include "dialects/NN/IR/NNDialect.h"
#include "targets/CPU/CPUTarget.h"
#include "targets/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;

namespace {

/// The rows of a tensor over the largest of each, then a sum over all.
class LoopPlanTest : public testing::Test {
protected:
  LoopPlanTest() {
    static const bool registered = (registerCPUTarget(), true);
    (void)registered;
    DialectRegistry registry;
    registerTargetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.loadDialect<nn::NNDialect, func::FuncDialect>();
    read(R"(
      func.func @f(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>) {
        %0:3 = nn.kernel(%x : tensor<8x16xf32>) {
        ^bb0(%a: tensor<8x16xf32>):
          %1 = nn.reduce max %a [1] : tensor<8x16xf32> -> tensor<8xf32>
          %2 = nn.broadcast %1 [0] : tensor<8xf32> -> tensor<8x16xf32>
          %3 = nn.sub %a, %2 : tensor<8x16xf32>
          %4 = nn.reduce sum %3 [0] : tensor<8x16xf32> -> tensor<16xf32>
          nn.yield %3, %1, %4 : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
        } -> tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
        return %0#0, %0#1, %0#2 : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>
      })");
  }

  void read(const char *text) {
    module = parseSourceString<ModuleOp>(text, &context);
    module->walk([&](nn::KernelOp kernel) {
      graph = std::move(*KernelGraph::build(kernel, *findTarget("cpu"), true));
    });
    plan = planLoops(*graph, RowPieces::several);
  }

  std::string refusal() { return llvm::toString(plan.verify(*graph)); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<KernelGraph> graph;
  LoopPlan plan;
};

TEST_F(LoopPlanTest, RowsShareALoop) {
  EXPECT_EQ(refusal(), "");
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(plan.groups[0].rows.count, 8);
  ASSERT_EQ(plan.groups[0].stages.size(), 2u);
  EXPECT_TRUE(plan.groups[1].isFilled);
}

// A channel of a batch is a row of several pieces, one per sample.
TEST_F(LoopPlanTest, RowsOfPiecesShareALoop) {
  read(R"(
    func.func @f(%x: tensor<4x3x100xf32>) -> (tensor<4x3x100xf32>, tensor<3xf32>) {
      %0:2 = nn.kernel(%x : tensor<4x3x100xf32>) {
      ^bb0(%a: tensor<4x3x100xf32>):
        %1 = nn.reduce sum %a [0, 2] : tensor<4x3x100xf32> -> tensor<3xf32>
        %2 = nn.broadcast %1 [1] : tensor<3xf32> -> tensor<4x3x100xf32>
        %3 = nn.sub %a, %2 : tensor<4x3x100xf32>
        nn.yield %3, %1 : tensor<4x3x100xf32>, tensor<3xf32>
      } -> tensor<4x3x100xf32>, tensor<3xf32>
      return %0#0, %0#1 : tensor<4x3x100xf32>, tensor<3xf32>
    })");
  EXPECT_EQ(refusal(), "");
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].rows, (LoopRows{3, 4}));
  ASSERT_EQ(plan.groups[0].stages.size(), 2u);
  EXPECT_EQ(plan.groups[0].stages[1].nest.extents, (SmallVector<int64_t>{4, 100}));
  EXPECT_EQ(plan.groups[0].stages[1].nest.around, 1u);
  plan.groups[0].rows.pieces = 7;
  EXPECT_EQ(refusal(), "stage 1 of group 0 has 1200 elements in 3 rows of 7 pieces");
  // The rows of a sample are complete before the sum over a channel is.
  plan.groups[0].rows = {4, 3};
  EXPECT_NE(refusal(), "");
  plan = planLoops(*graph, RowPieces::one);
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(plan.groups.size(), 2u);
}

TEST_F(LoopPlanTest, EachRootOnce) {
  LoopPlan whole = plan;
  plan.groups.pop_back();
  EXPECT_EQ(refusal(), "nn.reduce is in no group");
  plan = whole;
  plan.groups.push_back(plan.groups[1]);
  EXPECT_EQ(refusal(), "nn.reduce is in group 1 and in group 2");
}

TEST_F(LoopPlanTest, AfterWhatItReads) {
  std::swap(plan.groups[0], plan.groups[1]);
  EXPECT_EQ(refusal(), "stage 0 of group 0 reads what stage 1 of group 1 makes");
  std::swap(plan.groups[0], plan.groups[1]);
  // The largest of a row is not there yet when it is read.
  std::swap(plan.groups[0].stages[0], plan.groups[0].stages[1]);
  EXPECT_EQ(refusal(), "stage 0 of group 0 reads what stage 1 of group 0 makes");
}

TEST_F(LoopPlanTest, RowsDivideElements) {
  plan.groups[0].rows.count = 3;
  EXPECT_EQ(refusal(), "stage 0 of group 0 has 8 elements in 3 rows of 1 pieces");
  plan.groups[0].rows.count = 0;
  EXPECT_EQ(refusal(), "group 0 has 0 rows of 1 pieces");
}

TEST_F(LoopPlanTest, LoopsThatCanBeShared) {
  // A row of the second stage reads a column of the first.
  read(R"(
    func.func @f(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
      %0:2 = nn.kernel(%x : tensor<8x8xf32>) {
      ^bb0(%a: tensor<8x8xf32>):
        %1 = nn.exp %a : tensor<8x8xf32>
        %2 = nn.transpose %1 [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
        %3 = nn.sub %a, %2 : tensor<8x8xf32>
        nn.yield %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
      } -> tensor<8x8xf32>, tensor<8x8xf32>
      return %0#0, %0#1 : tensor<8x8xf32>, tensor<8x8xf32>
    })");
  EXPECT_EQ(refusal(), "");
  ASSERT_EQ(plan.groups.size(), 2u);
  plan.groups[0].rows.count = 8;
  plan.groups[0].stages.push_back(plan.groups[1].stages[0]);
  plan.groups.pop_back();
  EXPECT_EQ(refusal(), "the stages of group 0 cannot share loops");
}

TEST_F(LoopPlanTest, StagesOfOneKind) {
  LoopPlan whole = plan;
  plan.groups[0].isFilled = true;
  EXPECT_EQ(refusal(), "nn.reduce is in stage 0 of group 0, which is one op's own");
  plan = whole;
  plan.groups[1].isFilled = false;
  EXPECT_EQ(refusal(), "nn.reduce is in stage 0 of group 1, which is a loop");
  plan = whole;
  plan.groups[0].stages[0].roots.push_back(plan.groups[0].stages[1].roots[0]);
  EXPECT_EQ(refusal(), "nn.sub has 128 elements in a stage of 8");
  plan.groups[0].stages[0].roots.clear();
  EXPECT_EQ(refusal(), "stage 0 of group 0 has no roots");
  plan.groups[0].stages.clear();
  EXPECT_EQ(refusal(), "group 0 has no stages");
}

} // namespace
