// Tests which threads run which loops of a kernel, and that `verify` refuses each broken
// plan of launches.

#include "targets/CUDA/Grids/LaunchPlan.h"

#include "dialects/NN/IR/NNDialect.h"
#include "dpc/calls.h"
#include "dpc/convolution.h"
#include "dpc/product.h"
#include "targets/CUDA/CUDATarget.h"
#include "targets/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace mlir;
using namespace dpc;

namespace {

class LaunchPlanTest : public testing::Test {
protected:
  LaunchPlanTest() {
    static const bool registered = (registerCUDATarget(), true);
    (void)registered;
    DialectRegistry registry;
    registerTargetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.loadDialect<nn::NNDialect, func::FuncDialect>();
  }

  /// The kernel with the body `text` on %a of `type`, which yields %r of
  /// `result`.
  void read(const std::string &type, const std::string &text, const std::string &result) {
    const std::string operand = "tensor<" + type + "xf32>", made = "tensor<" + result + "f32>";
    module = parseSourceString<ModuleOp>(
        "func.func @f(%x: " + operand + ") -> " + made + " {\n%k = nn.kernel(%x : " + operand +
            ") {\n^bb0(%a: " + operand + "):\n" + text + "\nnn.yield %r : " + made + "\n} -> " +
            made + "\nreturn %k : " + made + "\n}",
        &context);
    ASSERT_TRUE(module);
    module->walk([&](nn::KernelOp kernel) {
      graph = std::move(*KernelGraph::build(kernel, *findTarget("cuda"), true));
    });
    plan = planLaunches(*graph, planLoops(*graph, RowPieces::one));
    EXPECT_EQ(refusal(), "");
  }

  /// The exponentials of the rows of a tensor over their sum.
  void readRows(int rows, int columns) {
    const std::string shape = std::to_string(rows) + "x" + std::to_string(columns),
                      row = "tensor<" + std::to_string(rows) + "xf32>",
                      all = "tensor<" + shape + "xf32>";
    read(shape,
         "%e = nn.exp %a : " + all + "%s = nn.reduce sum %e [1] : " + all + " -> " + row +
             "%b = nn.broadcast %s [0] : " + row + " -> " + all + "%r = nn.div %e, %b : " + all,
         shape + "x");
  }

  std::string refusal(const LaunchPlanOptions &options = {}) {
    return llvm::toString(plan.verify(*graph, options));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<KernelGraph> graph;
  LaunchPlan plan;
};

using Kind = Launch::Kind;

TEST_F(LaunchPlanTest, AThreadAnElement) {
  read("1000", "%r = nn.exp %a : tensor<1000xf32>", "1000x");
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].kind, Kind::elements);
  EXPECT_EQ(plan.launches[0].blocks, 4);
  EXPECT_EQ(plan.launches[0].threads, 256);
}

TEST_F(LaunchPlanTest, ABlockALongSum) {
  read("7x300", "%r = nn.reduce sum %a [1] : tensor<7x300xf32> -> tensor<7xf32>", "7x");
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].blocks, 7);
  EXPECT_EQ(plan.launches[0].threads, 96); // each adds up four neighbours
  EXPECT_EQ(plan.launches[0].getPieces(0).terms, 4);
  // Of very many, each thread makes one if neighbouring threads read neighbours.
  read("300x70000", "%r = nn.reduce sum %a [0] : tensor<300x70000xf32> -> tensor<70000xf32>",
       "70000x");
  EXPECT_EQ(plan.launches[0].kind, Kind::elements);
}

TEST_F(LaunchPlanTest, AWarpASumOfNeighbours) {
  auto shape = [&](const char *text) {
    read("70000x300", std::string(text), "70000x");
    return std::make_pair(plan.launches[0].kind, plan.launches[0].getThreadsOfTeam());
  };
  EXPECT_EQ(shape("%r = nn.reduce sum %a [1] : tensor<70000x300xf32> -> tensor<70000xf32>"),
            std::make_pair(Kind::results, int64_t(32)));
  // A product is computed where it is read.
  EXPECT_EQ(shape("%p = nn.mul %a, %a : tensor<70000x300xf32> "
                  "%r = nn.reduce sum %p [1] : tensor<70000x300xf32> -> tensor<70000xf32>"),
            std::make_pair(Kind::results, int64_t(32)));
  // A sum that keeps its order is one thread's.
  LaunchPlanOptions ordered;
  ordered.keepsOrder = true;
  EXPECT_EQ(planLaunches(*graph, planLoops(*graph, RowPieces::one), ordered).launches[0].kind,
            Kind::elements);
  // The terms of a transposed tensor are no neighbours, and sums of few terms need no warp.
  read("300x70000",
       "%t = nn.transpose %a [1, 0] : tensor<300x70000xf32> -> tensor<70000x300xf32> "
       "%r = nn.reduce sum %t [1] : tensor<70000x300xf32> -> tensor<70000xf32>",
       "70000x");
  EXPECT_EQ(plan.launches[0].kind, Kind::elements);
  read("70000x30", "%r = nn.reduce sum %a [1] : tensor<70000x30xf32> -> tensor<70000xf32>",
       "70000x");
  EXPECT_EQ(plan.launches[0].kind, Kind::elements);
}

TEST_F(LaunchPlanTest, OrderedSumsOverColumns) {
  // A block shares a few terms of neighbouring results among its threads, and writes no partial
  // sums. A sum that keeps its order is one thread's: there is one launch too, of other blocks.
  read("128x200", "%r = nn.reduce sum %a [0] : tensor<128x200xf32> -> tensor<200xf32>", "200x");
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].blocks, 7);
  LaunchPlanOptions ordered;
  ordered.keepsOrder = true;
  plan = planLaunches(*graph, planLoops(*graph, RowPieces::one), ordered);
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].blocks, 1);
  EXPECT_EQ(refusal(ordered), "");
  EXPECT_EQ(refusal(), "launch 0 has 1 blocks of 256 threads, not 7 of 256");
}

