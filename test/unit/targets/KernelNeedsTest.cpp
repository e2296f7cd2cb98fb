// The needs of kernels, which targets compute without code, are those of their code.

#include "targets/CPU/CPUTarget.h"
#include "targets/CUDA/CUDATarget.h"
#include "targets/Scalar/ScalarTarget.h"
#include "targets/Target.h"

#include "dialects/NN/IR/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;

namespace {

using Aliases = SmallVector<SmallVector<unsigned>>;

class KernelNeedsOf : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    registerCPUTarget();
    registerCUDATarget();
    registerScalarTarget();
  }

  /// Expects these needs of the kernel with this body, and that its code has them.
  void expect(StringRef target, StringRef types, StringRef body, int64_t scratchBytes,
              const Aliases &mayAlias) {
    DialectRegistry registry;
    registerTargetDialects(registry);
    registry.insert<nn::NNDialect, func::FuncDialect>();
    MLIRContext context(registry);
    context.loadAllAvailableDialects();
    OwningOpRef<ModuleOp> module = parse(context, types, body);
    ASSERT_TRUE(module);
    CodeOptions options;
    options.processor = target == "cpu" ? "x86-64-v3" : "";
    options.products = ProductMaker::generated;
    module->walk([&](nn::KernelOp kernel) {
      FailureOr<KernelNeeds> needs = findTarget(target)->describeKernel(kernel, options);
      ASSERT_TRUE(succeeded(needs));
      EXPECT_EQ(needs->scratchBytes, scratchBytes) << target.str() << body.str();
      EXPECT_EQ(needs->mayAlias, mayAlias) << target.str() << body.str();
      OwningOpRef<ModuleOp> code = ModuleOp::create(kernel.getLoc());
      FailureOr<KernelCode> made = findTarget(target)->emitKernel(kernel, "k", *code, options);
      ASSERT_TRUE(succeeded(made));
      EXPECT_EQ(made->needs, *needs);
    });
  }

private:
  /// A function with a kernel; `types` are those of %a, %b, .., then of the result %r.
  static OwningOpRef<ModuleOp> parse(MLIRContext &context, StringRef types, StringRef body) {
    SmallVector<StringRef> all;
    types.split(all, ", ");
    std::string outer, inner, values, operands;
    for (size_t i = 0; i + 1 < all.size(); ++i) {
      std::string name(1, static_cast<char>('a' + i)), comma = i ? ", " : "";
      outer += comma + "%x" + name + ": tensor<" + all[i].str() + ">";
      inner += comma + "%" + name + ": tensor<" + all[i].str() + ">";
      values += comma + "%x" + name;
      operands += comma + "tensor<" + all[i].str() + ">";
    }
    std::string result = "tensor<" + all.back().str() + ">";
    std::string text = "func.func @f(" + outer + ") -> " + result + " {\n %0 = nn.kernel(" +
                       values + " : " + operands + ") {\n ^bb0(" + inner + "):\n" + body.str() +
                       "\n nn.yield %r : " + result + "\n } -> " + result +
                       "\n return %0 : " + result + "\n}";
    return parseSourceString<ModuleOp>(text, &context);
  }
};

// The result of the product stays in registers or in a tile. x86-64-v3 has 8 lanes: tiles
// have 6 rows and 16 columns, so 60 rows have tiles of one kind and 64 rows of two. Only
// tiles of one kind let the sum take the place of its operand.
TEST_F(KernelNeedsOf, ProductWithEpilogue) {
  auto product = [](int rows, int depth) {
    std::string r = std::to_string(rows), d = std::to_string(depth), m = "tensor<" + r + "x64xf32>";
    return std::pair<std::string, std::string>(
        r + "x" + d + "xf32, " + d + "x64xf32, " + r + "x64xf32, " + r + "x64xf32",
        "%d = nn.dot %a, %b contract [1] [0] : tensor<" + r + "x" + d + "xf32>, tensor<" + d +
            "x64xf32> -> " + m + " %r = nn.add %d, %c : " + m);
  };
  auto [types, body] = product(60, 64);
  // The packed A, aligned to 64 bytes, a panel of B and a tile of sums.
  expect("cpu", types, body, (60 * 64 + 8) * 4 + 32 + 16 * 64 * 4 + 6 * 16 * 4, {{2}});
  std::tie(types, body) = product(64, 64);
  expect("cpu", types, body, (66 * 64 + 8) * 4 + 32 + 16 * 64 * 4 + 6 * 16 * 4, {{}});
  // A thread has four sums of a tile.
  expect("cuda", types, body, 0, {{}});
  // Two blocks share each sum, and another launch adds their parts.
  std::tie(types, body) = product(64, 512);
  expect("cuda", types, body, 2 * 64 * 64 * 4, {{2}});
}

