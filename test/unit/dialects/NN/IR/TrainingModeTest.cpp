// nn.batch_norm and nn.dropout: their training and evaluation forms.

#include "test/unit/dialects/NN/IR/BlockInterpreter.h"

#include "dialects/NN/IR/Normalization.h"
#include "dialects/NN/IR/Philox.h"
#include "dialects/NN/IR/Random.h"

#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {
/// The op of one parsed line, with uses for its first `used` results so that
/// the training form has to compute them, and a place to build at.
struct Built {
  explicit Built(const std::string &body, ArrayRef<Arg> args) {
    loadDialects(context);
    module = parseFunction(context, body, args);
    function = functionOf(*module);
    block = &function.getBody().front();
    op = block->getTerminator()->getPrevNode();
    block->getTerminator()->setOperands(op->getResults());
    function.setType(FunctionType::get(&context, block->getArgumentTypes(), op->getResultTypes()));
    std::mt19937 random(1);
    for (auto [argument, spec] : llvm::zip_equal(block->getArguments(), args))
      values[argument] = randomTensor(argument.getType(), spec.low, spec.high, random);
  }
  OpBuilder builder() { return OpBuilder(op); }
  /// Computes what was built before the op.
  void run() {
    ASSERT_TRUE(succeeded(verify(*module)));
    op->replaceAllUsesWith(replacements);
    op->erase();
    ASSERT_TRUE(succeeded(machine.run(*block, values)));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  Block *block;
  Operation *op;
  SmallVector<Value> replacements;
  BlockInterpreter machine;
  BlockInterpreter::Values values;
};
} // namespace

static void expectNear(const std::vector<double> &x, const std::vector<double> &y) {
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(x[i], y[i], 1e-12 * std::max(1.0, std::abs(y[i]))) << i;
}

static const std::vector<Arg> batchNormArgs = {
    {"6x2x3xf64"}, {"2xf64"}, {"2xf64"}, {"2xf64"}, {"2xf64", 0.5, 2}};
static const char *batchNorm =
    "%y, %m, %v = nn.batch_norm %a, %b, %c, %d, %e {epsilon = 0.1 : f64, "
    "momentum = 0.8 : f64, unbiased = true} : tensor<6x2x3xf64>, tensor<2xf64>";

// Group by group, in order, as a loop over PyTorch steps would do it.
static void checkBatchNorm(int64_t groups) {
  Built built(batchNorm, batchNormArgs);
  OpBuilder builder = built.builder();
  TrainingContext context;
  context.batchGroups = groups;
  built.replacements = cast<TrainingModeOpInterface>(built.op).buildTraining(builder, context);
  ASSERT_EQ(built.replacements.size(), 3u);
  std::vector<std::vector<double>> in;
  for (Value argument : built.block->getArguments())
    in.push_back(built.values.lookup(argument).floats);
  SmallVector<Value> results = built.replacements;
  built.run();

  std::vector<double> y(in[0].size()), mean = in[3], variance = in[4];
  const int64_t rows = 6 / groups, channels = 2, positions = 3;
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t c = 0; c < channels; ++c) {
      std::vector<int64_t> places;
      for (int64_t b = g * rows; b < (g + 1) * rows; ++b)
        for (int64_t p = 0; p < positions; ++p)
          places.push_back((b * channels + c) * positions + p);
      double m = 0, v = 0, n = places.size();
      for (int64_t at : places)
        m += in[0][at] / n;
      for (int64_t at : places)
        v += (in[0][at] - m) * (in[0][at] - m) / n;
      for (int64_t at : places)
        y[at] = (in[0][at] - m) / std::sqrt(v + 0.1) * in[1][c] + in[2][c];
      mean[c] = 0.8 * mean[c] + 0.2 * m;
      variance[c] = 0.8 * variance[c] + 0.2 * v * n / (n - 1);
    }
  expectNear(built.values.lookup(results[0]).floats, y);
  expectNear(built.values.lookup(results[1]).floats, mean);
  expectNear(built.values.lookup(results[2]).floats, variance);
}

TEST(BatchNorm, OneGroup) { checkBatchNorm(1); }
TEST(BatchNorm, TwoGroupsMoveTheStatisticsTwice) { checkBatchNorm(2); }
TEST(BatchNorm, ThreeGroups) { checkBatchNorm(3); }

//===----------------------------------------------------------------------===//
// nn.batch_norm of a module that is called several times
//===----------------------------------------------------------------------===//