TEST_F(LaunchPlanTest, ABlockARow) {
  readRows(100, 500);
  ASSERT_EQ(plan.launches.size(), 1u);
  const Launch &launch = plan.launches[0];
  EXPECT_EQ(launch.kind, Kind::rows);
  EXPECT_EQ(launch.blocks, 100);
  EXPECT_EQ(launch.threads, 128); // each has four neighbours
  ASSERT_EQ(launch.together.size(), launch.group.stages.size());
  // The sum of a row is made by all threads.
  for (auto [isTogether, stage] : llvm::zip_equal(launch.together, launch.group.stages))
    EXPECT_EQ(isTogether, stage.getElements() == 100);
}

// A thread computes as many neighbours as make 16 bytes of the widest tensor.
TEST_F(LaunchPlanTest, NeighboursMakeWideAccesses) {
  auto elements = [&](const char *shape, const std::string &text, const char *extents) {
    read(shape, text, extents);
    return plan.launches[0].getPieces(0).elements;
  };
  EXPECT_EQ(elements("1024x1024", "%r = nn.exp %a : tensor<1024x1024xf32>", "1024x1024x"), 4);
  EXPECT_EQ(plan.launches[0].blocks * plan.launches[0].threads, 1024 * 1024 / 4);
  // All pieces are complete, and enough threads are left.
  EXPECT_EQ(elements("1024x1023", "%r = nn.exp %a : tensor<1024x1023xf32>", "1024x1023x"), 4);
  EXPECT_EQ(elements("1023x1023", "%r = nn.exp %a : tensor<1023x1023xf32>", "1023x1023x"), 1);
  EXPECT_EQ(elements("64x1024", "%r = nn.exp %a : tensor<64x1024xf32>", "64x1024x"), 1);
}

// Where a pad makes rows longer, pieces end at the end of its operand.
TEST_F(LaunchPlanTest, PiecesOfPaddedRows) {
  const std::string rows = "tensor<100x501xf32>", all = "tensor<100x504xf32>";
  auto pad = [&](const std::string &value) {
    return "%z = nn.constant dense<0.0> : tensor<f32> %r = nn.pad " + value +
           ", %z low [0, 0] high [0, 3] interior [0, 0] : " + rows + ", tensor<f32> -> " + all;
  };
  read("100x501",
       "%m = nn.reduce max %a [1] : " + rows +
           " -> tensor<100xf32> %b = nn.broadcast %m [0] : tensor<100xf32> -> " + rows +
           "%d = nn.sub %a, %b : " + rows + pad("%d"),
       "100x504x");
  ASSERT_EQ(plan.launches.size(), 1u);
  Launch::Pieces &pieces = plan.launches[0].pieces.back();
  EXPECT_EQ(pieces.elements, 4);
  EXPECT_EQ(pieces.end, 500);
  pieces.end = 501;
  EXPECT_EQ(refusal(), "launch 0 has pieces of 4 elements and 1 terms");
  // Without rows, all pieces are alike.
  read("100x501", pad("%a"), "100x504x");
  EXPECT_EQ(plan.launches[0].getPieces(0).elements, 1);
  EXPECT_FALSE(plan.launches[0].getPieces(0).end);
}

// Parts of warps do many reductions of few terms: each of 16 threads adds up 4 neighbours.
TEST_F(LaunchPlanTest, TermsOfOddPlanesAreSingle) {
  auto termsOf = [&](const std::string &plane) {
    read("64x2048x" + plane,
         "%r = nn.reduce sum %a [0, 2, 3] : tensor<64x2048x" + plane + "xf32> -> tensor<2048xf32>",
         "2048x");
    EXPECT_EQ(plan.launches[0].kind, Kind::results);
    return plan.launches[0].getPieces(0).terms;
  };
  // Planes of 49 elements begin anywhere, those of 14 x 14 at multiples of 16 bytes.
  EXPECT_EQ(termsOf("7x7"), 1);
  EXPECT_EQ(plan.launches[0].residentBlocks, 1);
  EXPECT_EQ(termsOf("14x14"), 4);
  EXPECT_EQ(plan.launches[0].residentBlocks, 0);
  EXPECT_EQ(termsOf("7x14"), 2);
}

// Terms that are computed from windows along the innermost dimension are single: their loads would
// be far apart in a warp.
TEST_F(LaunchPlanTest, TermsOfWindowsAreSingle) {
  auto termsOf = [&](const std::string &kernel, const std::string &pad) {
    const std::string planes = "tensor<64x2048x14x14xf32>";
    read("64x2048x14x14",
         "%p = nn.sum_pool %a kernel " + kernel + " strides [1, 1] padLow " + pad + " padHigh " +
             pad + " dilations [1, 1] : " + planes + " -> " + planes +
             " %r = nn.reduce sum %p [0, 2, 3] : " + planes + " -> tensor<2048xf32>",
         "2048x");
    return plan.launches[0].getPieces(0).terms;
  };
  EXPECT_EQ(termsOf("[1, 3]", "[0, 1]"), 1);
  EXPECT_EQ(termsOf("[3, 1]", "[1, 0]"), 4);
}

TEST_F(LaunchPlanTest, NumbersPerColumnAreReadOnceForSeveralRows) {
  auto readScaled = [&](const std::string &rows) {
    const std::string type = "tensor<" + rows + "x64xf32>";
    read(rows + "x64",
         "%b = nn.slice %a starts [0, 0] limits [1, 64] strides [1, 1] : " + type +
             " -> tensor<1x64xf32> %s = nn.reshape %b : tensor<1x64xf32> -> tensor<64xf32>"
             "%n = nn.reduce max %a [0] : " +
             type +
             " -> tensor<64xf32>"
             "%t = nn.add %n, %s : tensor<64xf32> %w = nn.broadcast %t [1] : tensor<64xf32> -> " +
             type + "%r = nn.mul %a, %w : " + type,
         rows + "x64x");
    return plan.launches.back().getPieces(0).rows;
  };
  EXPECT_EQ(readScaled("65536"), 8);
  EXPECT_EQ(plan.launches.back().kind, Kind::elements);
  EXPECT_EQ(plan.launches.back().blocks, 65536 * 64 / 4 / 8 / 256);
  plan.launches.back().pieces[0].rows = 3;
  EXPECT_NE(refusal().find("has pieces of 3 rows"), std::string::npos) << refusal();
  // The rows must be divisible, and enough threads must be left.
  EXPECT_EQ(readScaled("65538"), 2);
  EXPECT_EQ(readScaled("16384"), 4);
}