// A row of x is last read where its quotients are written.
TEST_F(KernelNeedsOf, Softmax) {
  const char *body = R"(
    %m = nn.reduce max %a [1] : tensor<8x16xf32> -> tensor<8xf32>
    %n = nn.broadcast %m [0] : tensor<8xf32> -> tensor<8x16xf32>
    %s = nn.sub %a, %n : tensor<8x16xf32>
    %e = nn.exp %s : tensor<8x16xf32>
    %t = nn.reduce sum %e [1] : tensor<8x16xf32> -> tensor<8xf32>
    %u = nn.broadcast %t [0] : tensor<8xf32> -> tensor<8x16xf32>
    %r = nn.div %e, %u : tensor<8x16xf32>)";
  // The exponentials of a row.
  expect("cpu", "8x16xf32, 8x16xf32", body, 16 * 4, {{0}});
  expect("scalar", "8x16xf32, 8x16xf32", body, 16 * 4, {{0}});
  // They are in shared memory.
  expect("cuda", "8x16xf32, 8x16xf32", body, 0, {{0}});
}

TEST_F(KernelNeedsOf, Convolution) {
  const char *types = "1x4x10x10xf32, 16x4x3x3xf32, 1x16x8x8xf32";
  const char *body = "%r = nn.conv %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations "
                     "[1, 1] groups 1 : tensor<1x4x10x10xf32>, tensor<16x4x3x3xf32> -> "
                     "tensor<1x16x8x8xf32>";
  // The packed weights, and the sums with channels as lanes. The image is read in place.
  expect("cpu", types, body, 16 * 4 * 3 * 3 * 4 + 16 * 8 * 8 * 4, {{}});
  expect("scalar", types, body, 0, {{}});
  expect("cuda", types, body, 0, {{}});
}

TEST_F(KernelNeedsOf, SumOfRows) {
  const char *types = "128x16xf32, 16xf32";
  const char *body = "%r = nn.reduce sum %a [0] : tensor<128x16xf32> -> tensor<16xf32>";
  // Totals in f64.
  expect("cpu", types, body, 16 * 8, {{}});
  expect("scalar", types, body, 0, {{}});
}

TEST_F(KernelNeedsOf, Elementwise) {
  for (const char *target : {"cpu", "scalar", "cuda"}) {
    expect(target, "16x16xf32, 16x16xf32",
           "%r = nn.transpose %a [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>", 0, {{}});
    expect(target, "16x16xf32, 16x16xf32, 16xf32, 16x16xf32",
           R"(%e = nn.exp %a : tensor<16x16xf32> %s = nn.add %e, %b : tensor<16x16xf32>
              %t = nn.broadcast %c [1] : tensor<16xf32> -> tensor<16x16xf32>
              %r = nn.mul %s, %t : tensor<16x16xf32>)",
           0, {{0, 1}});
  }
}

// A broadcast that repeats nothing reads the element of its result, whose number its rule writes in
// another way than the tiles of the product.
TEST_F(KernelNeedsOf, ProductWithWholeBroadcast) {
  expect("cpu", "5x32xf32, 32x32xf32, 5x32xf32, 5x32xf32", R"(
    %d = nn.dot %a, %b contract [1] [1] : tensor<5x32xf32>, tensor<32x32xf32> -> tensor<5x32xf32>
    %p = nn.broadcast %c [0, 1] : tensor<5x32xf32> -> tensor<5x32xf32>
    %r = nn.add %d, %p : tensor<5x32xf32>)",
         2368, {{2}});
}

// A reduction of one element, and elements that the code has at hand, allow as much as
// plain elements.
TEST_F(KernelNeedsOf, ReductionOfOneElement) {
  for (const char *target : {"cpu", "scalar", "cuda"})
    expect(target, "16x1xf32, 16xf32",
           "%r = nn.reduce sum %a [1] : tensor<16x1xf32> -> tensor<16xf32>", 0, {{0}});
}

} // namespace
