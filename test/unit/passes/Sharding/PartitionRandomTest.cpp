// Random programs under random layouts compute what they compute whole.

#include "test/unit/passes/Sharding/RandomRequests.h"
#include "test/unit/passes/Sharding/Shrink.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/Partition/Partition.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {

class PartitionRandom : public ::testing::Test {
protected:
  PartitionRandom() : context(makeRegistry()) {
    context.disableMultithreading();
    context.loadDialect<nn::NNDialect, dist::DistDialect, func::FuncDialect>();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerPartitionModels(registry);
    return registry;
  }

  static int countOps(const PartitionCase &trial) {
    int ops = 0;
    for (auto function : trial.module.get().getOps<func::FuncOp>())
      ops += std::distance(function.front().begin(), function.front().end()) - 1;
    return ops;
  }

  MLIRContext context;
  PartitionCheck check;
};

/// What is wrong, but for the numbers of it: a smaller program fails alike.
StringRef kindOf(StringRef wrong) { return wrong.split(':').first.split('%').first; }

TEST_F(PartitionRandom, ComputesTheSame) {
  uint32_t first = 0, count = std::getenv("DPC_LONG") ? 20000 : 1500;
  if (const char *seed = std::getenv("DPC_SEED"))
    first = std::atoi(seed), count = 1;
  int failures = 0, requests = 0, split = 0;
  for (uint32_t seed = first; seed < first + count && failures < 20; ++seed) {
    std::optional<PartitionCase> trial = makeCase(context, makeRandomProgram(seed));
    ASSERT_TRUE(trial) << "DPC_SEED=" << seed;
    std::mt19937 random(seed);
    if (seed % 3)
      trial->detours = seed;
    if (seed % 4)
      requests += addRequests(*trial, random);
    if (seed % 10 == 1)
      split += hasSplits(*trial);
    const std::string wrong = check.compare(*trial);
    if (wrong.empty())
      continue;
    ++failures;
    PartitionCheck again;
    const PartitionCase small = shrink(*trial, [&](const PartitionCase &smaller) {
      return kindOf(again.compare(smaller)) == kindOf(wrong);
    });
    ADD_FAILURE() << "DPC_SEED=" << seed << ": " << wrong << "\n"
                  << countOps(small)
                  << " ops of it fail alike: " << writeCase(small, seed, again.compare(small));
  }
  EXPECT_LE(check.refused, int(count / 10)) << "too many programs were refused";
  if (count == 1)
    return;
  EXPECT_GE(requests, int(count));
  EXPECT_GE(split, int(count / 100)) << "too few programs in which idle ops are divided";
  for (const char *kind : {"all_reduce", "reduce_scatter", "all_gather", "all_to_all"})
    for (const char *place : {"", " in a loop"})
      EXPECT_GE(check.met[std::string(kind) + place], int(count / 300))
          << "too few of " << kind << place;
}

// A program "fails" here if it has a product that reads a sum: of a long program no
// more than that is left, and the file has it under the command that partitions it.
TEST_F(PartitionRandom, FailuresAreShrunkToAFile) {
  RandomProgram program;
  program.mesh = {{"a=2", "b=3"}, {}, {"a"}, {"b"}};
  program.text = R"(
    func.func @step(%x: tensor<4x6xf64> {nn.arg = #nn.arg<input "x", batch = 0>},
                    %w: tensor<6x6xf64> {nn.arg = #nn.arg<parameter "w">, dist.request = [["b"], []]},
                    %v: tensor<6x6xf64> {nn.arg = #nn.arg<parameter "v">})
        -> (tensor<4x6xf64> {nn.result = #nn.result<output "a">},
            tensor<4x6xf64> {nn.result = #nn.result<output "b">}) {
      %0 = nn.neg %x {dist.request = [["a"], []]} : tensor<4x6xf64>
      %1 = nn.dot %0, %w contract [1] [0] : tensor<4x6xf64>, tensor<6x6xf64> -> tensor<4x6xf64>
      %2 = nn.add %1, %0 : tensor<4x6xf64>
      %3 = nn.dot %2, %v contract [1] [0] : tensor<4x6xf64>, tensor<6x6xf64> -> tensor<4x6xf64>
      %4 = nn.exp %3 : tensor<4x6xf64>
      return %4, %1 : tensor<4x6xf64>, tensor<4x6xf64>
    }
    func.func @eval(%x: tensor<4x6xf64> {nn.arg = #nn.arg<input "x", batch = 0>})
        -> (tensor<4x6xf64> {nn.result = #nn.result<output "a">}) {
      %0 = nn.neg %x : tensor<4x6xf64>
      return %0 : tensor<4x6xf64>
    })";
  std::optional<PartitionCase> trial = makeCase(context, program);
  ASSERT_TRUE(trial);
  auto hasChain = [](const PartitionCase &trial) {
    bool found = false;
    trial.module.get().walk([&](Operation *op) {
      if (op->getName().getStringRef() == "nn.dot")
        if (Operation *maker = op->getOperand(0).getDefiningOp())
          found |= maker->getName().getStringRef() == "nn.add";
    });
    return found;
  };
  const PartitionCase small = shrink(*trial, hasChain);
  EXPECT_TRUE(hasChain(small));
  EXPECT_EQ(countOps(small), 2);
  EXPECT_EQ(small.commandLine(), "dpc-opt --dpc-assign-layouts='axes=a=1,b=1'");
  EXPECT_EQ(check.compare(small), "");
  const std::string path = writeCase(small, 0, "what is wrong\nwith it");
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(
      text.find("// " + small.commandLine() + " --dpc-partition\n// what is wrong\n// with it\n"),
      0u);
  EXPECT_EQ(text.find("dist.request"), std::string::npos);
  OwningOpRef<ModuleOp> read = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(read) << text;
  std::remove(path.c_str());
}

// Of x and -x one is negative on the first device: its logarithm is no number
// there, that of the other one elsewhere.
TEST_F(PartitionRandom, MaximumOverDevicesKeepsNan) {
  RandomProgram program;
  program.mesh.axes = {"a=6"};
  program.mesh.batchAxes = {"a"};
  program.text = R"(
    func.func @step(%x: tensor<6xf64> {nn.arg = #nn.arg<input "x", batch = 0>})
        -> (tensor<f64> {nn.result = #nn.result<output "a">},
            tensor<f64> {nn.result = #nn.result<output "b">}) {
      %y = nn.neg %x : tensor<6xf64>
      %0 = nn.log %x : tensor<6xf64>
      %1 = nn.log %y : tensor<6xf64>
      %2 = nn.reduce max %0 [0] : tensor<6xf64> -> tensor<f64>
      %3 = nn.reduce min %1 [0] : tensor<6xf64> -> tensor<f64>
      return %2, %3 : tensor<f64>, tensor<f64>
    })";
  std::optional<PartitionCase> trial = makeCase(context, program);
  ASSERT_TRUE(trial);
  EXPECT_EQ(check.compare(*trial), "");
}

} // namespace