TEST_F(LaunchPlanTest, TeamsDoManyReductions) {
  const std::string all = "tensor<5001x64xf32>", row = "tensor<5001xf32>",
                    square = "%m = nn.mul %a, %a : " + all;
  read("5001x64", square + "%r = nn.reduce sum %m [1] : " + all + " -> " + row, "5001x");
  ASSERT_EQ(plan.launches.size(), 1u);
  const Launch launch = plan.launches[0];
  EXPECT_EQ(launch.kind, Kind::results);
  EXPECT_EQ(launch.threads, 256);
  EXPECT_EQ(launch.teams, 16);
  EXPECT_EQ(launch.getThreadsOfTeam(), 16);
  EXPECT_EQ(launch.getPieces(0).terms, 4);
  EXPECT_EQ(launch.blocks, 313); // the last one has nine elements
  plan.launches[0].blocks = 312;
  EXPECT_EQ(refusal(), "launch 0 has 312 blocks for 5001 elements");
  plan.launches[0].blocks = 1251;
  plan.launches[0].teams = 4;
  EXPECT_EQ(refusal(), "launch 0 of 256 threads has 4 teams");
  // Fewer reductions have a block each, and so have those that others read where they are computed.
  read("4000x64",
       "%m = nn.mul %a, %a : tensor<4000x64xf32> %r = nn.reduce sum %m [1] : tensor<4000x64xf32> "
       "-> tensor<4000xf32>",
       "4000x");
  EXPECT_EQ(plan.launches[0].teams, 1);
  read("5001x64",
       square + "%s = nn.reduce sum %m [1] : " + all + " -> " + row + "%r = nn.exp %s : " + row,
       "5001x");
  EXPECT_EQ(plan.launches[0].kind, Kind::results);
  EXPECT_EQ(plan.launches[0].teams, 1);
}

// So it does with neighbouring sums and windows, unless the terms of one of them are the
// neighbours. If other ops move the sums, LLVM must unroll the loops over their terms, so there
// must be few.
TEST_F(LaunchPlanTest, NeighbouringSums) {
  auto elements = [&](const std::string &shape, const std::string &op, const std::string &result) {
    const std::string all = "tensor<" + shape + "xf32>";
    read(shape,
         "%e = nn.exp %a : " + all + "%r = nn." + op + " : " + all + " -> tensor<" + result +
             "xf32>",
         result + "x");
    return plan.launches[0].getPieces(0).elements;
  };
  EXPECT_EQ(elements("16x1048576", "reduce sum %e [0]", "1048576"), 4);
  EXPECT_EQ(elements("49x1048576", "reduce sum %e [0]", "1048576"), 4);
  EXPECT_EQ(elements("49x16384", "reduce sum %e [0]", "16384"), 1);
  for (auto [terms, pieces] : {std::pair(16, 4), std::pair(17, 1)}) {
    const std::string all = "tensor<" + std::to_string(terms) + "x1048576xf32>";
    read(std::to_string(terms) + "x1048576",
         "%e = nn.reduce sum %a [0] : " + all +
             " -> tensor<1048576xf32> "
             "%r = nn.reverse %e [0] : tensor<1048576xf32>",
         "1048576x");
    EXPECT_EQ(plan.launches.back().getPieces(0).elements, pieces);
  }
  auto pool = [](int last) {
    return "max_pool %e kernel [2, " + std::to_string(last) + "] strides [2, 1] padLow [0, 0] " +
           "padHigh [0, 0] dilations [1, 1]";
  };
  EXPECT_EQ(elements("1x1x128x16384", pool(1), "1x1x64x16384"), 4);
  EXPECT_EQ(elements("1x1x128x16385", pool(2), "1x1x64x16384"), 1);
  EXPECT_EQ(elements("1048576x4", "reduce sum %e [1]", "1048576"), 1);
  EXPECT_EQ(elements("1x1x2097152",
                     "max_pool %e kernel [2] strides [2] padLow [0] padHigh [0] dilations [1]",
                     "1x1x1048576"),
            1);
}

