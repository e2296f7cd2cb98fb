// Boxes of transpositions: which lines of memory and which banks of shared memory the threads of a
// block access, and that `verify` refuses each broken plan.

#include "targets/CUDA/Grids/BoxPlan.h"

#include "dialects/NN/IR/NNDialect.h"
#include "targets/CUDA/CUDATarget.h"
#include "targets/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace dpc;

namespace {

class BoxPlanTest : public testing::Test {
protected:
  BoxPlanTest() {
    static const bool registered = (registerCUDATarget(), true);
    (void)registered;
    DialectRegistry registry;
    registerTargetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.loadDialect<nn::NNDialect, func::FuncDialect>();
  }

  /// Plans the kernel with the body `text` on %a of type `operand`, which yields %r of type
  /// `result`.
  void read(const std::string &operand, const std::string &text, const std::string &result) {
    const std::string from = "tensor<" + operand + ">", to = "tensor<" + result + ">";
    module = parseSourceString<ModuleOp>(
        "func.func @f(%x: " + from + ") -> " + to + " {\n%k = nn.kernel(%x : " + from +
            ") {\n^bb0(%a: " + from + "):\n" + text + "\nnn.yield %r : " + to + "\n} -> " + to +
            "\nreturn %k : " + to + "\n}",
        &context);
    ASSERT_TRUE(module);
    module->walk([&](nn::KernelOp kernel) {
      graph = std::move(*KernelGraph::build(kernel, *findTarget("cuda"), true));
    });
    loops = planLoops(*graph, RowPieces::one);
    stage = loops.groups[0].stages[0];
    stage.nest = *nestOf(*graph, stage.roots, {});
    plan = planBoxes(*graph, stage);
  }

  void transpose(const std::string &from, const std::string &permutation, const std::string &to) {
    read(from,
         "%r = nn.transpose %a " + permutation + " : tensor<" + from + "> -> tensor<" + to + ">",
         to);
    ASSERT_TRUE(plan) << from;
    EXPECT_EQ(refusal(), "");
  }

  std::string refusal() { return llvm::toString(plan->verify(stage)); }

