// Kernels of the target `cuda`: every op and every fused kernel through PTX,
// run by the device there is and compared with the interpreter rules.

#include "test/unit/targets/DeviceKernel.h"
#include "test/unit/targets/KernelCases.h"
#include "test/unit/targets/KernelTest.h"
#include "test/unit/targets/RandomRows.h"

#include "dialects/NN/IR/Program.h"
#include "dpc/product.h"
#include "targets/Loops/Rules.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <unistd.h>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {

std::unique_ptr<RunnableKernel> makeKernel(Operation *op) { return DeviceKernel::create(op); }

/// Whether every op of the kernel is elementwise, or moves elements.
bool onlyMoves(Operation *kernel) {
  bool moves = true;
  kernel->walk([&](Operation *op) {
    auto rule = dyn_cast<ElementOpInterface>(op);
    moves &= op == kernel || isa<ElementwiseOpInterface, nn::ConstantOp, nn::YieldOp>(op) ||
             (rule && rule.getElementCost() == 0);
  });
  return moves;
}

/// What another order of threads could change does not depend on the type: the
/// later runs of these tests (CMakeLists.txt) are in f32, but for the long run.
bool isLaterRun() { return std::getenv("DPC_EMU_ORDER") && !std::getenv("DPC_LONG"); }

/// Calls `body` with products of batches of matrices, and with their number of rows. The extents
/// are batches, rows, columns and depth. Each factor has the depth inside in one product and
/// outside in another.
void forEachProduct(ArrayRef<std::array<int64_t, 4>> shapes,
                    llvm::function_ref<void(const OpCase &, int64_t rows)> body) {
  for (auto [batches, rows, columns, depth] : shapes)
    for (bool outsideA : {false, true})
      for (bool outsideB : {false, true}) {
        auto tensor = [&](int64_t first, int64_t second) {
          return std::to_string(batches) + "x" + std::to_string(first) + "x" +
                 std::to_string(second) + "xf64";
        };
        const std::string a = outsideA ? tensor(depth, rows) : tensor(rows, depth),
                          b = outsideB ? tensor(depth, columns) : tensor(columns, depth),
                          text = "nn.dot %a, %b batch [0] [0] contract [" +
                                 std::string(outsideA ? "1" : "2") + "] [" +
                                 (outsideB ? "1" : "2") + "] : tensor<" + a + ">, tensor<" + b +
                                 "> -> tensor<" + tensor(rows, columns) + ">";
        SCOPED_TRACE(text);
        body({text.c_str(), {{a.c_str()}, {b.c_str()}}}, rows);
      }
}

class GridCodegenCase : public KernelTest, public testing::WithParamInterface<OpCase> {
protected:
  void checkNarrow(StringRef type) {
    if (isLaterRun())
      GTEST_SKIP() << "in the long run";
    Kernel kernel = parseKernel(context, GetParam(), "f64");
    ASSERT_TRUE(kernel.op);
    if (!onlyMoves(kernel.op) || StringRef(GetParam().text).contains("nn.random"))
      GTEST_SKIP() << "sums, or has no 16-bit floats";
    check(GetParam(), type, 2e-2, makeKernel);
  }
};

TEST_P(GridCodegenCase, F64) {
  if (isLaterRun())
    GTEST_SKIP() << "in the long run";
  check(GetParam(), "f64", 1e-12, makeKernel);
}
TEST_P(GridCodegenCase, F32) {
  if (!std::getenv("DPC_EMU_ORDER") && !std::getenv("DPC_LONG"))
    GTEST_SKIP() << "in the later runs";
  check(GetParam(), "f32", 3e-5, makeKernel);
}
TEST_P(GridCodegenCase, Bf16) { checkNarrow("bf16"); }
TEST_P(GridCodegenCase, F16) { checkNarrow("f16"); }

CodeOptions withLibrary() {
  CodeOptions options;
  options.products = ProductMaker::library;
  return options;
}

/// Libraries compute all products and convolutions that they support, in every element type that
/// they have.
TEST_P(GridCodegenCase, Library) {
  const StringRef text = GetParam().text;
  if (isLaterRun() || !(text.contains("nn.dot") || text.contains("nn.conv")))
    GTEST_SKIP() << "no product or convolution, or in the long run";
  auto make = [](Operation *op) -> std::unique_ptr<RunnableKernel> {
    return DeviceKernel::create(op, withLibrary());
  };
  check(GetParam(), "f64", 1e-12, make);
  check(GetParam(), "f32", 3e-5, make);
}

/// NVIDIA's assembler takes the code, where it is installed.
TEST_P(GridCodegenCase, Assembles) {
  static const bool isThere = std::system("command -v ptxas >/dev/null") == 0;
  if (!isThere || !std::getenv("DPC_LONG"))
    GTEST_SKIP() << "in the long run, where ptxas is";
  Kernel kernel = parseKernel(context, GetParam(), "f32");
  ASSERT_TRUE(kernel.op);
  auto compiled = DeviceKernel::create(kernel.op);
  ASSERT_TRUE(compiled);
  const std::string file = testing::TempDir() + "/" + std::to_string(getpid()) + ".ptx";
  std::ofstream(file) << compiled->ptx;
  for (const char *arch : {"sm_80", "sm_90"}) {
    const std::string command = std::string("ptxas -arch=") + arch + " -o /dev/null " + file;
    EXPECT_EQ(std::system(command.c_str()), 0) << compiled->ptx;
  }
  std::remove(file.c_str());
}

INSTANTIATE_TEST_SUITE_P(Ops, GridCodegenCase, testing::ValuesIn(opCases()));
INSTANTIATE_TEST_SUITE_P(Kernels, GridCodegenCase, testing::ValuesIn(kernelCases()));

class GridCodegen : public KernelTest {};

// What the back end makes of the code, where speed or bits hang on it.
class GridPtx : public KernelTest {
protected:
  std::string ptxOf(const OpCase &opCase, StringRef floatType, const CodeOptions &options = {}) {
    Kernel kernel = parseKernel(context, opCase, floatType);
    auto compiled = kernel.op ? DeviceKernel::create(kernel.op, options) : nullptr;
    return compiled ? compiled->ptx : "";
  }
  static bool has(const std::string &ptx, const char *text) {
    return ptx.find(text) != std::string::npos;
  }
};

TEST_F(GridPtx, IsIeeeArithmetic) {
  std::string ptx = ptxOf({"%d = nn.div %a, %b : tensor<100xf64> nn.sqrt %d : tensor<100xf64>",
                           {{"100xf64", 1, 2}, {"100xf64", 1, 2}}},
                          "f32");
  EXPECT_TRUE(has(ptx, "div.rn.f32")) << ptx;
  EXPECT_TRUE(has(ptx, "sqrt.rn.f32")) << ptx;
  EXPECT_FALSE(has(ptx, ".approx")) << ptx;
  EXPECT_FALSE(has(ptx, ".ftz")) << ptx;
}

TEST_F(GridPtx, CallsNothing) {
  std::string ptx = ptxOf({"%e = nn.exp %a : tensor<100xf64> %l = nn.tanh %e : tensor<100xf64> "
                           "nn.pow %l, %a : tensor<100xf64>",
                           {{"100xf64", 1, 2}}},
                          "f64");
  EXPECT_FALSE(ptx.empty());
  EXPECT_FALSE(has(ptx, "call")) << ptx;
  EXPECT_FALSE(has(ptx, ".extern")) << ptx;
}

TEST_F(GridPtx, OnlyWhatIsSharedHasBarriers) {
  std::string elements = ptxOf({"nn.exp %a : tensor<100xf64>", {{"100xf64"}}}, "f32");
  EXPECT_FALSE(has(elements, "bar.sync")) << elements;
  EXPECT_FALSE(has(elements, ".shared")) << elements;
  std::string rows = ptxOf({"nn.softmax %a dim 1 : tensor<100x900xf64>", {{"100x900xf64"}}}, "f32");
  EXPECT_TRUE(has(rows, "bar.sync")) << rows;
  EXPECT_TRUE(has(rows, "shfl.sync")) << rows;
}