// The stages of a softmax read a row three times.
TEST_F(LaunchPlanTest, LongRowsAreCopiedToSharedMemory) {
  auto readSoftmax = [&](int columns, int64_t mostSharedBytes) {
    const std::string shape = "128x" + std::to_string(columns), all = "tensor<" + shape + "xf32>";
    read(shape,
         "%m = nn.reduce max %a [1] : " + all + " -> tensor<128xf32> %n = nn.broadcast %m [0] : " +
             "tensor<128xf32> -> " + all + "%d = nn.sub %a, %n : " + all +
             "%e = nn.exp %d : " + all + "%s = nn.reduce sum %e [1] : " + all +
             " -> tensor<128xf32> %b = nn.broadcast %s [0] " + ": tensor<128xf32> -> " + all +
             "%r = nn.div %e, %b : " + all,
         shape + "x");
    LaunchPlanOptions options;
    options.mostSharedBytes = mostSharedBytes;
    plan = planLaunches(*graph, planLoops(*graph, RowPieces::one), options);
    EXPECT_EQ(llvm::toString(plan.verify(*graph, options)), "");
    return plan.launches[0].getCopiedBytes();
  };
  const int64_t most = 227 * 1024;
  EXPECT_EQ(readSoftmax(50257, most), 201040); // rounded up to 16 bytes
  EXPECT_EQ(plan.launches[0].threads, 1024);   // the only block of a multiprocessor
  EXPECT_EQ(readSoftmax(25000, most), 100000);
  EXPECT_EQ(plan.launches[0].threads, 512);
  // Rows that a cache holds, rows that do not fit, and devices that allow nothing.
  EXPECT_EQ(readSoftmax(8191, most), 0);
  EXPECT_EQ(readSoftmax(8192, most), 32768);
  EXPECT_EQ(readSoftmax(50257, 99 * 1024), 0);
  EXPECT_EQ(readSoftmax(50257, 0), 0);
  EXPECT_EQ(plan.launches[0].threads, 256);
  // A row that is read once is not copied, also if an index tensor picks elements of it.
  LaunchPlanOptions options;
  options.mostSharedBytes = most;
  read("128x20000",
       "%s = nn.reduce sum %a [1] : tensor<128x20000xf32> -> tensor<128xf32> %b = nn.broadcast %s "
       "[0] : tensor<128xf32> -> tensor<128x20000xf32> %r = nn.exp %b : tensor<128x20000xf32>",
       "128x20000x");
  plan = planLaunches(*graph, planLoops(*graph, RowPieces::one), options);
  EXPECT_EQ(plan.launches[0].kind, Kind::rows);
  EXPECT_EQ(plan.launches[0].getCopiedBytes(), 0);

  read("128x20000",
       "%i = nn.constant dense<3> : tensor<128x1xi64> %g = nn.gather_elements %a, %i dim 1 : "
       "tensor<128x20000xf32>, tensor<128x1xi64> -> tensor<128x1xf32> %h = nn.reshape %g : "
       "tensor<128x1xf32> -> tensor<128xf32> %m = nn.reduce max %a [1] : tensor<128x20000xf32> -> "
       "tensor<128xf32> %r = nn.sub %m, %h : tensor<128xf32>",
       "128x");
  plan = planLaunches(*graph, planLoops(*graph, RowPieces::one), options);
  for (const Launch &launch : plan.launches)
    EXPECT_EQ(launch.getCopiedBytes(), 0);

  // Two sums of a row are in no loop over rows, unless they copy it.
  for (const int64_t allowed : {int64_t(0), most}) {
    read("128x20000",
         "%m = nn.reduce max %a [1] : tensor<128x20000xf32> -> tensor<128xf32> %s = nn.reduce sum "
         "%a [1] : tensor<128x20000xf32> -> tensor<128xf32> %r = nn.add %m, %s : tensor<128xf32>",
         "128x");
    options.mostSharedBytes = allowed;
    plan = planLaunches(*graph, planLoops(*graph, RowPieces::one), options);
    EXPECT_EQ(llvm::toString(plan.verify(*graph, options)), "");
    EXPECT_EQ(plan.launches[0].kind, allowed ? Kind::rows : Kind::results);
    EXPECT_EQ(plan.launches[0].getCopiedBytes(), allowed ? 80000 : 0);
  }

  readSoftmax(50257, most);
  auto refused = [&] { return llvm::toString(plan.verify(*graph, options)); };
  options.mostSharedBytes = 201040;
  EXPECT_EQ(refused(), "launch 0 copies rows, and has 203088 bytes of shared memory, of 201040");
  options.mostSharedBytes = most;
  plan.launches[0].copied[0] = graph->getRoots()[0]->getResult(0);
  EXPECT_EQ(refused(), "launch 0 copies rows of 4 bytes that its loops do not stay in");
}

TEST_F(LaunchPlanTest, AThreadAShortRow) {
  readRows(1000, 4);
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].kind, Kind::elements);
  EXPECT_EQ(plan.launches[0].group.rows.count, 1000);
  EXPECT_EQ(plan.launches[0].blocks, 4);
}

TEST_F(LaunchPlanTest, FewLongRowsByStage) {
  readRows(2, 9000);
  ASSERT_GT(plan.launches.size(), 1u);
  for (const Launch &launch : plan.launches) {
    EXPECT_EQ(launch.group.rows.count, 1);
    EXPECT_EQ(launch.group.stages.size(), 1u);
  }
}

// A block a tile of a product, and in it what is elementwise over the product;
// few tiles are made smaller, so that there are more.
TEST_F(LaunchPlanTest, ABlockATile) {
  read("300x300",
       "%p = nn.dot %a, %a contract [1] [0] : tensor<300x300xf32>, "
       "tensor<300x300xf32> -> tensor<300x300xf32> %r = nn.exp %p : tensor<300x300xf32>",
       "300x300x");
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].kind, Kind::tiles);
  EXPECT_EQ(plan.launches[0].group.stages.size(), 2u);
  EXPECT_EQ(plan.launches[0].blocks, 100);
  EXPECT_EQ(plan.launches[0].threads, 256);
  plan.launches[0].blocks = 99;
  EXPECT_EQ(refusal(), "launch 0 has 99 blocks of 256 threads, not 100 of 256");
  plan.launches[0].kind = Kind::results;
  EXPECT_EQ(refusal(), "launch 0 of nn.dot is not one of tiles");
}