namespace {
/// Three calls, of momenta 0.8, 0.5 and 0.25, on 6 samples of 2 channels each; the
/// third takes the mean of the second by a conversion.
const char *const kCalls =
    "%y0, %m0, %v0 = nn.batch_norm %a, %d, %e, %f, %g {epsilon = 0.1 : f64, momentum = 0.8 : f64, "
    "unbiased = true} : tensor<6x2xf64>, tensor<2xf64>\n"
    "%y1, %m1, %v1 = nn.batch_norm %b, %d, %e, %m0, %v0 {epsilon = 0.1 : f64, momentum = 0.5 : "
    "f64, "
    "unbiased = true} : tensor<6x2xf64>, tensor<2xf64>\n"
    "%m2 = nn.convert %m1 : tensor<2xf64> -> tensor<2xf64>\n"
    "%y3, %m3, %v3 = nn.batch_norm %c, %d, %e, %m2, %v1 {epsilon = 0.1 : f64, momentum = 0.25 : "
    "f64, "
    "unbiased = true} : tensor<6x2xf64>, tensor<2xf64>";
const std::vector<Arg> callArgs = {{"6x2xf64"}, {"6x2xf64"}, {"6x2xf64"},      {"2xf64"},
                                   {"2xf64"},   {"2xf64"},   {"2xf64", 0.5, 2}};
} // namespace

// Group by group, and in a group call by call.
static void checkCalls(int64_t groups) {
  Built built(kCalls, callArgs);
  SmallVector<nn::BatchNormOp> calls = llvm::to_vector(built.block->getOps<nn::BatchNormOp>());
  ASSERT_EQ(calls.size(), 3u);
  TrainingContext context;
  context.batchGroups = groups;
  SmallVector<SmallVector<Value>> forms;
  for (nn::BatchNormOp call : calls) {
    OpBuilder builder(call);
    forms.push_back(cast<TrainingModeOpInterface>(*call).buildTraining(builder, context));
    ASSERT_EQ(forms.back().size(), 3u);
  }
  std::vector<std::vector<double>> in;
  for (Value argument : built.block->getArguments())
    in.push_back(built.values.lookup(argument).floats);
  for (auto [call, form] : llvm::reverse(llvm::zip_equal(calls, forms))) {
    for (auto [old, value] : llvm::zip_equal(call->getResults(), form))
      if (value)
        old.replaceAllUsesWith(value);
    call.erase();
  }
  ASSERT_TRUE(succeeded(verify(*built.module)));
  ASSERT_TRUE(succeeded(built.machine.run(*built.block, built.values)));

  std::vector<double> mean = in[5], variance = in[6];
  const int64_t rows = 6 / groups, channels = 2;
  const double momenta[] = {0.8, 0.5, 0.25};
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t call = 0; call < 3; ++call)
      for (int64_t c = 0; c < channels; ++c) {
        double m = 0, v = 0;
        for (int64_t b = g * rows; b < (g + 1) * rows; ++b)
          m += in[call][b * channels + c] / double(rows);
        for (int64_t b = g * rows; b < (g + 1) * rows; ++b)
          v += std::pow(in[call][b * channels + c] - m, 2) / double(rows - 1);
        mean[c] = momenta[call] * mean[c] + (1 - momenta[call]) * m;
        variance[c] = momenta[call] * variance[c] + (1 - momenta[call]) * v;
      }
  expectNear(built.values.lookup(forms[2][1]).floats, mean);
  expectNear(built.values.lookup(forms[2][2]).floats, variance);
}

TEST(BatchNormCalls, OneGroup) { checkCalls(1); }
TEST(BatchNormCalls, TwoGroups) { checkCalls(2); }
TEST(BatchNormCalls, ThreeGroups) { checkCalls(3); }

