// Every vector-Jacobian product against central differences, in f64.

#include "test/unit/dialects/NN/IR/OpCases.h"

#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {
class DifferentiableOpTest : public testing::TestWithParam<OpCase> {
protected:
  void SetUp() override {
    loadDialects(context);
    module = parseFunction(context, GetParam().text, GetParam().args);
    ASSERT_TRUE(module);
    function = functionOf(*module);
    block = &function.getBody().front();
    std::mt19937 random(1);
    for (auto [argument, spec] : llvm::zip_equal(block->getArguments(), GetParam().args))
      inputs[argument] = randomTensor(argument.getType(), spec.low, spec.high, random);
  }

  static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }
  Operation *tested() { return block->getTerminator()->getPrevNode(); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  Block *block = nullptr;
  BlockInterpreter::Values inputs;
};
} // namespace

/// Sum over results of gradient times value.
static double weighted(ValueRange results, const BlockInterpreter::Values &values,
                       const std::vector<HostTensor> &grads) {
  double sum = 0;
  for (auto [result, grad] : llvm::zip_equal(results, grads)) {
    const HostTensor value = values.lookup(result);
    for (size_t i = 0; i < grad.floats.size(); ++i)
      sum += grad.floats[i] * value.floats[i];
  }
  return sum;
}

TEST_P(DifferentiableOpTest, VjpEqualsCentralDifferences) {
  Operation *op = tested();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    GTEST_SKIP() << "not differentiable";
  const unsigned numResults = op->getNumResults();
  const double step = 1e-5;

  // Gradients reach every non-empty set of float results in turn.
  for (unsigned mask = 1; mask < (1u << numResults); ++mask) {
    std::mt19937 random(mask);
    std::vector<HostTensor> grads(numResults);
    bool reachesFloatsOnly = true;
    for (unsigned r = 0; r < numResults; ++r) {
      if (!(mask >> r & 1))
        continue;
      reachesFloatsOnly &= isFloat(op->getResult(r));
      grads[r] = randomTensor(op->getResult(r).getType(), -1, 1, random);
    }
    // Where no result is a float the op must still say "no gradient".
    bool anyFloat = llvm::any_of(op->getResults(), isFloat);
    if (!reachesFloatsOnly && anyFloat)
      continue;

    // Build the VJP behind the op, with the gradients as new arguments.
    OwningOpRef<ModuleOp> clone(module->clone());
    func::FuncOp f = functionOf(*clone);
    Block &body = f.getBody().front();
    Operation *target = body.getTerminator()->getPrevNode();
    BlockInterpreter::Values values;
    for (auto [from, to] : llvm::zip_equal(block->getArguments(), body.getArguments()))
      values[to] = inputs.lookup(from);
    SmallVector<Value> resultGrads(numResults);
    for (unsigned r = 0; r < numResults; ++r) {
      if (!(mask >> r & 1))
        continue;
      resultGrads[r] = body.addArgument(target->getResult(r).getType(), f.getLoc());
      values[resultGrads[r]] = grads[r];
    }
    f.setType(FunctionType::get(&context, body.getArgumentTypes(), {}));
    SmallVector<bool> wanted;
    for (OpOperand &operand : target->getOpOperands())
      wanted.push_back(isFloat(operand.get()) &&
                       !llvm::is_contained(GetParam().withoutGradient, operand.getOperandNumber()));
    SmallVector<Value> operandGrads(target->getNumOperands());
    OpBuilder builder(body.getTerminator());
    ASSERT_TRUE(succeeded(cast<DifferentiableOpInterface>(target).buildVjp(builder, resultGrads,
                                                                           wanted, operandGrads)));
    ASSERT_TRUE(succeeded(verify(*clone)));
    ASSERT_TRUE(succeeded(BlockInterpreter().run(body, values)));

    // Each element of each float operand, perturbed; an operand that occurs
    // twice is perturbed in both places.
    std::set<void *> seen;
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      if (!wanted[index] || !seen.insert(operand.getAsOpaquePointer()).second)
        continue;
      HostTensor analytic(cast<RankedTensorType>(operand.getType()));
      for (unsigned i = 0; i < op->getNumOperands(); ++i) {
        if (op->getOperand(i) != operand || !operandGrads[i])
          continue;
        EXPECT_EQ(operandGrads[i].getType(), operand.getType());
        const HostTensor part = values.lookup(operandGrads[i]);
        for (size_t k = 0; k < part.floats.size(); ++k)
          analytic.floats[k] += part.floats[k];
      }
      BlockInterpreter::Values forward = inputs;
      ASSERT_TRUE(succeeded(BlockInterpreter().run(*block, forward)));
      const HostTensor base = forward.lookup(operand);
      auto lossAt = [&](size_t element, double delta) {
        HostTensor moved = base;
        moved.floats[element] += delta;
        SmallVector<HostTensor> results;
        std::vector<HostTensor> operands;
        for (Value other : op->getOperands())
          operands.push_back(other == operand ? moved : forward.lookup(other));
        SmallVector<const HostTensor *> pointers;
        for (const HostTensor &tensor : operands)
          pointers.push_back(&tensor);
        for (Type type : op->getResultTypes())
          results.emplace_back(cast<RankedTensorType>(type));
        BlockInterpreter machine;
        EXPECT_TRUE(
            succeeded(cast<InterpretableOpInterface>(op).interpret(machine, pointers, results)));
        BlockInterpreter::Values outcome;
        for (auto [value, result] : llvm::zip_equal(op->getResults(), results))
          outcome[value] = result;
        return weighted(op->getResults(), outcome, grads);
      };
      double scale = 1e-3, error = 0;
      for (size_t k = 0; k < base.floats.size(); ++k) {
        double numeric = (lossAt(k, step) - lossAt(k, -step)) / (2 * step);
        scale = std::max(scale, std::abs(numeric));
        double difference = std::abs(numeric - analytic.floats[k]);
        // A NaN must not compare as small.
        error = difference <= error ? error : difference;
      }
      EXPECT_LE(error, 1e-6 * scale) << "operand " << index << ", result set " << mask;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, DifferentiableOpTest, testing::ValuesIn(opCases()));

TEST(DifferentiableOps, EachHasACase) {
  MLIRContext context;
  loadDialects(context);
  std::set<std::string> covered;
  for (const OpCase &opCase : opCases()) {
    OwningOpRef<ModuleOp> module = parseFunction(context, opCase.text, opCase.args);
    ASSERT_TRUE(module) << opCase.text;
    Block &block = functionOf(*module).getBody().front();
    covered.insert(block.getTerminator()->getPrevNode()->getName().getStringRef().str());
  }
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.hasInterface<DifferentiableOpInterface>()) {
      EXPECT_TRUE(covered.count(name.getStringRef().str()))
          << name.getStringRef().str() << " has no case in OpCases.cpp";
    }
  }
}