// A few long sums: many blocks share the terms of each, and a block adds up what
// they have made. So have columns, whose neighbours are read together.
TEST_F(LaunchPlanTest, SumsInParts) {
  read("3x100000", "%r = nn.reduce sum %a [1] : tensor<3x100000xf32> -> tensor<3xf32>", "3x");
  ASSERT_EQ(plan.launches.size(), 2u);
  for (auto [number, launch] : llvm::enumerate(plan.launches)) {
    EXPECT_EQ(launch.kind, Kind::tiles);
    EXPECT_EQ(launch.phase.number, number);
    EXPECT_EQ(launch.phase.count, 2u);
    EXPECT_EQ(launch.threads, 256);
  }
  EXPECT_EQ(plan.launches[0].blocks, 3 * 24); // 16 terms a thread or more
  EXPECT_EQ(plan.launches[1].blocks, 3);

  const LaunchPlan whole = plan;
  plan.launches[1].phase.number = 0;
  EXPECT_EQ(refusal(), "launch 1 has 3 blocks of 256 threads, not 72 of 256");
  plan = whole;
  plan.launches[1].phase.count = 3;
  EXPECT_EQ(refusal(), "launch 1 is number 1 of 3, where 2 are wanted");
  plan = whole;
  plan.launches.erase(plan.launches.begin());
  EXPECT_EQ(refusal(), "launch 0 does not follow the one that it goes on with");
  plan = whole;
  plan.launches[0].blocks = 71;
  EXPECT_EQ(refusal(), "launch 0 has 71 blocks of 256 threads, not 72 of 256");

  read("5000x300", "%r = nn.reduce sum %a [0] : tensor<5000x300xf32> -> tensor<300xf32>", "300x");
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_EQ(plan.launches[0].blocks, 10 * 39);
  EXPECT_EQ(plan.launches[1].blocks, 10);
  // One launch where sums keep their order: a thread each.
  const LaunchPlanOptions ordered{{}, /*keepsOrder=*/true};
  plan = planLaunches(*graph, planLoops(*graph, RowPieces::one), ordered);
  EXPECT_EQ(refusal(ordered), "");
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].blocks, 2);
}

// A launch that computes exponentials also sums their columns: each block those of its rows.
TEST_F(LaunchPlanTest, SumsOverColumnsBesideElements) {
  const std::string all = "tensor<6001x64xf32>", row = "tensor<64xf32>";
  auto readSum = [&](const std::string &term) {
    read("6001x64",
         "%e = nn.exp %a : " + all + "%f = nn.exp %e : " + all + term +
             "%s = nn.reduce sum %t [0] : " + all + " -> " + row +
             "%b = nn.broadcast %s [1] : " + row + " -> " + all + "%r = nn.sub %f, %b : " + all,
         "6001x64x");
  };
  const std::string same = "%t = nn.mul %f, %f : " + all;
  readSum(same);
  ASSERT_EQ(plan.launches.size(), 3u);
  const Launch &rows = plan.launches[0], &sums = plan.launches[1];
  EXPECT_EQ(rows.kind, Kind::rows);
  ASSERT_TRUE(rows.sums);
  EXPECT_EQ(rows.sums->rowsPerBlock, 6); // some thousand blocks
  EXPECT_EQ(rows.blocks, 1001);
  EXPECT_EQ(rows.sums->getScratchBytes(), 1001 * 64 * 4);
  EXPECT_EQ(sums.kind, Kind::sums);
  EXPECT_EQ(sums.blocks, 2);
  EXPECT_EQ(plan.launches[2].kind, Kind::elements);

  const LaunchPlan whole = plan;
  plan.launches[0].blocks = 1000;
  EXPECT_EQ(refusal(), "launch 0 has 1000 blocks for 6001 rows");
  plan = whole;
  plan.launches[1].blocks = 1;
  EXPECT_EQ(refusal(), "launch 1 has 1 blocks of 256 threads for 1 sums of 64 columns");
  plan = whole;
  plan.launches[0].sums.reset();
  plan.launches[0].blocks = 6001;
  EXPECT_EQ(refusal(), "launch 1 does not follow the one whose sums it adds up");
  plan = whole;
  plan.launches[0].sums->columns = 32;
  EXPECT_EQ(refusal(), "sums over 32 columns of 6001 rows, 6 per block, are of 6001 rows with "
                       "384064 elements");

  // A thread has two neighbouring columns, in one access.
  plan = whole;
  EXPECT_EQ(rows.sums->neighbours, 2);
  EXPECT_EQ(rows.sums->getVector(), 2);
  plan.launches[0].sums->neighbours = 3;
  EXPECT_EQ(refusal(), "a thread adds to 3 columns together, and loops have 64");
  plan.launches[0].sums->neighbours = 4;
  EXPECT_EQ(refusal(), "launch 0 has no pieces of 4 columns");
  plan.launches[0].sums->neighbours = 1;
  EXPECT_EQ(refusal(), "launch 1 does not follow the one whose sums it adds up");

  // Sums that keep their order are not divided.
  const LaunchPlanOptions ordered{{}, /*keepsOrder=*/true};
  plan = planLaunches(*graph, planLoops(*graph, RowPieces::one), ordered);
  EXPECT_EQ(refusal(ordered), "");
  EXPECT_FALSE(plan.launches[0].sums);
  // Many rows of few columns have more threads without sums.
  read("100000x64",
       "%e = nn.exp %a : tensor<100000x64xf32> "
       "%s = nn.reduce sum %e [0] : tensor<100000x64xf32> -> tensor<64xf32> "
       "%b = nn.broadcast %s [1] : tensor<64xf32> -> tensor<100000x64xf32> "
       "%r = nn.sub %e, %b : tensor<100000x64xf32>",
       "100000x64x");
  EXPECT_FALSE(plan.launches[0].sums);
  // The loops do not have terms in another order.
  readSum("%t = nn.reverse %f [0] : " + all);
  EXPECT_FALSE(plan.launches[0].sums);
  EXPECT_EQ(plan.launches[0].kind, Kind::elements);
}