// Generic addresses would cost a look at each.
TEST_F(GridPtx, TilesAreReadFromSharedMemory) {
  std::string ptx = ptxOf({"nn.dot %a, %b contract [1] [0] : tensor<64x32xf64>, tensor<32x64xf64> "
                           "-> tensor<64x64xf64>",
                           {{"64x32xf64"}, {"32x64xf64"}}},
                          "f32");
  EXPECT_TRUE(has(ptx, "ld.shared.v2.f32")) << ptx;
  EXPECT_TRUE(has(ptx, "fma.rn.f32")) << ptx;
  EXPECT_TRUE(has(ptx, "cp.async.cg.shared.global")) << ptx;
  EXPECT_TRUE(has(ptx, "st.global.v2.f32")) << ptx; // buffers are aligned
  EXPECT_FALSE(has(ptx, "ld.f32")) << ptx;
  EXPECT_FALSE(has(ptx, "mul.f32")) << ptx;
}

CodeOptions withFactors(FactorForm factors, const char *processor = "") {
  CodeOptions options;
  options.factors = factors;
  options.processor = processor;
  return options;
}
CodeOptions withTf32(const char *processor = "") {
  return withFactors(FactorForm::rounded, processor);
}

const OpCase product = {"nn.dot %a, %b contract [1] [0] : tensor<70x33xf64>, tensor<33x90xf64> "
                        "-> tensor<70x90xf64>",
                        {{"70x33xf64"}, {"33x90xf64"}}};

