// Generated code of every op and of fused kernels, run in this process and
// compared with the interpreter rules.

#include "test/unit/targets/CompiledKernel.h"
#include "test/unit/targets/KernelCases.h"
#include "test/unit/targets/KernelTest.h"
#include "test/unit/targets/RandomRows.h"

#include "dialects/NN/IR/Program.h"

#include "llvm/TargetParser/Host.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <list>
#include <set>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {
class Codegen : public KernelTest {
protected:
  using KernelTest::check;
  /// For the options of a target.
  void check(const OpCase &opCase, StringRef floatType, double tolerance,
             const CodeOptions &options = {}, StringRef target = "cpu") {
    KernelTest::check(opCase, floatType, tolerance,
                      [&](Operation *op) { return CompiledKernel::create(op, options, target); });
  }

  /// For a processor of the target `cpu`, or for the target of that name.
  static std::unique_ptr<RunnableKernel> compileFor(Operation *op, StringRef name) {
    if (findTarget(name))
      return CompiledKernel::create(op, {}, name);
    return CompiledKernel::create(op, CodeOptions{name.str()});
  }
};

const char *const processors[] = {"native", "x86-64-v3", "scalar"};
} // namespace

namespace {
class CodegenCase : public Codegen, public testing::WithParamInterface<OpCase> {};
} // namespace

/// Whether the case is another one in f64 than in f32.
static bool hasWideForm(const OpCase &opCase) { return StringRef(opCase.text).contains("f64"); }

TEST_P(CodegenCase, F64) {
  if (!hasWideForm(GetParam()))
    GTEST_SKIP() << "it has its own types: the test in f32 is this one";
  check(GetParam(), "f64", 1e-12);
}
TEST_P(CodegenCase, F32) { check(GetParam(), "f32", 2e-6); }
/// The tiles of machines without AVX-512.
TEST_P(CodegenCase, Avx2) {
  if (!llvm::sys::getHostCPUFeatures().lookup("avx512f"))
    GTEST_SKIP() << "this machine's own tiles are these";
  check(GetParam(), "f32", 2e-6, CodeOptions{"x86-64-v3"});
}

/// Factors of bf16, multiplied by the instructions that multiply bf16 and without them. Cases of
/// f16 become cases of bf16, and so do convolutions of f64.
TEST_P(CodegenCase, Bf16) {
  StringRef text = GetParam().text;
  if (!text.contains("f16") && !text.contains("nn.conv ") && !text.contains("nn.conv_"))
    GTEST_SKIP() << "it has no factors of 16 bits";
  std::list<std::string> kept;
  auto inBf16 = [&](const char *type) {
    std::string &narrowed = kept.emplace_back(type);
    for (size_t at = 0; (at = narrowed.find("xf16", at)) != std::string::npos; at += 5)
      narrowed.replace(at, 4, "xbf16");
    return narrowed.c_str();
  };
  OpCase opCase = GetParam();
  opCase.text = inBf16(opCase.text);
  for (Arg &arg : opCase.args)
    arg.type = inBf16(arg.type);
  SmallVector<StringRef> processors{kBf16Processor};
  // Elsewhere, the processor of this machine does without them, in the other tests.
  const bool isLong = std::getenv("DPC_LONG");
  if (isLong || llvm::sys::getHostCPUFeatures().lookup("avx512bf16"))
    processors.push_back(kAvx512Processor);
  if (isLong)
    processors.push_back("x86-64-v3");
  for (StringRef processor : processors) {
    SCOPED_TRACE(processor.str());
    check(opCase, "bf16", 2e-6, CodeOptions{processor.str()});
  }
}

TEST_P(CodegenCase, ScalarF64) { check(GetParam(), "f64", 1e-12, {}, "scalar"); }
/// Sums take their terms in order: their errors are those of blocks of 4,096.
TEST_P(CodegenCase, ScalarF32) {
  if (!std::getenv("DPC_LONG"))
    GTEST_SKIP() << "in the long run: test/targets trains models in f32";
  check(GetParam(), "f32", 3e-5, {}, "scalar");
}

INSTANTIATE_TEST_SUITE_P(Ops, CodegenCase, testing::ValuesIn(opCases()));
INSTANTIATE_TEST_SUITE_P(Kernels, CodegenCase, testing::ValuesIn(kernelCases()));