// The kernels of a joined one are parts of one launch. Each has blocks of its own.
TEST_F(LaunchPlanTest, JoinedKernelsShareALaunch) {
  module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<1000xf32>, %y: tensor<300xf32>) -> (tensor<1000xf32>, tensor<300xf32>, tensor<300xf32>) {
      %k:3 = nn.kernel(%x, %y : tensor<1000xf32>, tensor<300xf32>) attributes {nn.joined = array<i64: 1, 2>} {
      ^bb0(%a: tensor<1000xf32>, %b: tensor<300xf32>):
        %0 = nn.exp %a : tensor<1000xf32>
        %1 = nn.neg %b : tensor<300xf32>
        %2 = nn.exp %b : tensor<300xf32>
        nn.yield %0, %1, %2 : tensor<1000xf32>, tensor<300xf32>, tensor<300xf32>
      } -> tensor<1000xf32>, tensor<300xf32>, tensor<300xf32>
      return %k#0, %k#1, %k#2 : tensor<1000xf32>, tensor<300xf32>, tensor<300xf32>
    })",
                                       &context);
  ASSERT_TRUE(module);
  auto build = [&] {
    module->walk([&](nn::KernelOp kernel) {
      graph = std::move(*KernelGraph::build(kernel, *findTarget("cuda"), true));
    });
    plan = planLaunches(*graph, planLoops(*graph, RowPieces::one));
    EXPECT_EQ(refusal(), "");
  };
  build();
  ASSERT_EQ(plan.launches.size(), 1u);
  Launch &launch = plan.launches[0];
  EXPECT_EQ(launch.kind, Kind::joint);
  EXPECT_EQ(launch.blocks, 4 + 2);
  ASSERT_EQ(launch.joined.size(), 2u);
  EXPECT_EQ(launch.joined[1].group.stages[0].roots.size(), 2u);
  launch.blocks = 5;
  EXPECT_EQ(refusal(), "launch 0 has 5 blocks, and its parts have 6");
  launch.blocks = 6;
  launch.joined[1].threads = 128;
  EXPECT_EQ(refusal(), "launch 0 of 256 threads has a part of 128 threads that is not elements");
  module->walk([&](nn::KernelOp kernel) { kernel->removeAttr("nn.joined"); });
  build();
  EXPECT_EQ(plan.launches.size(), 2u);
}

// Launches compute several reductions of one shape and kind, unless one reads the result of
// another. The last of them also computes elementwise ops on their results.
TEST_F(LaunchPlanTest, ReductionsShareLaunches) {
  read("5000x64",
       "%m = nn.mul %a, %a : tensor<5000x64xf32> "
       "%s = nn.reduce max %m [0] : tensor<5000x64xf32> -> tensor<64xf32> "
       "%t = nn.reduce max %a [0] : tensor<5000x64xf32> -> tensor<64xf32> "
       "%r = nn.sub %s, %t : tensor<64xf32>",
       "64x");
  ASSERT_EQ(plan.launches.size(), 2u);
  for (unsigned phase : {0u, 1u}) {
    EXPECT_EQ(plan.launches[phase].phase.number, phase);
    ASSERT_EQ(plan.launches[phase].group.stages.size(), 2u);
    EXPECT_EQ(plan.launches[phase].group.stages[0].roots.size(), 2u);
  }
  const std::string ordered = "%s = nn.reduce sum %a [0] : tensor<5000x64xf32> -> tensor<64xf32> "
                              "%r = nn.exp %s : tensor<64xf32>";
  read("5000x64", ordered, "64x");
  EXPECT_EQ(plan.launches.size(), 2u);
  plan = planLaunches(*graph, planLoops(*graph, RowPieces::one), {{}, /*keepsOrder=*/true});
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_EQ(plan.launches[1].kind, Kind::elements);

  // An op that reads other elements than those that it has the numbers of needs a launch.
  read("5000x64",
       "%s = nn.reduce max %a [0] : tensor<5000x64xf32> -> tensor<64xf32> "
       "%f = nn.reverse %s [0] : tensor<64xf32> "
       "%r = nn.sub %s, %f : tensor<64xf32>",
       "64x");
  ASSERT_EQ(plan.launches.size(), 3u);
  EXPECT_EQ(plan.launches[2].kind, Kind::elements);
  read("5000x64",
       "%s = nn.reduce max %a [0] : tensor<5000x64xf32> -> tensor<64xf32> "
       "%t = nn.reduce max %a [0] : tensor<5000x64xf32> -> tensor<64xf32> "
       "%f = nn.reverse %s [0] : tensor<64xf32> "
       "%r = nn.sub %t, %f : tensor<64xf32>",
       "64x");
  ASSERT_EQ(plan.launches.size(), 3u);
  plan.launches[0].group.stages[0].roots.push_back(plan.launches[2].group.getRoots()[0]);
  EXPECT_EQ(refusal(), "launch 0 may not compute nn.sub too");

  read("5000x64",
       "%s = nn.reduce max %a [0] : tensor<5000x64xf32> -> tensor<64xf32> "
       "%b = nn.broadcast %s [1] : tensor<64xf32> -> tensor<5000x64xf32> "
       "%d = nn.sub %a, %b : tensor<5000x64xf32> "
       "%r = nn.reduce max %d [0] : tensor<5000x64xf32> -> tensor<64xf32>",
       "64x");
  ASSERT_EQ(plan.launches.size(), 4u);
  EXPECT_EQ(plan.launches[0].group.stages[0].roots.size(), 1u);
}

// A library computes a product. If it has no epilogue for the rest of the group, a second
// launch computes the rest.
TEST_F(LaunchPlanTest, AProductOfALibrary) {
  const std::string dot = "%p = nn.dot %a, %a contract [1] [0] : tensor<300x300xf32>, "
                          "tensor<300x300xf32> -> tensor<300x300xf32> ";
  auto readFor = [&](const std::string &text, ProductMaker maker) {
    read("300x300", dot + text, "300x300x");
    plan = planLaunches(*graph, planLoops(*graph, RowPieces::one), {{maker}});
    EXPECT_EQ(refusal(), "");
  };
  readFor("%r = nn.exp %p : tensor<300x300xf32>", ProductMaker::library);
  ASSERT_EQ(plan.launches.size(), 2u);
  ASSERT_TRUE(plan.launches[0].call);
  EXPECT_EQ(plan.launches[0].group.stages.size(), 1u);
  EXPECT_EQ(plan.launches[1].kind, Kind::elements);
  // The product is too small to be stored for a second launch, unless `library` is asked for.
  readFor("%r = nn.exp %p : tensor<300x300xf32>", ProductMaker::bySize);
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_FALSE(plan.launches[0].call);
  readFor("%r = nn.add %p, %a : tensor<300x300xf32>", ProductMaker::bySize);
  ASSERT_EQ(plan.launches.size(), 1u);
  ASSERT_TRUE(plan.launches[0].call);
  const PlannedCall &call = *plan.launches[0].call;
  EXPECT_EQ(call.kind, DPC_CALL_PRODUCT);
  dpc_product_t product;
  ASSERT_EQ(call.description.size(), sizeof product);
  std::memcpy(&product, call.description.data(), sizeof product);
  EXPECT_EQ(product.epilogue, DPC_EPILOGUE_ADD);
  EXPECT_EQ(product.rows, 300u);
  // The factors and the addend are the operand, and the library has scratch memory.
  const Value a = graph->getReads(graph->getRoots()[0])[0];
  EXPECT_EQ(call.buffers, SmallVector<Value>({a, a, call.result, nullptr, a}));
  EXPECT_EQ(call.workspaceBytes, 8 * 300 * 300 * 4 + 256);
  // The launch must compute the result of its call.
  plan.launches[0].call->result = graph->getRoots()[0]->getResult(0);
  EXPECT_EQ(refusal(), "launch 0 does not compute the result of its library call");
}