// Matrix units multiply f64, and f32 where it may be rounded; never where the
// order of a sum is kept.
TEST_F(GridPtx, MatrixUnitsWhereTheyMay) {
  CodeOptions ordered = withTf32();
  ordered.orderedSums = true;
  EXPECT_TRUE(has(ptxOf(product, "f64"), "mma.sync.aligned.m8n8k4.row.col.f64"));
  EXPECT_FALSE(has(ptxOf(product, "f64", ordered), "mma"));
  const std::string tf32 = ptxOf(product, "f32", withTf32());
  EXPECT_TRUE(has(tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32")) << tf32;
  EXPECT_TRUE(has(tf32, "cvt.rna.tf32.f32")) << tf32;
  // Two instructions of a device before sm_90, and one of later ones.
  EXPECT_TRUE(has(ptxOf(product, "f32", withTf32("sm_90")), "cvt.rn.tf32.f32"));
  EXPECT_TRUE(has(ptxOf(product, "f32", withFactors(FactorForm::split)),
                  "mma.sync.aligned.m16n8k8.row.col.f32.tf32"));
  EXPECT_FALSE(has(ptxOf(product, "f32"), "mma"));
  EXPECT_FALSE(has(ptxOf(product, "f32", ordered), "mma"));
  EXPECT_TRUE(has(ptxOf(product, "bf16"), "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"));
  EXPECT_TRUE(has(ptxOf(product, "f16"), "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
  EXPECT_FALSE(has(ptxOf(product, "bf16", ordered), "mma"));
}

/// A product of factors of 72 x 64 and 64 x 80, each of which may be transposed. All extents are
/// multiples of a chunk of 16 bytes.
OpCase alignedProduct(bool transposesA, bool transposesB) {
  static const char *const texts[2][2] = {
      {"nn.dot %a, %b contract [1] [0] : tensor<72x64xf64>, tensor<64x80xf64> -> tensor<72x80xf64>",
       "nn.dot %a, %b contract [1] [1] : tensor<72x64xf64>, tensor<80x64xf64> -> "
       "tensor<72x80xf64>"},
      {"nn.dot %a, %b contract [0] [0] : tensor<64x72xf64>, tensor<64x80xf64> -> tensor<72x80xf64>",
       "nn.dot %a, %b contract [0] [1] : tensor<64x72xf64>, tensor<80x64xf64> -> "
       "tensor<72x80xf64>"}};
  return {texts[transposesA][transposesB],
          {{transposesA ? "64x72xf64" : "72x64xf64"}, {transposesB ? "80x64xf64" : "64x80xf64"}}};
}

// Chunks are copied without registers, and ldmatrix loads matrices of 16-bit elements, transposed
// if neighbours along the depth are no neighbours in memory.
TEST_F(GridPtx, ChunksAreCopied) {
  const char *copy = "cp.async.cg.shared.global";
  for (bool transposesA : {false, true})
    for (bool transposesB : {false, true}) {
      const std::string ptx = ptxOf(alignedProduct(transposesA, transposesB), "bf16");
      EXPECT_TRUE(has(ptx, copy)) << ptx;
      EXPECT_FALSE(has(ptx, "ld.global")) << ptx;
      // A warp has four matrices of the first factor, and two of the second.
      EXPECT_EQ(has(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared"), !transposesA) << ptx;
      EXPECT_EQ(has(ptx, "ldmatrix.sync.aligned.m8n8.x4.trans.shared"), transposesA) << ptx;
      EXPECT_EQ(has(ptx, "ldmatrix.sync.aligned.m8n8.x2.shared"), transposesB) << ptx;
      EXPECT_EQ(has(ptx, "ldmatrix.sync.aligned.m8n8.x2.trans.shared"), !transposesB) << ptx;
    }
  // Elements of f32 that are not in chunks are copied one by one. Those of 16 bits are loaded.
  EXPECT_FALSE(has(ptxOf(product, "f32"), copy));
  EXPECT_TRUE(has(ptxOf(product, "f32"), "cp.async.ca.shared.global"));
  const std::string narrow = ptxOf(product, "bf16");
  EXPECT_FALSE(has(narrow, "cp.async")) << narrow;
  EXPECT_TRUE(has(narrow, "ld.global")) << narrow;
}

// Threads fill a stage while they multiply another one, so that a stage has one barrier, after the
// wait for its copies.
TEST_F(GridPtx, StagesHaveOneBarrier) {
  const OpCase deep = {"nn.dot %a, %b contract [1] [0] : tensor<72x504xf64>, tensor<504x80xf64> -> "
                       "tensor<72x80xf64>",
                       {{"72x504xf64"}, {"504x80xf64"}}};
  for (const char *type : {"bf16", "f32", "f64"}) {
    const std::string ptx = ptxOf(deep, type);
    auto count = [&](StringRef word) { return StringRef(ptx).count(word); };
    // The loop of matrix units has all stages, and the last of the 16 rounds or more follow it. The
    // last one waits for all copies. The loop of scalar instructions has one stage, so there code
    // after it waits. All threads meet at the end.
    if (StringRef(type) == "f32") {
      EXPECT_EQ(count("bar.sync"), 2u) << ptx;
      EXPECT_EQ(count("cp.async.wait_group"), 2u) << ptx;
    } else {
      EXPECT_LT(count("bar.sync"), 16u) << ptx;
      EXPECT_EQ(count("cp.async.wait_group") + 1, count("bar.sync")) << ptx;
      EXPECT_TRUE(has(ptx, "cp.async.wait_group \t0") || has(ptx, "cp.async.wait_group 0")) << ptx;
    }
    EXPECT_TRUE(has(ptx, "cp.async.wait_group")) << ptx;
  }
}

// The two neighbours that a thread has of each row are stored together, and so are those of the ops
// that follow. One instruction rounds both.
TEST_F(GridPtx, NeighboursAreStoredTogether) {
  const OpCase joined = {
      "%p = nn.dot %a, %b contract [1] [0] : tensor<72x64xf64>, tensor<64x80xf64> "
      "-> tensor<72x80xf64> %q = nn.add %p, %c : tensor<72x80xf64> nn.relu %q : "
      "tensor<72x80xf64>",
      {{"72x64xf64"}, {"64x80xf64"}, {"72x80xf64"}}};
  for (const OpCase &opCase : {alignedProduct(false, false), joined}) {
    const std::string wide = ptxOf(opCase, "f32", withTf32()), narrow = ptxOf(opCase, "bf16");
    EXPECT_TRUE(has(wide, "st.global.v2.f32")) << wide;
    EXPECT_FALSE(has(wide, "st.global.f32")) << wide;
    EXPECT_TRUE(has(narrow, "st.global.b32") || has(narrow, "st.global.u32")) << narrow;
    EXPECT_FALSE(has(narrow, "st.global.u16") || has(narrow, "st.global.b16")) << narrow;
    EXPECT_TRUE(has(narrow, "cvt.rn.bf16x2.f32")) << narrow;
  }
  // If ldmatrix loads lines of the columns, a lane has all eight neighbours of a chunk.
  const OpCase inner = {"nn.dot %a, %b contract [1] [1] : tensor<16384x64xf64>, tensor<128x64xf64> "
                        "-> tensor<16384x128xf64>",
                        {{"16384x64xf64"}, {"128x64xf64"}}};
  const std::string chunks = ptxOf(inner, "bf16");
  EXPECT_TRUE(has(chunks, "st.global.v4.b32") || has(chunks, "st.global.v4.u32")) << chunks;
  EXPECT_FALSE(has(chunks, "st.global.b32") || has(chunks, "st.global.u32")) << chunks;
}

// A predicate says whether a copy reads its chunk of a patch, and addresses of a thread's chunks
// differ by constants. A convolution whose patches are points has no conditions.
TEST_F(GridPtx, PatchesAreCopied) {
  const OpCase points = {"nn.conv %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations "
                         "[1, 1] groups 1 channelsLast : tensor<64x16x16x64xf64>, "
                         "tensor<128x1x1x64xf64> -> tensor<64x16x16x128xf64>",
                         {{"64x16x16x64xf64"}, {"128x1x1x64xf64"}}},
               patches = {"nn.conv %a, %b strides [2, 2] padLow [1, 1] padHigh [0, 0] dilations "
                          "[1, 1] groups 1 channelsLast : tensor<64x32x32x64xf64>, "
                          "tensor<128x3x3x64xf64> -> tensor<64x16x16x128xf64>",
                          {{"64x32x32x64xf64"}, {"128x3x3x64xf64"}}};
  auto copies = [&](const OpCase &opCase) {
    std::string ptx = ptxOf(opCase, "bf16");
    std::vector<std::string> lines;
    for (size_t at = 0; (at = ptx.find("cp.async.cg", at)) != std::string::npos; ++at)
      lines.push_back(ptx.substr(at, ptx.find(';', at) - at));
    return lines;
  };
  auto count = [](const std::vector<std::string> &lines, const char *text) {
    return llvm::count_if(
        lines, [&](const std::string &line) { return line.find(text) != std::string::npos; });
  };
  const std::vector<std::string> ofPoints = copies(points), ofPatches = copies(patches);
  EXPECT_GT(ofPoints.size(), 0u);
  EXPECT_EQ(count(ofPoints, "%p"), 0);
  EXPECT_EQ(count(ofPoints, ", 16"), int64_t(ofPoints.size()));
  // Two of four copies of a stage are of patches. Some are nowhere outside of the image.
  EXPECT_GT(count(ofPatches, "%p"), int64_t(ofPatches.size()) / 4);
  EXPECT_LE(count(ofPatches, "%p"), int64_t(ofPatches.size()) / 2);
  EXPECT_GT(count(ofPatches, "+4096]"), 0);
}

// A thread that adds rows of updates, or few terms of neighbouring sums, accesses neighbours in 16
// bytes.
TEST_F(GridPtx, NeighboursAreAccessedTogether) {
  const OpCase scatter = {"nn.scatter_add %a, %b dim 0 : tensor<400x768xf64>, tensor<400xi64> -> "
                          "tensor<900x768xf64>",
                          {{"400x768xf64"}, {"400xi64", 0, 899}}};
  const OpCase sums = {"%e = nn.exp %a : tensor<3x131072xf64> nn.reduce sum %e [0] : "
                       "tensor<3x131072xf64> -> tensor<131072xf64>",
                       {{"3x131072xf64"}}};
  for (const OpCase &opCase : {scatter, sums}) {
    const std::string ptx = ptxOf(opCase, "f64");
    EXPECT_TRUE(has(ptx, "st.global.v2.f64")) << ptx;
    for (const char *single : {"st.global.f64", "ld.global.f64", "ld.global.nc.f64"})
      EXPECT_FALSE(has(ptx, single)) << ptx;
  }
}

// Bytes beside wider elements are accessed together, too. LLVM alone would split them into fours.
TEST_F(GridPtx, BytesAreAccessedTogether) {
  const std::string ptx =
      ptxOf({"%z = nn.constant dense<0.0> : tensor<1048576xbf16> "
             "%r = nn.select %b, %a, %z : tensor<1048576xi1>, tensor<1048576xbf16> "
             "%m = nn.compare gt %a, %z : tensor<1048576xbf16> -> tensor<1048576xi1> "
             "\"test.yield\"(%r, %m) : (tensor<1048576xbf16>, tensor<1048576xi1>) -> ()",
             {{"1048576xbf16"}, {"1048576xi1"}}},
            "bf16");
  EXPECT_TRUE(has(ptx, "st.global.v4.b32")) << ptx;
  EXPECT_TRUE(has(ptx, "st.global.u64")) << ptx;
  EXPECT_TRUE(has(ptx, "ld.global.u64")) << ptx;
  EXPECT_FALSE(has(ptx, "ld.global.u32") || has(ptx, "st.global.u32")) << ptx;
}

// The loops over windows and over many terms run once for all neighbours of a thread.
TEST_F(GridPtx, NeighboursShareLoops) {
  const OpCase pool = {"nn.max_pool %a kernel [3, 3, 1] strides [2, 2, 1] padLow [1, 1, 0] "
                       "padHigh [1, 1, 0] dilations [1, 1, 1] : "
                       "tensor<64x1x32x32x64xf32> -> tensor<64x1x16x16x64xf32>",
                       {{"64x1x32x32x64xf32"}}};
  const OpCase grad = {"nn.max_pool_grad %a, %b kernel [3, 3, 1] strides [2, 2, 1] padLow "
                       "[1, 1, 0] padHigh [1, 1, 0] dilations [1, 1, 1] : "
                       "tensor<64x1x16x16x64xi8>, tensor<64x1x16x16x64xf32> -> "
                       "tensor<64x1x32x32x64xf32>",
                       {{"64x1x16x16x64xi8"}, {"64x1x16x16x64xf32"}}};
  const OpCase sum = {"%e = nn.exp %a : tensor<64x49x2048xf32> %s = nn.reduce sum %e [1] : "
                      "tensor<64x49x2048xf32> -> tensor<64x2048xf32> "
                      "nn.neg %s : tensor<64x2048xf32>",
                      {{"64x49x2048xf32"}}};
  for (const OpCase &opCase : {pool, grad, sum}) {
    const std::string ptx = ptxOf(opCase, "f32");
    EXPECT_TRUE(has(ptx, "st.global.v4.f32")) << ptx;
    EXPECT_TRUE(has(ptx, "ld.global.nc.v4.f32") || has(ptx, "ld.global.v4.f32")) << ptx;
    for (const char *single : {"st.global.f32", "ld.global.f32", "ld.global.nc.f32"})
      EXPECT_FALSE(has(ptx, single)) << ptx;
  }
}

// A thread adds up runs of neighbouring terms of a sum that several blocks share. The sums for the
// mean and the variance of a normalization read their operand once, both in f64.
TEST_F(GridPtx, MeanAndVarianceReadOnce) {
  const OpCase rows = {"nn.normalize %a [0, 2, 3] epsilon 1.0e-5 : tensor<16x8x56x56xf32> -> "
                       "tensor<16x8x56x56xf32>, tensor<8xf32>, tensor<8xf32>",
                       {{"16x8x56x56xf32"}}};
  const OpCase columns = {"nn.normalize %a [0, 1, 2] epsilon 1.0e-5 : tensor<16x56x56x64xf32> -> "
                          "tensor<16x56x56x64xf32>, tensor<64xf32>, tensor<64xf32>",
                          {{"16x56x56x64xf32"}}};
  for (const OpCase &opCase : {rows, columns}) {
    const std::string ptx = ptxOf(opCase, "f32");
    // One launch reads the operand for the sums, one adds up the parts, and one normalizes.
    for (const char *single : {"ld.global.f32", "ld.global.v2.f32"})
      EXPECT_FALSE(has(ptx, single)) << ptx;
    EXPECT_EQ(StringRef(ptx).count(".visible .entry"), 3u) << ptx;
    EXPECT_EQ(StringRef(ptx)
                  .split(".visible .entry")
                  .second.split(".visible .entry")
                  .first.count("ld.global.v4.f32"),
              1u)
        << ptx;
    EXPECT_TRUE(has(ptx, "mul.rn.f64") || has(ptx, "fma.rn.f64")) << ptx;
  }
}

// Neighbours of 16 bytes of the widest tensor leave no gaps between the accesses of a warp.
TEST_F(GridPtx, AccessesLeaveNoGaps) {
  const std::string ptx = ptxOf({"%e = nn.neg %a : tensor<1024x1024xf32> nn.convert %e : "
                                 "tensor<1024x1024xf32> -> tensor<1024x1024xbf16>",
                                 {{"1024x1024xf32"}}},
                                "f32");
  const StringRef load = "ld.global.nc.v4.f32";
  EXPECT_EQ(StringRef(ptx).count(load), 1u) << ptx;
  EXPECT_FALSE(has(ptx, "st.global.v4.b32")) << ptx;
}

// The assembler would spill some registers of a long sum, so that more blocks find enough.
// Transpositions read and store 16 bytes, whichever dimensions are innermost.
TEST_F(GridPtx, TranspositionsAreWideOnBothSides) {
  const char *texts[] = {
      "nn.transpose %a [0, 2, 1] : tensor<4x64x96xf64> -> tensor<4x96x64xf64>",
      "nn.transpose %a [0, 2, 3, 1] : tensor<16x128x3x3xf64> -> tensor<16x3x3x128xf64>",
      "nn.transpose %a [0, 2, 3, 1] : tensor<8x3x32x64xf64> -> tensor<8x32x64x3xf64>"};
  const char *shapes[] = {"4x64x96xf64", "16x128x3x3xf64", "8x3x32x64xf64"};
  for (auto [text, shape] : llvm::zip_equal(texts, shapes)) {
    const std::string ptx = ptxOf({text, {{shape}}}, "f32");
    EXPECT_TRUE(has(ptx, "ld.global.nc.v4.f32") || has(ptx, "ld.global.nc.v4.u32")) << ptx;
    EXPECT_TRUE(has(ptx, "st.global.v4.f32") || has(ptx, "st.global.v4.u32")) << ptx;
    EXPECT_FALSE(has(ptx, "st.global.f32") || has(ptx, "st.global.u32")) << ptx;
    EXPECT_TRUE(has(ptx, "bar.sync")) << ptx;
  }
  const std::string narrow = ptxOf({texts[0], {{shapes[0]}}}, "bf16");
  EXPECT_TRUE(has(narrow, "ld.global.nc.v4.u32") || has(narrow, "ld.global.nc.v4.b32")) << narrow;
  EXPECT_TRUE(has(narrow, "st.global.v4.u32") || has(narrow, "st.global.v4.b32")) << narrow;
}

TEST_F(GridPtx, LongSumsKeepTheirRegisters) {
  const std::string ptx =
      ptxOf({"nn.reduce sum %a [0] : tensor<5000x512xf64> -> tensor<512xf64>", {{"5000x512xf64"}}},
            "f32");
  EXPECT_TRUE(has(ptx, ".minnctapersm 4")) << ptx;
}

/// An attention of 100 queries and 130 keys with heads of `size` elements of type `type`.
std::string attentionText(const char *type, int64_t size, const char *gradient,
                          const std::string &flags = "scale 0.2 causal") {
  const std::string end = "x3x" + std::to_string(size) + "x" + type + ">",
                    queries = "tensor<2x100" + end, keys = "tensor<2x130" + end,
                    operands = queries + ", " + keys + ", " + keys;
  std::string text = "%o, %l = nn.attention %a, %b, %c rows 1 " + flags + " : " + operands +
                     " -> " + queries + ", tensor<2x3x100xf32>";
  if (*gradient)
    text += " nn.attention_grad %a, %b, %c, %l, %d, %e rows 1 " + flags + " : " + operands +
            ", tensor<2x3x100xf32>, tensor<2x3x100xf32>, " + queries + " -> " + operands;
  return text;
}

// Scores and weights never are in shared memory, and two groups of copies are under way.
TEST_F(GridPtx, ScoresStayInRegisters) {
  const std::string text = attentionText("bf16", 64, "");
  const std::string ptx =
      ptxOf({text.c_str(), {{"2x100x3x64xbf16"}, {"2x130x3x64xbf16"}, {"2x130x3x64xbf16"}}}, "f32");
  EXPECT_TRUE(has(ptx, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")) << ptx;
  EXPECT_TRUE(has(ptx, "ldmatrix.sync.aligned.m8n8.x4.trans.shared")) << ptx;
  EXPECT_TRUE(has(ptx, "cp.async.wait_group \t1") || has(ptx, "cp.async.wait_group 1")) << ptx;
  // The assembler would spill some registers, so that a fourth block finds enough.
  EXPECT_TRUE(has(ptx, ".minnctapersm 3")) << ptx;
  EXPECT_FALSE(has(ptx, "st.shared")) << ptx;
  EXPECT_FALSE(has(ptx, "ld.shared")) << ptx;
  // The lanes of a quad exchange neighbours, so that each stores 16 bytes.
  EXPECT_TRUE(has(ptx, "st.global.v4.b32")) << ptx;
  EXPECT_FALSE(has(ptx, "st.global.b32") || has(ptx, "st.global.u32")) << ptx;
  EXPECT_FALSE(has(ptx, "st.global.u16")) << ptx;
  EXPECT_FALSE(has(ptx, "st.global.b16")) << ptx;
}

const OpCase patches = {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, "
                        "1] groups 1 : tensor<2x9x7x8xf64>, tensor<40x9x3x3xf64> -> "
                        "tensor<2x40x7x8xf64>",
                        {{"2x9x7x8xf64"}, {"40x9x3x3xf64"}}};

/// Ops on a product %p of 40 x 30, and the epilogue by which the library computes the first one. If
/// the library has no epilogue for it (`DPC_EPILOGUE_NONE`), another launch computes all.
struct LibraryCase {
  const char *text;
  std::vector<Arg> more; // %c, ..
  uint32_t epilogue;     // DPC_EPILOGUE_*
  size_t launches = 1;   // with the epilogue
};

// Loops of threads, too, make each element before it is read.
TEST_F(GridCodegen, RandomRowsOfManyDimensions) {
  if (isLaterRun())
    GTEST_SKIP() << "in the long run";
  const unsigned count = std::getenv("DPC_LONG") ? 100 : 8;
  for (unsigned seed = 0; seed < count && !HasFailure(); ++seed) {
    RandomRows rows(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + rows.getText());
    check(rows.get(), "f64", 1e-12, makeKernel);
  }
}

// Tests which ops on a product become an epilogue of the library.
TEST_F(GridCodegen, LibraryEpilogues) {
  const LibraryCase cases[] = {
      {"nn.add %p, %c : tensor<40x30xf64>", {{"40x30xf64"}}, DPC_EPILOGUE_ADD},
      {"nn.add %c, %p : tensor<40x30xf64>", {{"40x30xf64"}}, DPC_EPILOGUE_ADD},
      {"%v = nn.broadcast %c [1] : tensor<30xf64> -> tensor<40x30xf64> "
       "nn.add %p, %v : tensor<40x30xf64>",
       {{"30xf64"}},
       DPC_EPILOGUE_BIAS},
      // A vector with one element per row is no bias, which has one element per column.
      {"%v = nn.broadcast %c [0] : tensor<40xf64> -> tensor<40x30xf64> "
       "nn.add %p, %v : tensor<40x30xf64>",
       {{"40xf64"}},
       DPC_EPILOGUE_NONE},
      {"nn.add %p, %p : tensor<40x30xf64>", {}, DPC_EPILOGUE_NONE},
      {"nn.sub %p, %c : tensor<40x30xf64>", {{"40x30xf64"}}, DPC_EPILOGUE_NONE},
      {"%q = nn.add %p, %c : tensor<40x30xf64> nn.relu %q : tensor<40x30xf64>",
       {{"40x30xf64"}},
       DPC_EPILOGUE_NONE},
      // If the sum is a result, other ops read it.
      {"%v = nn.broadcast %c [1] : tensor<30xf64> -> tensor<40x30xf64> "
       "%q = nn.add %p, %v : tensor<40x30xf64> %t = nn.tanh %q : tensor<40x30xf64> "
       "\"test.yield\"(%t, %q) : (tensor<40x30xf64>, tensor<40x30xf64>) -> ()",
       {{"30xf64"}},
       DPC_EPILOGUE_BIAS,
       2},
      // Unless they read the product.
      {"%q = nn.add %p, %c : tensor<40x30xf64> %t = nn.mul %q, %p : tensor<40x30xf64> "
       "\"test.yield\"(%q, %t) : (tensor<40x30xf64>, tensor<40x30xf64>) -> ()",
       {{"40x30xf64"}},
       DPC_EPILOGUE_NONE},
      {"%q = nn.add %p, %c : tensor<40x30xf64> "
       "\"test.yield\"(%q, %p) : (tensor<40x30xf64>, tensor<40x30xf64>) -> ()",
       {{"40x30xf64"}},
       DPC_EPILOGUE_NONE}};
  const std::pair<StringRef, double> types[] = {
      {"f64", 1e-12}, {"f32", 3e-5}, {"f16", 2e-2}, {"bf16", 2e-2}};
  for (const LibraryCase &one : cases) {
    SCOPED_TRACE(one.text);
    const std::string text = std::string("%p = nn.dot %a, %b contract [1] [0] : tensor<40x24xf64>, "
                                         "tensor<24x30xf64> -> tensor<40x30xf64> ") +
                             one.text;
    OpCase opCase{text.c_str(), {{"40x24xf64"}, {"24x30xf64"}}};
    opCase.args.insert(opCase.args.end(), one.more.begin(), one.more.end());
    for (auto [type, tolerance] : types) {
      // For f64, the library has only the epilogue that adds a matrix.
      const bool isLacking = one.epilogue == DPC_EPILOGUE_BIAS && type == "f64";
      const uint32_t wanted = isLacking ? uint32_t(DPC_EPILOGUE_NONE) : one.epilogue;
      check(opCase, type, tolerance, [&](Operation *op) -> std::unique_ptr<RunnableKernel> {
        auto kernel = DeviceKernel::create(op, withLibrary());
        EXPECT_EQ(kernel->countCalls(), 1u);
        EXPECT_EQ(kernel->code.launches.size(), wanted == DPC_EPILOGUE_NONE ? 2u : one.launches);
        dpc_product_t call;
        std::memcpy(&call, kernel->code.launches[0].call->description.data(), sizeof call);
        EXPECT_EQ(call.epilogue, wanted);
        return kernel;
      });
    }
  }
}

// Tests which convolutions a library computes, and that it gets their geometry.
TEST_F(GridCodegen, LibraryConvolutions) {
  const std::pair<OpCase, size_t> cases[] = {
      {{"nn.conv %a, %b strides [2, 1] padLow [1, 0] padHigh [1, 0] dilations [1, 2] groups 2 : "
        "tensor<2x32x9x6xf64>, tensor<48x16x3x2xf64> -> tensor<2x48x5x4xf64>",
        {{"2x32x9x6xf64"}, {"48x16x3x2xf64"}}},
       1},
      {{"nn.conv_input_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [1, 0] dilations [1, 2] "
        "groups 2 : tensor<2x48x5x4xf64>, tensor<48x16x3x2xf64> -> tensor<2x32x9x6xf64>",
        {{"2x48x5x4xf64"}, {"48x16x3x2xf64"}}},
       1},
      {{"nn.conv_weight_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [1, 0] dilations [1, 2] "
        "groups 2 : tensor<2x32x9x6xf64>, tensor<2x48x5x4xf64> -> tensor<48x16x3x2xf64>",
        {{"2x32x9x6xf64"}, {"2x48x5x4xf64"}}},
       1},
      // One dimension becomes two.
      {{"nn.conv %a, %b strides [2] padLow [2] padHigh [2] dilations [2] groups 1 : "
        "tensor<3x16x21xf64>, tensor<24x16x3xf64> -> tensor<3x24x11xf64>",
        {{"3x16x21xf64"}, {"24x16x3xf64"}}},
       1},
      {{"nn.conv_input_grad %a, %b strides [2] padLow [2] padHigh [2] dilations [2] groups 1 : "
        "tensor<3x24x11xf64>, tensor<24x16x3xf64> -> tensor<3x16x21xf64>",
        {{"3x24x11xf64"}, {"24x16x3xf64"}}},
       1},
      {{"nn.conv_weight_grad %a, %b strides [2] padLow [2] padHigh [2] dilations [2] groups 1 : "
        "tensor<3x16x21xf64>, tensor<3x24x11xf64> -> tensor<24x16x3xf64>",
        {{"3x16x21xf64"}, {"3x24x11xf64"}}},
       1},
      {{"nn.conv %a, %b strides [1, 2, 1] padLow [1, 0, 1] padHigh [1, 0, 1] dilations [1, 1, 1] "
        "groups 1 : tensor<2x16x4x5x3xf64>, tensor<24x16x3x2x3xf64> -> tensor<2x24x4x2x3xf64>",
        {{"2x16x4x5x3xf64"}, {"24x16x3x2x3xf64"}}},
       1},
      // Channels last.
      {{"nn.conv %a, %b strides [2, 1] padLow [1, 0] padHigh [1, 0] dilations [1, 2] "
        "groups 2 channelsLast : tensor<2x9x6x32xf64>, tensor<48x3x2x16xf64> -> "
        "tensor<2x5x4x48xf64>",
        {{"2x9x6x32xf64"}, {"48x3x2x16xf64"}}},
       1},
      {{"nn.conv_input_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [1, 0] dilations "
        "[1, 2] groups 2 channelsLast : tensor<2x5x4x48xf64>, tensor<48x3x2x16xf64> -> "
        "tensor<2x9x6x32xf64>",
        {{"2x5x4x48xf64"}, {"48x3x2x16xf64"}}},
       1},
      {{"nn.conv_weight_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [1, 0] dilations "
        "[1, 2] groups 2 channelsLast : tensor<2x9x6x32xf64>, tensor<2x5x4x48xf64> -> "
        "tensor<48x3x2x16xf64>",
        {{"2x9x6x32xf64"}, {"2x5x4x48xf64"}}},
       1},
      {{"nn.conv %a, %b strides [2] padLow [2] padHigh [2] dilations [2] groups 1 "
        "channelsLast : tensor<3x21x16xf64>, tensor<24x3x16xf64> -> tensor<3x11x24xf64>",
        {{"3x21x16xf64"}, {"24x3x16xf64"}}},
       1},
      {{"nn.conv_input_grad %a, %b strides [2] padLow [2] padHigh [2] dilations [2] "
        "groups 1 channelsLast : tensor<3x11x24xf64>, tensor<24x3x16xf64> -> "
        "tensor<3x21x16xf64>",
        {{"3x11x24xf64"}, {"24x3x16xf64"}}},
       1},
      {{"nn.conv_weight_grad %a, %b strides [2] padLow [2] padHigh [2] dilations [2] "
        "groups 1 channelsLast : tensor<3x21x16xf64>, tensor<3x11x24xf64> -> "
        "tensor<24x3x16xf64>",
        {{"3x21x16xf64"}, {"3x11x24xf64"}}},
       1},
      // Another padding on each side.
      {{"nn.conv %a, %b strides [1, 1] padLow [0, 1] padHigh [2, 1] dilations [1, 1] groups 1 : "
        "tensor<2x16x5x5xf64>, tensor<24x16x3x3xf64> -> tensor<2x24x5x5xf64>",
        {{"2x16x5x5xf64"}, {"24x16x3x3xf64"}}},
       1},
      // Padding that crops is none of a library.
      {{"nn.conv %a, %b strides [1, 1] padLow [-1, 0] padHigh [1, 0] dilations [1, 1] groups 1 : "
        "tensor<2x16x7x7xf64>, tensor<24x16x3x3xf64> -> tensor<2x24x5x5xf64>",
        {{"2x16x7x7xf64"}, {"24x16x3x3xf64"}}},
       0},
      // The library computes the convolution, and a second launch the bias and the ReLU.
      {{"%e = nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 "
        ": tensor<2x16x6x6xf64>, tensor<16x16x3x3xf64> -> tensor<2x16x6x6xf64> %v = nn.broadcast "
        "%c [1] : tensor<16xf64> -> tensor<2x16x6x6xf64> %s = nn.add %e, %v : tensor<2x16x6x6xf64> "
        "nn.relu %s : tensor<2x16x6x6xf64>",
        {{"2x16x6x6xf64"}, {"16x16x3x3xf64"}, {"16xf64"}}},
       1}};
  const std::pair<StringRef, double> types[] = {
      {"f64", 1e-12}, {"f32", 3e-5}, {"f16", 2e-2}, {"bf16", 5e-2}};
  for (const auto &[one, calls] : cases)
    for (auto [type, tolerance] : types) {
      SCOPED_TRACE(one.text);
      const size_t wanted = calls;
      check(one, type, tolerance, [&](Operation *op) -> std::unique_ptr<RunnableKernel> {
        auto kernel = DeviceKernel::create(op, withLibrary());
        EXPECT_EQ(kernel->countCalls(), wanted);
        return kernel;
      });
    }
  // Convolutions in bf16 with results of f32 are kernels.
  Kernel wide = parseKernel(
      context,
      {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : "
       "tensor<2x16x6x6xbf16>, tensor<16x16x3x3xbf16> -> tensor<2x16x6x6xf32>",
       {{"2x16x6x6xbf16"}, {"16x16x3x3xbf16"}}},
      "f64");
  EXPECT_EQ(DeviceKernel::create(wide.op, withLibrary())->countCalls(), 0u);
}

// Kernels compute small products, and products whose sums must keep their order.
TEST_F(GridCodegen, LibraryWhereItPays) {
  auto countOf = [&](const std::string &rows, const CodeOptions &options) {
    const std::string a = rows + "x256xf64", tensor = "tensor<" + a + ">",
                      text = "nn.dot %a, %b contract [1] [0] : " + tensor +
                             ", tensor<256x256xf64> -> " + tensor;
    Kernel kernel = parseKernel(context, {text.c_str(), {{a.c_str()}, {"256x256xf64"}}}, "f32");
    return DeviceKernel::create(kernel.op, options)->countCalls();
  };
  CodeOptions ordered, generated, bySize;
  ordered.orderedSums = true;
  generated.products = ProductMaker::generated;
  EXPECT_EQ(countOf("256", bySize), 1u);
  EXPECT_EQ(countOf("255", bySize), 0u);
  EXPECT_EQ(countOf("255", withLibrary()), 1u);
  EXPECT_EQ(countOf("256", generated), 0u);
  EXPECT_EQ(countOf("256", ordered), 0u);
}

// Matrix units sum the products of 16-bit factors in f32. Each product is exact, so sums are as
// exact as those of f32.
TEST_F(GridCodegen, WideSumsOfHalves) {
  const OpCase cases[] = {
      // Chunks, in several stages, and tiles that reach beyond the result.
      {"nn.dot %a, %b contract [1] [0] : tensor<200x136xT>, tensor<136x168xT> -> "
       "tensor<200x168xf32>",
       {{"200x136xT"}, {"136x168xT"}}},
      {"nn.dot %a, %b contract [0] [1] : tensor<136x200xT>, tensor<168x136xT> -> "
       "tensor<200x168xf32>",
       {{"136x200xT"}, {"168x136xT"}}},
      // One factor in chunks, and one in single elements.
      {"nn.dot %a, %b contract [1] [0] : tensor<40x72xT>, tensor<72x51xT> -> tensor<40x51xf32>",
       {{"40x72xT"}, {"72x51xT"}}},
      {"nn.dot %a, %b batch [0] [1] contract [1] [2] : tensor<3x24x40xT>, tensor<48x3x24xT> -> "
       "tensor<3x40x48xf32>",
       {{"3x24x40xT"}, {"48x3x24xT"}}},
      // Neighbours along several dimensions, and fewer elements than threads.
      {"nn.dot %a, %b contract [2, 0] [1, 0] : tensor<5x24x16xT>, tensor<5x16x32xT> -> "
       "tensor<24x32xf32>",
       {{"5x24x16xT"}, {"5x16x32xT"}}},
      // Blocks that share sums.
      {"nn.dot %a, %b contract [1] [1] : tensor<24x1048xT>, tensor<40x1048xT> -> tensor<24x40xf32>",
       {{"24x1048xT"}, {"40x1048xT"}}},
      // Convolutions whose patches are points, and others.
      {"nn.conv %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : "
       "tensor<3x24x4x6xT>, tensor<40x24x1x1xT> -> tensor<3x40x4x6xf32>",
       {{"3x24x4x6xT"}, {"40x24x1x1xT"}}},
      {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] "
       "groups 1 : tensor<3x24x4x6xT>, tensor<3x40x4x6xT> -> tensor<40x24x1x1xf32>",
       {{"3x24x4x6xT"}, {"3x40x4x6xT"}}},
      {"nn.conv %a, %b strides [2, 1] padLow [1, 1] padHigh [0, 1] dilations [1, 1] groups 2 : "
       "tensor<3x16x8x8xT>, tensor<40x8x3x3xT> -> tensor<3x40x4x8xf32>",
       {{"3x16x8x8xT"}, {"40x8x3x3xT"}}},
      {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] "
       "groups 1 : tensor<2x16x8x8xT>, tensor<16x24x3x3xT> -> tensor<2x24x8x8xf32>",
       {{"2x16x8x8xT"}, {"16x24x3x3xT"}}},
      {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] "
       "groups 1 : tensor<2x24x8x8xT>, tensor<2x16x8x8xT> -> tensor<16x24x3x3xf32>",
       {{"2x24x8x8xT"}, {"2x16x8x8xT"}}},
      // Channels last: chunks of the channels of a group, and channels that are no chunks.
      {"nn.conv %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] "
       "groups 1 channelsLast : tensor<3x4x6x24xT>, tensor<40x1x1x24xT> -> "
       "tensor<3x4x6x40xf32>",
       {{"3x4x6x24xT"}, {"40x1x1x24xT"}}},
      {"nn.conv_input_grad %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations "
       "[1, 1] groups 1 channelsLast : tensor<3x4x6x40xT>, tensor<40x1x1x24xT> -> "
       "tensor<3x4x6x24xf32>",
       {{"3x4x6x40xT"}, {"40x1x1x24xT"}}},
      {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations "
       "[1, 1] groups 1 channelsLast : tensor<3x4x6x24xT>, tensor<3x4x6x40xT> -> "
       "tensor<40x1x1x24xf32>",
       {{"3x4x6x24xT"}, {"3x4x6x40xT"}}},
      {"nn.conv %a, %b strides [2, 1] padLow [1, 1] padHigh [0, 1] dilations [1, 1] "
       "groups 2 channelsLast : tensor<3x8x8x16xT>, tensor<40x3x3x8xT> -> "
       "tensor<3x4x8x40xf32>",
       {{"3x8x8x16xT"}, {"40x3x3x8xT"}}},
      {"nn.conv_input_grad %a, %b strides [2, 1] padLow [1, 1] padHigh [0, 1] dilations "
       "[1, 1] groups 2 channelsLast : tensor<3x4x8x40xT>, tensor<40x3x3x8xT> -> "
       "tensor<3x8x8x16xf32>",
       {{"3x4x8x40xT"}, {"40x3x3x8xT"}}},
      {"nn.conv_weight_grad %a, %b strides [2, 1] padLow [1, 1] padHigh [0, 1] dilations "
       "[1, 1] groups 2 channelsLast : tensor<3x8x8x16xT>, tensor<3x4x8x40xT> -> "
       "tensor<40x3x3x8xf32>",
       {{"3x8x8x16xT"}, {"3x4x8x40xT"}}},
      {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] "
       "groups 1 channelsLast : tensor<2x6x6x64xT>, tensor<48x3x3x64xT> -> "
       "tensor<2x6x6x48xf32>",
       {{"2x6x6x64xT"}, {"48x3x3x64xT"}}},
      {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations "
       "[1, 1] groups 1 channelsLast : tensor<2x6x6x48xT>, tensor<48x3x3x64xT> -> "
       "tensor<2x6x6x64xf32>",
       {{"2x6x6x48xT"}, {"48x3x3x64xT"}}},
      {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations "
       "[1, 1] groups 1 channelsLast : tensor<2x6x6x64xT>, tensor<2x6x6x48xT> -> "
       "tensor<48x3x3x64xf32>",
       {{"2x6x6x64xT"}, {"2x6x6x48xT"}}},
      {"nn.conv %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] "
       "groups 1 channelsLast : tensor<2x5x5x36xT>, tensor<40x3x3x36xT> -> "
       "tensor<2x3x3x40xf32>",
       {{"2x5x5x36xT"}, {"40x3x3x36xT"}}},
      {"nn.conv_input_grad %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations "
       "[1, 1] groups 1 channelsLast : tensor<2x3x3x40xT>, tensor<40x3x3x36xT> -> "
       "tensor<2x5x5x36xf32>",
       {{"2x3x3x40xT"}, {"40x3x3x36xT"}}},
      {"nn.conv_weight_grad %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations "
       "[1, 1] groups 1 channelsLast : tensor<2x5x5x36xT>, tensor<2x3x3x40xT> -> "
       "tensor<40x3x3x36xf32>",
       {{"2x5x5x36xT"}, {"2x3x3x40xT"}}}};
  for (const OpCase &one : cases)
    for (const char *type : {"bf16", "f16"}) {
      if (isLaterRun() && type[0] == 'f')
        continue;
      auto with = [&](std::string text) {
        for (size_t at = 0; (at = text.find("xT", at)) != std::string::npos;)
          text.replace(at + 1, 1, type);
        return text;
      };
      const std::string text = with(one.text), a = with(one.args[0].type),
                        b = with(one.args[1].type);
      SCOPED_TRACE(text);
      check({text.c_str(), {{a.c_str()}, {b.c_str()}}}, "f32", 1e-6, makeKernel);
    }
}

// What is computed before the product is computed where a slice is filled, and what follows it
// where its sums are final.
TEST_F(GridCodegen, HalvesWithOtherOps) {
  const OpCase cases[] = {
      {"%e = nn.neg %a : tensor<40x72xf64> %p = nn.dot %e, %b contract [1] [0] : "
       "tensor<40x72xf64>, tensor<72x48xf64> -> tensor<40x48xf64> %q = nn.add %p, %c : "
       "tensor<40x48xf64> nn.relu %q : tensor<40x48xf64>",
       {{"40x72xf64"}, {"72x48xf64"}, {"40x48xf64"}}},
      {"%t = nn.transpose %a [1, 0] : tensor<72x40xf64> -> tensor<40x72xf64> nn.dot %t, %b "
       "contract "
       "[1] [0] : tensor<40x72xf64>, tensor<72x48xf64> -> tensor<40x48xf64>",
       {{"72x40xf64"}, {"72x48xf64"}}}};
  for (const OpCase &one : cases)
    for (const char *type : {"bf16", "f16", "f32"})
      check(one, type, 1e-5, makeKernel);
}

// Sums that keep their order are made by scalar instructions, of factors that are widened when a
// slice is filled.
TEST_F(GridCodegen, OrderedProducts) {
  auto make = [](Operation *op) -> std::unique_ptr<RunnableKernel> {
    CodeOptions options;
    options.orderedSums = true;
    return DeviceKernel::create(op, options);
  };
  for (const OpCase &opCase : {product, patches, alignedProduct(false, true)})
    for (const char *type : {"bf16", "f32", "f64"})
      check(opCase, type, 1e-5, make);
}

TEST_F(GridCodegen, Tf32) {
  const char *processor = "";
  auto make = [&](Operation *op) -> std::unique_ptr<RunnableKernel> {
    return DeviceKernel::create(op, withTf32(processor));
  };
  const OpCase wide = {"nn.dot %a, %b contract [0] [1] : tensor<20x300xf64>, tensor<140x20xf64> -> "
                       "tensor<300x140xf64>",
                       {{"20x300xf64"}, {"140x20xf64"}}};
  for (const char *each : {"sm_80", "sm_90"}) {
    processor = each;
    for (const OpCase &opCase : {product, wide, patches, alignedProduct(false, false),
                                 alignedProduct(false, true), alignedProduct(true, false)})
      check(opCase, "f32", 2e-3, make);
  }
}

// Tiles of all sizes of 16-bit results, whose factors have the depth inside or outside.
TEST_F(GridCodegen, TilesOfHalves) {
  const std::array<int64_t, 4> shapes[] = {
      {66, 128, 128, 160}, {66, 124, 60, 72}, {66, 60, 120, 24}, {130, 30, 62, 40}, {3, 33, 31, 8}};
  forEachProduct(shapes, [&](const OpCase &one, int64_t) { check(one, "bf16", 2e-2, makeKernel); });
}

// Convolutions with channels last of 16 bits: chunks of channels, padding, strides, dilations and
// groups, and patches at the border of tiles and of the image.
TEST_F(GridCodegen, ConvolutionsOfHalves) {
  struct Window {
    const char *text, *x, *w, *y;
  };
  const Window windows[] = {
      {"strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1", "5x9x7x64",
       "72x1x1x64", "5x9x7x72"},
      {"strides [2, 2] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1", "3x9x8x40",
       "64x1x1x40", "3x5x4x64"},
      {"strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1", "3x7x7x64",
       "64x3x3x64", "3x7x7x64"},
      {"strides [2, 2] padLow [1, 2] padHigh [2, 1] dilations [2, 1] groups 2", "2x13x12x48",
       "80x3x3x24", "2x6x7x80"},
  };
  for (const Window &window : windows)
    for (int kind : {0, 1, 2}) {
      auto tensor = [](const char *shape) { return std::string(shape) + "xf64"; };
      const std::string x = tensor(window.x), w = tensor(window.w), y = tensor(window.y);
      const char *names[] = {"nn.conv", "nn.conv_input_grad", "nn.conv_weight_grad"};
      const std::string a = kind == 1 ? y : x, b = kind == 2 ? y : w,
                        result = kind == 0   ? y
                                 : kind == 1 ? x
                                             : w,
                        text = std::string(names[kind]) + " %a, %b " + window.text +
                               " channelsLast : tensor<" + a + ">, tensor<" + b + "> -> tensor<" +
                               result + ">";
      SCOPED_TRACE(text);
      check({text.c_str(), {{a.c_str()}, {b.c_str()}}}, "bf16", 2e-2, makeKernel);
    }
}

// Tiles of all sizes, whose factors have the depth inside or outside: the batches are enough
// blocks. Rows and columns reach beyond tiles, and lengths of rows are multiples of 4, of 2 or odd.
// The last of five slices are not in the loop.
TEST_F(GridCodegen, TilesOfTf32) {
  auto make = [&](Operation *op) -> std::unique_ptr<RunnableKernel> {
    return DeviceKernel::create(op, withTf32("sm_90"));
  };
  auto makeSplit = [&](Operation *op) -> std::unique_ptr<RunnableKernel> {
    return DeviceKernel::create(op, withFactors(FactorForm::split, "sm_90"));
  };
  const std::array<int64_t, 4> shapes[] = {
      {66, 128, 128, 80}, {66, 124, 60, 72}, {66, 60, 124, 20}, {66, 62, 62, 24}, {3, 33, 31, 40}};
  forEachProduct(shapes, [&](const OpCase &one, int64_t rows) {
    check(one, "f32", 2e-3, make);
    if (rows < 128)
      check(one, "f32", 2e-6, makeSplit);
  });
}

// Three products of tf32 have almost the precision of f32, where one would be off by 1e-3: with
// factors in any direction, odd extents, batches, sums that are split among blocks, and ops around.
TEST_F(GridCodegen, SplitFactors) {
  const char *processor = "";
  auto make = [&](Operation *op) -> std::unique_ptr<RunnableKernel> {
    return DeviceKernel::create(op, withFactors(FactorForm::split, processor));
  };
  const OpCase batches = {"nn.dot %a, %b batch [0] [0] contract [2] [1] : tensor<3x37x41xf64>, "
                          "tensor<3x41x29xf64> -> tensor<3x37x29xf64>",
                          {{"3x37x41xf64"}, {"3x41x29xf64"}}},
               deep = {"nn.dot %a, %b contract [0] [0] : tensor<1500x33xf64>, tensor<1500x49xf64> "
                       "-> tensor<33x49xf64>",
                       {{"1500x33xf64"}, {"1500x49xf64"}}},
               joined = {
                   "%e = nn.neg %a : tensor<40x72xf64> %p = nn.dot %e, %b contract [1] [0] : "
                   "tensor<40x72xf64>, tensor<72x48xf64> -> tensor<40x48xf64> %q = nn.add %p, "
                   "%c : tensor<40x48xf64> nn.relu %q : tensor<40x48xf64>",
                   {{"40x72xf64"}, {"72x48xf64"}, {"40x48xf64"}}};
  for (const char *each : {"sm_80", "sm_90"}) {
    processor = each;
    for (const OpCase &opCase :
         {product, batches, deep, joined, patches, alignedProduct(false, false),
          alignedProduct(false, true), alignedProduct(true, false), alignedProduct(true, true)})
      check(opCase, "f32", 2e-6, make);
  }
}

// Attention with the tiles that stay in registers, and with others: rows that are no complete
// matrices, are shared by several blocks, or are too long. Factors of f32 are rounded only if the
// options allow it.
TEST_F(GridCodegen, F32Attention) {
  FactorForm factors = FactorForm::whole;
  auto make = [&](Operation *op) -> std::unique_ptr<RunnableKernel> {
    return DeviceKernel::create(op, withFactors(factors));
  };
  for (FactorForm each : {FactorForm::whole, FactorForm::rounded})
    for (int64_t size : {9, 64, 80, 200})
      for (const char *gradient : {"", "gradient"}) {
        if ((isLaterRun() && size != 64) || (each == FactorForm::whole && size == 200))
          continue;
        const std::string text = attentionText("f32", size, gradient),
                          end = "x3x" + std::to_string(size) + "xf32", queries = "2x100" + end,
                          keys = "2x130" + end;
        SCOPED_TRACE(text);
        std::vector<Arg> args{{queries.c_str()}, {keys.c_str()}, {keys.c_str()}};
        if (*gradient) {
          args.push_back({"2x3x100xf32"});
          args.push_back({queries.c_str()});
        }
        factors = each;
        check({text.c_str(), args}, "f32", each == FactorForm::rounded ? 5e-3 : 1e-5, make);
      }
}

// The largest score is that of the least product if the scale is negative, and all tiles but the
// last are whole without `causal`.
TEST_F(GridCodegen, NegativeScales) {
  for (const char *flags : {"scale -0.3 causal", "scale -0.3"}) {
    const std::string text = attentionText("bf16", 16, "gradient", flags);
    check({text.c_str(),
           {{"2x100x3x16xbf16"},
            {"2x130x3x16xbf16"},
            {"2x130x3x16xbf16"},
            {"2x3x100xf32"},
            {"2x100x3x16xbf16"}}},
          "f32", 2e-2, makeKernel);
  }
}

// Lanes exchange the elements of wide results, if rows have complete groups of 32.
TEST_F(GridCodegen, AttentionWithWideResults) {
  for (int64_t size : {40, 64, 96}) {
    const std::string end = "x3x" + std::to_string(size), queries = "2x100" + end,
                      keys = "2x130" + end, narrow = "xbf16>";
    const std::string text = "nn.attention %a, %b, %c rows 1 scale 0.2 causal : tensor<" + queries +
                             narrow + ", tensor<" + keys + narrow + ", tensor<" + keys + narrow +
                             " -> tensor<" + queries + "xf32>, tensor<2x3x100xf32>";
    SCOPED_TRACE(text);
    const std::string own = queries + "xbf16", other = keys + "xbf16";
    const OpCase attention{text.c_str(), {{own.c_str()}, {other.c_str()}, {other.c_str()}}};
    check(attention, "f32", 2e-2, makeKernel);
    Kernel kernel = parseKernel(context, attention, "f32");
    auto compiled = DeviceKernel::create(kernel.op);
    ASSERT_TRUE(compiled);
    EXPECT_EQ(compiled->ptx.find("st.global.v4.f32") != std::string::npos, size % 32 == 0);
  }
}

// The order of sums is kept by the tiles whose scores pass through shared memory.
TEST_F(GridCodegen, OrderedAttention) {
  auto make = [](Operation *op) -> std::unique_ptr<RunnableKernel> {
    CodeOptions options;
    options.orderedSums = true;
    return DeviceKernel::create(op, options);
  };
  const std::string text = attentionText("f32", 40, "");
  check({text.c_str(), {{"2x100x3x40xf32"}, {"2x130x3x40xf32"}, {"2x130x3x40xf32"}}}, "f32", 1e-5,
        make);
}

TEST_F(GridCodegen, IntegerDivisionNeverTraps) { expectNoTraps(makeKernel); }
TEST_F(GridCodegen, EqualElementsAreFound) { expectEqualElements(makeKernel, "cuda"); }
TEST_F(GridCodegen, MaximaKeepNan) { expectNanKept(makeKernel, "cuda"); }

} // namespace