  /// The lines of memory that a warp accesses per line that it needs, if neighbours along loop l
  /// have the distance `strides[l]` in elements.
  double countLines(const BoxPlan::Sweep &sweep, ArrayRef<int64_t> strides, int64_t bytes) {
    double lines = 0, fewest = 0;
    for (int64_t first = 0; first < plan->countPieces(sweep); first += 32) {
      std::set<int64_t> touched, wanted;
      for (int64_t piece = first; piece < std::min(plan->countPieces(sweep), first + 32); ++piece)
        for (int64_t n = 0; n < sweep.lanes; ++n) {
          int64_t number = 0;
          for (auto [at, stride] : llvm::zip_equal(plan->locate(sweep, piece, n), strides))
            number += at * stride;
          wanted.insert(number);
          touched.insert(number * bytes / 128);
        }
      lines += double(touched.size());
      fewest += double((int64_t(wanted.size()) * bytes + 127) / 128);
    }
    return lines / fewest;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<KernelGraph> graph;
  LoopPlan loops;
  LoopGroup::Stage stage;
  std::optional<BoxPlan> plan;
};

TEST_F(BoxPlanTest, WarpsAccessFullLinesAndMeetInNoBank) {
  struct Case {
    const char *from, *permutation, *to;
    int64_t lanes, bytes;
  };
  const Case cases[] = {{"8x1024x256xf32", "[0, 2, 1]", "8x256x1024xf32", 4, 4},
                        {"8x1024x256xbf16", "[0, 2, 1]", "8x256x1024xbf16", 8, 2},
                        {"8x1024x256xi64", "[0, 2, 1]", "8x256x1024xi64", 2, 8},
                        {"64x3x224x224xf32", "[0, 2, 3, 1]", "64x224x224x3xf32", 4, 4},
                        {"64x128x3x3xf32", "[0, 2, 3, 1]", "64x3x3x128xf32", 4, 4},
                        {"64x3x3x128xf32", "[0, 3, 1, 2]", "64x128x3x3xf32", 4, 4},
                        {"16x1024x12xf32", "[0, 2, 1]", "16x12x1024xf32", 4, 4}};
  for (const Case &one : cases) {
    transpose(one.from, one.permutation, one.to);
    const auto [passes, fewest] = plan->countWavefronts();
    EXPECT_EQ(passes, fewest) << one.from;
    EXPECT_EQ(plan->stores.lanes, one.lanes) << one.from;
    EXPECT_EQ(plan->gathered[0].sweep.lanes, one.lanes) << one.from;
    SmallVector<int64_t> own(plan->extents.size(), 1);
    for (size_t loop = own.size() - 1; loop-- > 0;)
      own[loop] = own[loop + 1] * plan->extents[loop + 1];
    EXPECT_EQ(countLines(plan->stores, own, one.bytes), 1) << one.from;
    EXPECT_EQ(countLines(plan->gathered[0].sweep, plan->gathered[0].strides, one.bytes), 1)
        << one.from;
  }
}

TEST_F(BoxPlanTest, PiecesFillRows) {
  // Rows of odd length have no pieces.
  transpose("3x40x130xf32", "[0, 2, 1]", "3x130x40xf32");
  EXPECT_EQ(plan->gathered[0].sweep.lanes, 2);
  transpose("1000x333xf32", "[1, 0]", "333x1000xf32");
  EXPECT_EQ(plan->gathered[0].sweep.lanes, 1);
  // The wider type decides.
  read("128x256xf32",
       "%t = nn.transpose %a [1, 0] : tensor<128x256xf32> -> tensor<256x128xf32>"
       "%r = nn.convert %t : tensor<256x128xf32> -> tensor<256x128xbf16>",
       "256x128xbf16");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->stores.lanes, 4);
}

TEST_F(BoxPlanTest, OnlyWhereTheInnermostDimensionMoves) {
  read("64x32x64xf32",
       "%r = nn.transpose %a [1, 0, 2] : tensor<64x32x64xf32> -> tensor<32x64x64xf32>",
       "32x64x64xf32");
  EXPECT_FALSE(plan);
  read("15x16xf32", "%r = nn.transpose %a [1, 0] : tensor<15x16xf32> -> tensor<16x15xf32>",
       "16x15xf32");
  EXPECT_FALSE(plan);
  // A dimension of 1 does not count.
  read("1x1000xf32", "%r = nn.transpose %a [1, 0] : tensor<1x1000xf32> -> tensor<1000x1xf32>",
       "1000x1xf32");
  EXPECT_FALSE(plan);
}

TEST_F(BoxPlanTest, VerifyFindsBrokenPlans) {
  transpose("8x1024x256xf32", "[0, 2, 1]", "8x256x1024xf32");
  const BoxPlan sound = *plan;
  auto broken = [&](llvm::function_ref<void(BoxPlan &)> change) {
    plan = sound;
    change(*plan);
    return refusal();
  };
  EXPECT_EQ(broken([](BoxPlan &p) { p.gathered.clear(); }), "boxes of 3 loops gather 0 values");
  EXPECT_EQ(broken([](BoxPlan &p) { p.box[0] = 9; }), "a box has 9 of 8 iterations");
  EXPECT_EQ(broken([](BoxPlan &p) { p.stores.outer = 3; }),
            "a sweep over 3 loops has 3, 3 of them outside");
  EXPECT_EQ(broken([](BoxPlan &p) { p.stores.outer = 1; }),
            "a run goes on after 32 of 1024 iterations");
  EXPECT_EQ(broken([](BoxPlan &p) { p.stores.lanes = 5; }),
            "pieces of 5 do not fill runs of 32 of 1024 elements");
  EXPECT_EQ(broken([](BoxPlan &p) { p.stores = p.gathered[0].sweep; }),
            "results are not stored in their order");
  EXPECT_EQ(broken([](BoxPlan &p) { p.gathered[0].strides[0] = 1; }),
            "a gathered value has not the strides of its transposition");
  EXPECT_EQ(broken([](BoxPlan &p) { p.gathered[0].sweep = p.stores; }),
            "a run has neighbours at a distance of 256");
  EXPECT_EQ(broken([](BoxPlan &p) { p.gathered[0].steps[1] = 0; }),
            "two elements of a box have one slot");
  EXPECT_EQ(broken([](BoxPlan &p) { p.gathered[0].steps[1] = 1 << 11; }),
            "boxes have 517200 bytes of shared memory");
}

} // namespace
