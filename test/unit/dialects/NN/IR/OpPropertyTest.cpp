// What ops claim about themselves, against their interpreter rule: sharding
// rules (extents, additivity, monotony) and decompositions.

#include "test/unit/dialects/NN/IR/OpCases.h"

#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {
class OpPropertyTest : public testing::TestWithParam<OpCase> {
protected:
  void SetUp() override {
    loadDialects(context);
    module = parseFunction(context, GetParam().text, GetParam().args);
    ASSERT_TRUE(module);
    block = &functionOf(*module).getBody().front();
    op = block->getTerminator()->getPrevNode();
  }

  /// Values of every operand of `op`, from one seed.
  std::vector<HostTensor> operandsFor(unsigned seed) {
    std::mt19937 random(seed);
    BlockInterpreter::Values values;
    for (auto [argument, spec] : llvm::zip_equal(block->getArguments(), GetParam().args))
      values[argument] = randomTensor(argument.getType(), spec.low, spec.high, random);
    EXPECT_TRUE(succeeded(BlockInterpreter().run(*block, values)));
    std::vector<HostTensor> operands;
    for (Value operand : op->getOperands())
      operands.push_back(values.lookup(operand));
    return operands;
  }

  SmallVector<HostTensor> interpret(const std::vector<HostTensor> &operands) {
    SmallVector<const HostTensor *> pointers;
    for (const HostTensor &operand : operands)
      pointers.push_back(&operand);
    SmallVector<HostTensor> results;
    for (Type type : op->getResultTypes())
      results.emplace_back(cast<RankedTensorType>(type));
    BlockInterpreter machine;
    EXPECT_TRUE(
        succeeded(cast<InterpretableOpInterface>(op).interpret(machine, pointers, results)));
    return results;
  }

  /// Element-wise `fn` of two float tensors.
  template <typename Fn>
  static HostTensor combine(const HostTensor &x, const HostTensor &y, Fn fn) {
    HostTensor result = x;
    for (size_t i = 0; i < result.floats.size(); ++i)
      result.floats[i] = fn(x.floats[i], y.floats[i]);
    return result;
  }

  static void expectNear(const HostTensor &x, const HostTensor &y, const char *what) {
    ASSERT_EQ(x.floats.size(), y.floats.size());
    EXPECT_EQ(x.ints, y.ints) << what;
    for (size_t i = 0; i < x.floats.size(); ++i)
      ASSERT_NEAR(x.floats[i], y.floats[i], 1e-12 * std::max(1.0, std::abs(y.floats[i])))
          << what << ", element " << i;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Block *block = nullptr;
  Operation *op = nullptr;
};
} // namespace

static void expectCovers(const ShardingRule &rule, ArrayRef<ShardingRule::ValueLoops> loops,
                         ValueRange values) {
  ASSERT_EQ(loops.size(), values.size());
  for (auto [dims, value] : llvm::zip_equal(loops, values)) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    ASSERT_EQ(dims.size(), shape.size());
    for (auto [segments, extent] : llvm::zip_equal(dims, shape)) {
      int64_t sum = 0;
      for (const auto &segment : segments) {
        int64_t product = 1;
        for (unsigned loop : segment) {
          ASSERT_LT(loop, rule.loops.size());
          product *= rule.loops[loop].size;
        }
        sum += product;
      }
      EXPECT_EQ(sum, extent);
    }
  }
}

TEST_P(OpPropertyTest, ShardingRuleCoversEveryDimension) {
  auto shardable = dyn_cast<ShardableOpInterface>(op);
  ASSERT_TRUE(shardable);
  ShardingRule rule = shardable.getShardingRule();
  expectCovers(rule, rule.operands, op->getOperands());
  expectCovers(rule, rule.results, op->getResults());
}

TEST_P(OpPropertyTest, IsAdditiveWhereItSays) {
  ShardingRule rule = cast<ShardableOpInterface>(op).getShardingRule();
  for (ArrayRef<unsigned> set : rule.additiveSets) {
    std::vector<HostTensor> first = operandsFor(1), second = first, sum = first;
    std::vector<HostTensor> others = operandsFor(2);
    for (unsigned operand : set) {
      ASSERT_TRUE(first[operand].isFloat());
      second[operand] = others[operand];
      sum[operand] = combine(first[operand], second[operand], std::plus<>());
    }
    SmallVector<HostTensor> a = interpret(first), b = interpret(second);
    for (auto [x, y, both] : llvm::zip_equal(a, b, interpret(sum)))
      expectNear(combine(x, y, std::plus<>()), both, "additive");
  }
}

TEST_P(OpPropertyTest, IsMonotoneWhereItSays) {
  if (!cast<ShardableOpInterface>(op).getShardingRule().monotone)
    GTEST_SKIP();
  auto larger = [](double x, double y) { return std::max(x, y); };
  std::vector<HostTensor> first = operandsFor(1), second = first, most = first;
  second[0] = operandsFor(2)[0];
  most[0] = combine(first[0], second[0], larger);
  SmallVector<HostTensor> a = interpret(first), b = interpret(second);
  for (auto [x, y, both] : llvm::zip_equal(a, b, interpret(most)))
    expectNear(combine(x, y, larger), both, "monotone");
}

TEST_P(OpPropertyTest, DecompositionEqualsTheOp) {
  auto decomposable = dyn_cast<DecomposableOpInterface>(op);
  if (!decomposable)
    GTEST_SKIP();
  OpBuilder builder(block->getTerminator());
  SmallVector<Value> values = decomposable.decompose(builder);
  ASSERT_EQ(values.size(), op->getNumResults());
  ASSERT_TRUE(succeeded(verify(*module)));
  BlockInterpreter::Values computed;
  std::mt19937 random(3);
  for (auto [argument, spec] : llvm::zip_equal(block->getArguments(), GetParam().args))
    computed[argument] = randomTensor(argument.getType(), spec.low, spec.high, random);
  ASSERT_TRUE(succeeded(BlockInterpreter().run(*block, computed)));
  for (auto [value, result] : llvm::zip_equal(values, op->getResults())) {
    EXPECT_EQ(value.getType(), result.getType());
    expectNear(computed.lookup(value), computed.lookup(result), "decomposed");
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, OpPropertyTest, testing::ValuesIn(opCases()));