// Where a library is missing, one launch computes its product. Its blocks wait for slices, so tiles
// of 16 bits are no smaller than 64 x 128, however few there are. Blocks of f32 compute, so more
// blocks take less time.
TEST_F(LaunchPlanTest, FewTilesOfALibrary) {
  auto gridOf = [&](const char *type) {
    const std::string element = type, x = "tensor<16x32x32x64x" + element + ">",
                      w = "tensor<64x1x1x64x" + element + ">";
    module = parseSourceString<ModuleOp>(
        "func.func @f(%x: " + x + ", %y: " + x + ") -> " + w + " { %k = nn.kernel(%x, %y : " + x +
            ", " + x + ") { ^bb0(%a: " + x + ", %b: " + x +
            "): %0 = nn.conv_weight_grad %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] "
            "dilations [1, 1] groups 1 channelsLast : " +
            x + ", " + x + " -> " + w + " nn.yield %0 : " + w + " } -> " + w + " return %k : " + w +
            " }",
        &context);
    EXPECT_TRUE(module);
    module->walk([&](nn::KernelOp kernel) {
      graph = std::move(*KernelGraph::build(kernel, *findTarget("cuda"), true));
    });
    plan = planLaunches(*graph, planLoops(*graph, RowPieces::one), {{ProductMaker::library}});
    EXPECT_EQ(plan.launches.size(), 1u);
    EXPECT_TRUE(plan.launches[0].call);
    return std::pair(plan.launches[0].blocks, plan.launches[0].threads);
  };
  EXPECT_EQ(gridOf("bf16"), std::pair(int64_t(1), int64_t(128)));
  EXPECT_EQ(gridOf("f32"), std::pair(int64_t(4), int64_t(256)));
}

// A library computes a convolution, and another launch the rest of the group.
TEST_F(LaunchPlanTest, AConvolutionOfALibrary) {
  auto readFor = [&](int64_t size, StringRef window, StringRef next, ProductMaker maker) {
    const std::string extents = "16x16x" + std::to_string(size) + "x" + std::to_string(size),
                      type = "tensor<" + extents + "xf32>", result = "tensor<16x16x3x3xf32>";
    read(extents,
         (next.empty() ? "%r" : "%c") +
             std::string(" = nn.conv %a, %a strides [1, 1] padLow [1, 1] padHigh ") + window.str() +
             " dilations [1, 1] groups 1 : " + type + ", " + type + " -> " + result + next.str(),
         "16x16x3x3x");
    plan = planLaunches(*graph, planLoops(*graph, RowPieces::one), {{maker}});
    EXPECT_EQ(refusal(), "");
  };
  const StringRef exp = " %r = nn.exp %c : tensor<16x16x3x3xf32>", pad = "[1, 1]";
  readFor(3, pad, exp, ProductMaker::library);
  ASSERT_EQ(plan.launches.size(), 2u);
  ASSERT_TRUE(plan.launches[0].call);
  EXPECT_EQ(plan.launches[0].group.stages.size(), 1u);
  EXPECT_EQ(plan.launches[1].kind, Kind::elements);
  const PlannedCall &call = *plan.launches[0].call;
  EXPECT_EQ(call.kind, DPC_CALL_CONVOLUTION);
  EXPECT_FALSE(call.isComplete);
  dpc_convolution_t convolution;
  ASSERT_EQ(call.description.size(), sizeof convolution);
  std::memcpy(&convolution, call.description.data(), sizeof convolution);
  EXPECT_TRUE(dpc_convolution_is_valid(&convolution));
  EXPECT_EQ(convolution.result, uint32_t(DPC_CONVOLUTION_Y));
  EXPECT_EQ(convolution.x.strides[0], 144u);
  EXPECT_EQ(convolution.x.strides[3], 1u);
  const Value a = graph->getReads(graph->getRoots()[0])[0];
  EXPECT_EQ(call.buffers, SmallVector<Value>({a, a, call.result, nullptr}));
  EXPECT_EQ(call.workspaceBytes,
            static_cast<int64_t>(dpc_convolution_workspace_bytes(&convolution)));
  // Without ops after it, a library computes the complete group.
  readFor(3, pad, "", ProductMaker::library);
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_TRUE(plan.launches[0].call->isComplete);
  // A small convolution is the kernel's, and so is one that crops.
  readFor(3, pad, "", ProductMaker::bySize);
  EXPECT_FALSE(plan.launches[0].call);
  readFor(3, pad, "", ProductMaker::generated);
  EXPECT_FALSE(plan.launches[0].call);
}

TEST_F(LaunchPlanTest, ASmallProductIsElements) {
  read("15x15",
       "%r = nn.dot %a, %a contract [1] [0] : tensor<15x15xf32>, tensor<15x15xf32> -> "
       "tensor<15x15xf32>",
       "15x15x");
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].kind, Kind::elements);
  plan.launches[0].kind = Kind::tiles;
  EXPECT_EQ(refusal(), "launch 0 of nn.dot is one of tiles");
}