TEST(CodegenCases, CoverEveryOp) {
  MLIRContext context;
  loadDialects(context);
  context.allowUnregisteredDialects();
  std::set<std::string> covered;
  for (const auto *cases : {&opCases(), &kernelCases()})
    for (const OpCase &opCase : *cases) {
      Kernel kernel = parseKernel(context, opCase, "f64");
      if (kernel.module)
        kernel.module->walk(
            [&](Operation *op) { covered.insert(op->getName().getStringRef().str()); });
    }
  // Not in kernels: state, what is gone at level `step`, and an order between kernels.
  std::set<std::string> excluded = {"nn.variable", "nn.after"};
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "nn" || name.hasInterface<TrainingModeOpInterface>())
      continue;
    std::string text = name.getStringRef().str();
    EXPECT_TRUE(covered.count(text) || excluded.count(text)) << text << " has no case";
  }
}

TEST_F(Codegen, IntegerDivisionNeverTraps) {
  expectNoTraps([](Operation *op) { return CompiledKernel::create(op); });
}

// LLVM's warnings are not for users: here, it cannot make vectors of a loop that a rule asks for.
TEST_F(Codegen, WritesNoWarnings) {
  Kernel kernel = parseKernel(
      context,
      {"nn.max_pool_grad %a, %b kernel [5, 4, 1] strides [3, 1, 1] padLow [2, 1, 0] padHigh "
       "[1, 2, 0] dilations [1, 2, 1] : tensor<2x1x5x14x8xi8>, tensor<2x1x5x14x8xf64> -> "
       "tensor<2x1x15x17x8xf64>",
       {{"2x1x5x14x8xi8"}, {"2x1x5x14x8xf64"}}},
      "f64");
  ASSERT_TRUE(kernel.op);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(CompiledKernel::create(kernel.op));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// A row of logits is read for the last time where its gradient is written: the
// sums over the row, read once each, share the loop over rows with it, and a
// sum over all rows waits.
TEST_F(Codegen, LossGradientInPlace) {
  OpCase opCase{
      R"(%l, %s = nn.cross_entropy %a, %b dim 1 : tensor<9x129xf64>, tensor<9xi64> -> tensor<9xf64>, tensor<9xf64>
         %t = nn.reduce sum %l [0] : tensor<9xf64> -> tensor<f64>
         %sb = nn.broadcast %s [0] : tensor<9xf64> -> tensor<9x129xf64>
         %x = nn.sub %a, %sb : tensor<9x129xf64> %p = nn.exp %x : tensor<9x129xf64>
         "test.yield"(%t, %p) : (tensor<f64>, tensor<9x129xf64>) -> ())",
      {{"9x129xf64"}, {"9xi64", 0, 128}}};
  Kernel kernel = parseKernel(context, opCase, "f64");
  ASSERT_TRUE(kernel.op);
  auto compiled = CompiledKernel::create(kernel.op);
  ASSERT_TRUE(compiled);
  EXPECT_TRUE(llvm::is_contained(compiled->code.needs.mayAlias[1], 0u));
  // Not what a sum over other rows still reads.
  opCase.text =
      R"(%l, %s = nn.cross_entropy %a, %b dim 1 : tensor<9x129xf64>, tensor<9xi64> -> tensor<9xf64>, tensor<9xf64>
         %sb = nn.broadcast %s [0] : tensor<9xf64> -> tensor<9x129xf64>
         %x = nn.sub %a, %sb : tensor<9x129xf64> %p = nn.exp %x : tensor<9x129xf64>
         %c = nn.reduce sum %a [0] : tensor<9x129xf64> -> tensor<129xf64>
         "test.yield"(%c, %p) : (tensor<129xf64>, tensor<9x129xf64>) -> ())";
  kernel = parseKernel(context, opCase, "f64");
  ASSERT_TRUE(kernel.op);
  compiled = CompiledKernel::create(kernel.op);
  ASSERT_TRUE(compiled);
  EXPECT_TRUE(compiled->code.needs.mayAlias[1].empty());
}

// Which loops may be shared is decided on indices that are variables; the loops of each
// target must then be of that kind.
TEST_F(Codegen, RandomRowsOfManyDimensions) {
  const unsigned count = std::getenv("DPC_LONG") ? 400 : 24;
  for (unsigned seed = 0; seed < count && !HasFailure(); ++seed) {
    RandomRows rows(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + rows.getText());
    for (const char *target : {"scalar", "cpu"})
      check(rows.get(), "f64", 1e-12, {}, target);
  }
}

TEST_F(Codegen, EqualElementsAreFound) {
  for (StringRef name : processors)
    expectEqualElements([&](Operation *op) { return compileFor(op, name); }, name);
}

TEST_F(Codegen, MaximaKeepNan) {
  for (StringRef name : processors)
    expectNanKept([&](Operation *op) { return compileFor(op, name); }, name);
}
