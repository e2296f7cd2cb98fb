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

  /// What the op's VJP gives for gradients of some of its results.
  struct Vjp {
    OwningOpRef<ModuleOp> module;
    BlockInterpreter::Values values;
    SmallVector<bool> wanted;
    /// A gradient per operand, null where the op gives none.
    SmallVector<Value> grads;
  };
  void runVjp(const std::vector<HostTensor> &resultGrads, Vjp &vjp);
  HostTensor analyticGradient(const Vjp &vjp, Value operand);
  double lossAt(Value operand, const HostTensor &moved, const BlockInterpreter::Values &forward,
                const std::vector<HostTensor> &grads);
  void compare(Value operand, const HostTensor &analytic, const std::vector<HostTensor> &grads);

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  Block *block = nullptr;
  BlockInterpreter::Values inputs;
};
} // namespace

/// Builds the VJP after the op, in a copy, with the gradients of the results
/// that have one as new arguments, and runs it.
void DifferentiableOpTest::runVjp(const std::vector<HostTensor> &resultGrads, Vjp &vjp) {
  vjp.module = module->clone();
  func::FuncOp f = functionOf(*vjp.module);
  Block &body = f.getBody().front();
  Operation *target = body.getTerminator()->getPrevNode();
  for (auto [from, to] : llvm::zip_equal(block->getArguments(), body.getArguments()))
    vjp.values[to] = inputs.lookup(from);
  SmallVector<Value> arguments(target->getNumResults());
  for (unsigned r = 0; r < resultGrads.size(); ++r) {
    if (!resultGrads[r].getType())
      continue;
    arguments[r] = body.addArgument(target->getResult(r).getType(), f.getLoc());
    vjp.values[arguments[r]] = resultGrads[r];
  }
  f.setType(FunctionType::get(&context, body.getArgumentTypes(), {}));
  for (OpOperand &operand : target->getOpOperands())
    vjp.wanted.push_back(isFloat(operand.get()) && !llvm::is_contained(GetParam().withoutGradient,
                                                                       operand.getOperandNumber()));
  vjp.grads.resize(target->getNumOperands());
  OpBuilder builder(body.getTerminator());
  ASSERT_TRUE(succeeded(
      cast<DifferentiableOpInterface>(target).buildVjp(builder, arguments, vjp.wanted, vjp.grads)));
  ASSERT_TRUE(succeeded(verify(*vjp.module)));
  ASSERT_TRUE(succeeded(BlockInterpreter().run(body, vjp.values)));
}

/// The gradient of a value, summed over the operands where it occurs.
HostTensor DifferentiableOpTest::analyticGradient(const Vjp &vjp, Value operand) {
  Operation *op = tested();
  HostTensor analytic(cast<RankedTensorType>(operand.getType()));
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (op->getOperand(i) != operand || !vjp.grads[i])
      continue;
    EXPECT_EQ(vjp.grads[i].getType(), operand.getType());
    const HostTensor part = vjp.values.lookup(vjp.grads[i]);
    for (size_t k = 0; k < part.floats.size(); ++k)
      analytic.floats[k] += part.floats[k];
  }
  return analytic;
}

/// The sum of gradient times result, where the operand is replaced.
double DifferentiableOpTest::lossAt(Value operand, const HostTensor &moved,
                                    const BlockInterpreter::Values &forward,
                                    const std::vector<HostTensor> &grads) {
  Operation *op = tested();
  std::vector<HostTensor> operands;
  for (Value other : op->getOperands())
    operands.push_back(other == operand ? moved : forward.lookup(other));
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &tensor : operands)
    pointers.push_back(&tensor);
  SmallVector<HostTensor> results;
  for (Type type : op->getResultTypes())
    results.emplace_back(cast<RankedTensorType>(type));
  BlockInterpreter machine;
  EXPECT_TRUE(succeeded(cast<InterpretableOpInterface>(op).interpret(machine, pointers, results)));
  double sum = 0;
  for (auto [result, grad] : llvm::zip_equal(results, grads))
    for (size_t i = 0; i < grad.floats.size(); ++i)
      sum += grad.floats[i] * result.floats[i];
  return sum;
}

/// Perturbs each element of an operand; one that occurs twice is perturbed in both places.
void DifferentiableOpTest::compare(Value operand, const HostTensor &analytic,
                                   const std::vector<HostTensor> &grads) {
  const double step = 1e-5;
  BlockInterpreter::Values forward = inputs;
  ASSERT_TRUE(succeeded(BlockInterpreter().run(*block, forward)));
  HostTensor moved = forward.lookup(operand);
  double scale = 1e-3, error = 0;
  for (size_t k = 0; k < moved.floats.size(); ++k) {
    const double at = moved.floats[k];
    moved.floats[k] = at + step;
    const double above = lossAt(operand, moved, forward, grads);
    moved.floats[k] = at - step;
    const double below = lossAt(operand, moved, forward, grads);
    moved.floats[k] = at;
    const double numeric = (above - below) / (2 * step);
    scale = std::max(scale, std::abs(numeric));
    const double difference = std::abs(numeric - analytic.floats[k]);
    // A NaN must not compare as small.
    error = difference <= error ? error : difference;
  }
  EXPECT_LE(error, 1e-6 * scale);
}

TEST_P(DifferentiableOpTest, VjpEqualsCentralDifferences) {
  Operation *op = tested();
  if (!isa<DifferentiableOpInterface>(op))
    GTEST_SKIP() << "not differentiable";
  const unsigned numResults = op->getNumResults();
  // Where no result is a float the op must still say "no gradient".
  const bool anyFloat = llvm::any_of(op->getResults(), isFloat);

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
    if (!reachesFloatsOnly && anyFloat)
      continue;

    Vjp vjp;
    ASSERT_NO_FATAL_FAILURE(runVjp(grads, vjp));
    std::set<void *> seen;
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      if (!vjp.wanted[index] || !seen.insert(operand.getAsOpaquePointer()).second)
        continue;
      SCOPED_TRACE("operand " + std::to_string(index) + ", result set " + std::to_string(mask));
      compare(operand, analyticGradient(vjp, operand), grads);
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