// With one group a moved statistic is what the next op may read; with several there
// is none that all samples could read.
TEST(BatchNormCalls, ReadersNeedOneGroup) {
  for (int64_t groups : {1, 2}) {
    Built built(
        "%y, %m, %v = nn.batch_norm %a, %b, %c, %d, %e {epsilon = 0.1 : f64, momentum = 0.8 "
        ": f64} : tensor<6x2xf64>, tensor<2xf64>\n%z = nn.exp %m : tensor<2xf64>",
        {{"6x2xf64"}, {"2xf64"}, {"2xf64"}, {"2xf64"}, {"2xf64", 0.5, 2}});
    std::string message;
    ScopedDiagnosticHandler handler(&built.context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    nn::BatchNormOp op = *built.block->getOps<nn::BatchNormOp>().begin();
    OpBuilder builder(op);
    TrainingContext context;
    context.batchGroups = groups;
    EXPECT_EQ(cast<TrainingModeOpInterface>(*op).buildTraining(builder, context).empty(),
              groups > 1);
    EXPECT_EQ(message, groups == 1
                           ? ""
                           : "'nn.batch_norm' op moves a running statistic that the step reads, "
                             "which is another one for each of the 2 groups of samples "
                             "(microbatches)");
  }
}

TEST(BatchNorm, GroupsMustDivideTheSamples) {
  Built built(batchNorm, batchNormArgs);
  std::string message;
  ScopedDiagnosticHandler handler(&built.context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  OpBuilder builder = built.builder();
  TrainingContext context;
  context.batchGroups = 4;
  EXPECT_TRUE(cast<TrainingModeOpInterface>(built.op).buildTraining(builder, context).empty());
  EXPECT_EQ(message, "'nn.batch_norm' op cannot split 6 samples into 4 equal "
                     "groups");
}

TEST(BatchNorm, InterpreterRuleIsTheTrainingFormOfOneGroup) {
  Built built(batchNorm, batchNormArgs);
  SmallVector<const HostTensor *> operands;
  std::vector<HostTensor> in;
  for (Value argument : built.block->getArguments())
    in.push_back(built.values.lookup(argument));
  for (const HostTensor &tensor : in)
    operands.push_back(&tensor);
  SmallVector<HostTensor> direct;
  for (Type type : built.op->getResultTypes())
    direct.emplace_back(cast<RankedTensorType>(type));
  ASSERT_TRUE(succeeded(
      cast<InterpretableOpInterface>(built.op).interpret(built.machine, operands, direct)));
  OpBuilder builder = built.builder();
  built.replacements =
      cast<TrainingModeOpInterface>(built.op).buildTraining(builder, TrainingContext());
  SmallVector<Value> results = built.replacements;
  built.run();
  for (auto [value, expected] : llvm::zip_equal(results, direct))
    expectNear(built.values.lookup(value).floats, expected.floats);
}

TEST(BatchNorm, EvaluationUsesAndKeepsTheRunningStatistics) {
  Built built(batchNorm, batchNormArgs);
  OpBuilder builder = built.builder();
  SmallVector<Value> results = cast<TrainingModeOpInterface>(built.op).buildInference(builder);
  built.replacements = results;
  EXPECT_EQ(results[1], built.block->getArgument(3));
  EXPECT_EQ(results[2], built.block->getArgument(4));
  std::vector<std::vector<double>> in;
  for (Value argument : built.block->getArguments())
    in.push_back(built.values.lookup(argument).floats);
  built.run();
  std::vector<double> y(in[0].size());
  for (size_t at = 0; at < y.size(); ++at) {
    size_t c = at / 3 % 2;
    y[at] = (in[0][at] - in[3][c]) / std::sqrt(in[4][c] + 0.1) * in[1][c] + in[2][c];
  }
  expectNear(built.values.lookup(results[0]).floats, y);
}

//===----------------------------------------------------------------------===//
// nn.random_uniform, nn.dropout, nn.draw_uniform, nn.draw_normal
//===----------------------------------------------------------------------===//

// The known answers that come with the authors' Random123 (kat_vectors).
TEST(Philox, KnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(nn::philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(nn::philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      nn::philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// SplitMix64's first outputs from state 0, as its author's page has them.
TEST(Philox, KeysAreSplitMix64Outputs) {
  EXPECT_EQ(nn::randomKey(0, 0), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(nn::randomKey(0, 1), 0x6E789E6AA1B965F4u);
}

TEST(Philox, EveryKeyPartMatters) {
  double base = nn::randomUniform(1, 2, 3, 4);
  EXPECT_NE(base, nn::randomUniform(2, 2, 3, 4));
  EXPECT_NE(base, nn::randomUniform(1, 3, 3, 4));
  EXPECT_NE(base, nn::randomUniform(1, 2, 4, 4));
  EXPECT_NE(base, nn::randomUniform(1, 2, 3, 5));
  EXPECT_NE(base, nn::randomUniform(1ull << 40, 2, 3, 4));
  EXPECT_NE(base, nn::randomUniform(1, 2 + (1ull << 32), 3, 4));
  EXPECT_NE(base, nn::randomUniform(1, 2, 3, 4 + (1ull << 32)));
}

/// The training form of an op of the arguments (.., seed, step).
static SmallVector<Value> buildTraining(Built &built) {
  TrainingContext context;
  unsigned last = built.block->getNumArguments() - 1;
  context.seed = built.block->getArgument(last - 1);
  context.step = built.block->getArgument(last);
  OpBuilder builder = built.builder();
  return built.replacements =
             cast<TrainingModeOpInterface>(built.op).buildTraining(builder, context);
}

TEST(Dropout, KeepsByTheGlobalElementNumber) {
  Built built("%y, %m = nn.dropout %a {ratio = 0.25 : f64, ordinal = 7 : i64} "
              ": tensor<20x3x50xf64>",
              {{"20x3x50xf64"}, {"i64", 11, 11}, {"i64", 5, 5}});
  SmallVector<Value> results = buildTraining(built);
  std::vector<double> x = built.values.lookup(built.block->getArgument(0)).floats;
  built.run();
  HostTensor y = built.values.lookup(results[0]), mask = built.values.lookup(results[1]);
  int64_t kept = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    bool keep = nn::randomUniform(11, 5, 7, i) >= 0.25;
    EXPECT_EQ(mask.ints[i], keep);
    EXPECT_NEAR(y.floats[i], keep ? x[i] / 0.75 : 0, 1e-12);
    kept += keep;
  }
  // Four standard deviations around 2250.
  EXPECT_NEAR(kept, 2250, 95);
}

TEST(Dropout, RatioOneGivesZeros) {
  Built built("%y, %m = nn.dropout %a {ratio = 1.0 : f64, ordinal = 0 : i64} "
              ": tensor<f64>",
              {{"f64"}, {"i64", 0, 0}, {"i64", 0, 0}});
  SmallVector<Value> results = buildTraining(built);
  built.run();
  EXPECT_EQ(built.values.lookup(results[0]).floats, std::vector<double>{0});
  EXPECT_EQ(built.values.lookup(results[1]).ints, std::vector<int64_t>{0});
}

TEST(Dropout, EvaluationIsTheOperand) {
  Built built("%y, %m = nn.dropout %a {ratio = 0.5 : f64, ordinal = 0 : i64} "
              ": tensor<2xf64>",
              {{"2xf64"}});
  OpBuilder builder = built.builder();
  SmallVector<Value> results = cast<TrainingModeOpInterface>(built.op).buildInference(builder);
  EXPECT_EQ(results[0], built.block->getArgument(0));
  built.replacements = results;
  built.run();
  EXPECT_EQ(built.values.lookup(results[1]).ints, (std::vector<int64_t>{1, 1}));
}

TEST(DrawUniform, GivesTheNumberOfTheGlobalElement) {
  Built built("%y = nn.draw_uniform {ordinal = 7 : i64} : tensor<3x4xf64>",
              {{"i64", 11, 11}, {"i64", 5, 5}});
  SmallVector<Value> results = buildTraining(built);
  built.run();
  HostTensor y = built.values.lookup(results[0]);
  for (size_t i = 0; i < 12; ++i)
    EXPECT_EQ(y.floats[i], nn::randomUniform(11, 5, 7, i));
}

TEST(DrawNormal, HasTheMomentsOfTheStandardNormalDistribution) {
  Built built("%y = nn.draw_normal {ordinal = 7 : i64} : tensor<100x200xf64>",
              {{"i64", 11, 11}, {"i64", 5, 5}});
  SmallVector<Value> results = buildTraining(built);
  built.run();
  std::vector<double> y = built.values.lookup(results[0]).floats;
  double moments[5] = {}, neighbours = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_TRUE(std::isfinite(y[i]));
    for (int k = 1; k <= 4; ++k)
      moments[k] += std::pow(y[i], k) / double(y.size());
    neighbours += i ? y[i] * y[i - 1] / double(y.size()) : 0;
  }
  // Five standard deviations of each estimate from 20,000 numbers.
  EXPECT_NEAR(moments[1], 0, 5 * std::sqrt(1 / 2e4));
  EXPECT_NEAR(moments[2], 1, 5 * std::sqrt(2 / 2e4));
  EXPECT_NEAR(moments[3], 0, 5 * std::sqrt(15 / 2e4));
  EXPECT_NEAR(moments[4], 3, 5 * std::sqrt(96 / 2e4));
  EXPECT_NEAR(neighbours, 0, 5 * std::sqrt(1 / 2e4));
}

TEST(Draw, EvaluationIsTheMean) {
  for (auto [name, mean] : {std::pair("draw_uniform", 0.5), std::pair("draw_normal", 0.0)}) {
    Built built("%y = nn." + std::string(name) + " {ordinal = 0 : i64} : tensor<2xf64>", {});
    OpBuilder builder = built.builder();
    SmallVector<Value> results = cast<TrainingModeOpInterface>(built.op).buildInference(builder);
    built.replacements = results;
    built.run();
    EXPECT_EQ(built.values.lookup(results[0]).floats, (std::vector<double>{mean, mean}));
  }
}