TEST_F(LaunchPlanTest, ABlockABoxOfATransposition) {
  read("3x40x17", "%r = nn.transpose %a [0, 2, 1] : tensor<3x40x17xf32> -> tensor<3x17x40xf32>",
       "3x17x40x");
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].kind, Kind::boxes);
  ASSERT_TRUE(plan.launches[0].boxes);
  EXPECT_EQ(plan.launches[0].blocks, plan.launches[0].boxes->countBlocks());
  const Launch sound = plan.launches[0];
  plan.launches[0].blocks = 17;
  EXPECT_NE(refusal().find("launch 0 has 17 blocks of "), std::string::npos) << refusal();
  plan.launches[0] = sound;
  plan.launches[0].boxes->box[0] = 4;
  EXPECT_EQ(refusal(), "a box has 4 of 3 iterations");
  plan.launches[0] = sound;
  plan.launches[0].boxes.reset();
  EXPECT_EQ(refusal(), "launch 0 has boxes, and is not one of boxes");
  plan.launches[0] = sound;
  plan.launches[0].kind = Kind::elements;
  EXPECT_EQ(refusal(), "launch 0 has boxes, and is not one of boxes");
  // A dimension of 1 is no loop.
  read("40x1x17", "%r = nn.transpose %a [2, 1, 0] : tensor<40x1x17xf32> -> tensor<17x1x40xf32>",
       "17x1x40x");
  EXPECT_EQ(plan.launches[0].kind, Kind::boxes);
  // The innermost dimension stays innermost, or the tensor is too small to matter.
  read("3x40x17", "%r = nn.transpose %a [1, 0, 2] : tensor<3x40x17xf32> -> tensor<40x3x17xf32>",
       "40x3x17x");
  EXPECT_EQ(plan.launches[0].kind, Kind::elements);
  read("17x15", "%r = nn.transpose %a [1, 0] : tensor<17x15xf32> -> tensor<15x17xf32>", "15x17x");
  EXPECT_EQ(plan.launches[0].kind, Kind::elements);
}

TEST_F(LaunchPlanTest, AThreadAPart) {
  read("8x9", "%r = nn.cumsum %a dim 0 : tensor<8x9xf32>", "8x9x");
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].kind, Kind::elements);
  EXPECT_EQ(plan.launches[0].parts.count, 9);
  EXPECT_EQ(plan.launches[0].parts.width, 1);
  EXPECT_EQ(plan.launches[0].blocks, 1);
  EXPECT_EQ(plan.launches[0].threads, 32);
  plan.launches[0].parts.count = 33;
  EXPECT_EQ(refusal(), "launch 0 has 1 blocks of 32 threads for 33 elements");
}

TEST_F(LaunchPlanTest, ABlockAWidePart) {
  read("3x2000", "%r = nn.cumsum %a dim 1 : tensor<3x2000xf32>", "3x2000x");
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].kind, Kind::results);
  EXPECT_EQ(plan.launches[0].blocks, 3);
  EXPECT_EQ(plan.launches[0].threads, 128);
  EXPECT_EQ(plan.launches[0].parts.width, 125);
  plan.launches[0].blocks = 2;
  EXPECT_EQ(refusal(), "launch 0 has 2 blocks for 3 elements");
}

TEST_F(LaunchPlanTest, NothingToDo) {
  read("0", "%r = nn.exp %a : tensor<0xf32>", "0x");
  EXPECT_TRUE(plan.launches.empty());
}

TEST_F(LaunchPlanTest, EachRootOnceAndInOrder) {
  readRows(2, 8000);
  LaunchPlan whole = plan;
  plan.launches.push_back(plan.launches[0]);
  EXPECT_NE(refusal().find("is in launch 0 and in launch"), std::string::npos);
  plan = whole;
  plan.launches.erase(plan.launches.begin());
  EXPECT_NE(refusal().find("is in no launch"), std::string::npos);
  plan = whole;
  std::swap(plan.launches.front(), plan.launches.back());
  EXPECT_NE(refusal().find("reads what launch"), std::string::npos);
}

TEST_F(LaunchPlanTest, GridsThatADeviceTakes) {
  read("1000", "%r = nn.exp %a : tensor<1000xf32>", "1000x");
  const Launch sound = plan.launches[0];
  plan.launches[0].blocks = 3;
  EXPECT_EQ(refusal(), "launch 0 has 3 blocks of 256 threads for 1000 elements");
  plan.launches[0] = sound;
  plan.launches[0].blocks = int64_t(1) << 31;
  EXPECT_EQ(refusal(), "launch 0 has 2147483648 blocks of 256 threads");
  plan.launches[0] = sound;
  plan.launches[0].threads = 512;
  EXPECT_EQ(refusal(), "launch 0 has 4 blocks of 512 threads");
  plan.launches[0].threads = 250;
  EXPECT_EQ(refusal(), "launch 0 has 4 blocks of 250 threads");
  plan.launches[0] = sound;
  plan.launches[0].kind = Kind::results;
  EXPECT_EQ(refusal(), "launch 0 has 4 blocks for 1000 elements");
  plan.launches[0] = sound;
  plan.launches[0].shared.push_back(sound.group.stages[0].roots[0]->getResult(0));
  EXPECT_EQ(refusal(), "launch 0 has 4000 bytes of shared memory");
  plan.launches[0].group.stages.clear();
  EXPECT_EQ(refusal(), "launch 0 has nothing to do");
}

TEST_F(LaunchPlanTest, RowsHaveABlockEach) {
  readRows(100, 500);
  const Launch sound = plan.launches[0];
  plan.launches[0].blocks = 99;
  EXPECT_EQ(refusal(), "launch 0 has 99 blocks for 100 rows");
  plan.launches[0] = sound;
  plan.launches[0].together.pop_back();
  EXPECT_EQ(refusal(), "launch 0 has 100 blocks for 100 rows");
  plan.launches[0] = sound;
  plan.launches[0].group.rows.count = 1;
  EXPECT_NE(refusal().find("stages and no rows: nothing is between them"), std::string::npos);
}

} // namespace
