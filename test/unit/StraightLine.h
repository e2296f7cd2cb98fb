#ifndef DPC_TEST_UNIT_STRAIGHTLINE_H
#define DPC_TEST_UNIT_STRAIGHTLINE_H

// Runs straight-line functions by the ops' interpreter rules, and compares what
// DifferentiableOpInterface builds with central differences: for tests of
// single ops, which need no driver, no passes and no devices. Link
// DpcInterpreter.

#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Program.h"
#include "interpreter/Evaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

namespace dpc::test {

/// Elements uniform in [low, high), the same for the same seed. Integers are
/// rounded down.
inline HostTensor randomTensor(mlir::RankedTensorType type, uint64_t seed, double low = -1,
                               double high = 1) {
  std::mt19937_64 engine(seed);
  auto next = [&] { return low + (high - low) * std::ldexp(engine() >> 11, -53); };
  HostTensor result(type);
  for (double &element : result.floats)
    element = next();
  for (int64_t &element : result.ints)
    element = static_cast<int64_t>(std::floor(next()));
  result.roundToType();
  return result;
}

/// ||a - b|| / ||b||, or ||a|| where b is zero; infinite for NaN.
inline double relativeError(const std::vector<double> &a, const std::vector<double> &b) {
  double difference = 0, norm = 0;
  if (a.size() != b.size())
    return INFINITY;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  double error = std::sqrt(norm > 0 ? difference / norm : difference);
  return std::isnan(error) ? INFINITY : error;
}

/// A parsed module of straight-line functions, run on one device by the
/// reference interpreter.
class StraightLine {
public:
  /// Parses and verifies `text`; a failure is a failure of the test, and every
  /// later call then fails too.
  explicit StraightLine(llvm::StringRef text) {
    context.loadDialect<nn::NNDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text.str();
  }

  mlir::MLIRContext &getContext() { return context; }

  /// The function `name`, or the first one; null when there is none.
  mlir::func::FuncOp getFunction(llvm::StringRef name = "") {
    if (!module)
      return nullptr;
    for (auto function : module->getOps<mlir::func::FuncOp>())
      if (name.empty() || function.getName() == name)
        return function;
    return nullptr;
  }

  /// One random tensor an argument of `function`.
  std::vector<HostTensor> randomArguments(mlir::func::FuncOp function, uint64_t seed,
                                          double low = -1, double high = 1) {
    std::vector<HostTensor> arguments;
    for (mlir::Type type : function.getArgumentTypes())
      arguments.push_back(randomTensor(llvm::cast<mlir::RankedTensorType>(type),
                                       seed + arguments.size(), low, high));
    return arguments;
  }

  /// What `function` returns; empty after a failure, which fails the test.
  std::vector<HostTensor> run(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> arguments) {
    DeviceContext device;
    mlir::FailureOr<std::vector<HostTensor>> results = mlir::failure();
    if (function)
      results = evaluate(function, std::vector<HostTensor>(arguments), device);
    EXPECT_TRUE(mlir::succeeded(results)) << "the function did not run";
    return mlir::succeeded(results) ? *results : std::vector<HostTensor>();
  }

  /// A new function: the arguments of `function`, then one gradient a result;
  /// it returns one gradient an argument (zero where none arrives, and for
  /// arguments that are no floats). Fails when a needed op has no VJP.
  mlir::FailureOr<mlir::func::FuncOp> buildVjpFunction(mlir::func::FuncOp function) {
    if (!function)
      return mlir::failure();
    auto vjp = llvm::cast<mlir::func::FuncOp>(function->clone());
    module->push_back(vjp);
    vjp.setName((function.getName() + "_vjp").str());
    mlir::Block &block = vjp.getBody().front();
    mlir::Operation *end = block.getTerminator();
    mlir::OpBuilder builder(end);
    llvm::SmallVector<mlir::Value> arguments(block.getArguments());

    llvm::DenseSet<mlir::Value> active; // floats that depend on an argument
    auto isFloat = [](mlir::Value value) {
      return llvm::isa<mlir::FloatType>(nn::typeOf(value).getElementType());
    };
    auto isActive = [&](mlir::Value value) { return active.contains(value); };
    for (mlir::Value argument : arguments)
      if (isFloat(argument))
        active.insert(argument);
    llvm::SmallVector<mlir::Operation *> forward;
    for (mlir::Operation &op : block.without_terminator()) {
      forward.push_back(&op);
      for (mlir::Value result : op.getResults())
        if (isFloat(result) && llvm::any_of(op.getOperands(), isActive))
          active.insert(result);
    }

    llvm::DenseMap<mlir::Value, mlir::Value> grads;
    auto accumulate = [&](mlir::Value value, mlir::Value grad) {
      mlir::Value &sum = grads[value];
      sum = sum ? builder.create<nn::AddOp>(end->getLoc(), sum, grad).getResult() : grad;
    };
    for (mlir::Value returned : end->getOperands())
      accumulate(returned, block.addArgument(returned.getType(), returned.getLoc()));
    for (mlir::Operation *op : llvm::reverse(forward)) {
      llvm::SmallVector<mlir::Value> resultGrads, operandGrads;
      llvm::SmallVector<bool> wanted;
      for (mlir::Value result : op->getResults())
        resultGrads.push_back(grads.lookup(result));
      for (mlir::Value operand : op->getOperands())
        wanted.push_back(isActive(operand));
      if (!llvm::is_contained(wanted, true) ||
          llvm::all_of(resultGrads, [](mlir::Value v) { return !v; }))
        continue;
      auto rule = llvm::dyn_cast<DifferentiableOpInterface>(op);
      if (!rule)
        return op->emitOpError("has no VJP"), mlir::failure();
      operandGrads.resize(wanted.size());
      if (mlir::failed(rule.buildVjp(builder, resultGrads, wanted, operandGrads)))
        return mlir::failure();
      for (auto [operand, wants, grad] : llvm::zip_equal(op->getOperands(), wanted, operandGrads))
        if (wants && grad)
          accumulate(operand, grad);
    }
    llvm::SmallVector<mlir::Value> returned;
    for (mlir::Value argument : arguments) {
      mlir::Value grad = grads.lookup(argument);
      returned.push_back(
          grad ? grad : builder.create<nn::ConstantOp>(end->getLoc(), argument.getType(), 0.0));
    }
    end->setOperands(returned);
    vjp.setFunctionType(builder.getFunctionType(block.getArgumentTypes(), end->getOperandTypes()));
    if (mlir::failed(mlir::verify(vjp)))
      return mlir::failure();
    return vjp;
  }

  /// Expects the gradients of every float argument of `function` at
  /// `arguments`, under a random gradient of each result, to be within
  /// `tolerance` (relative, L2) of central differences of width `step`.
  void expectGradients(mlir::func::FuncOp function, std::vector<HostTensor> arguments,
                       double step = 1e-5, double tolerance = 1e-6) {
    auto vjp = buildVjpFunction(function);
    ASSERT_TRUE(mlir::succeeded(vjp)) << "no gradient could be built";
    std::vector<HostTensor> extended = arguments, weights;
    for (mlir::Type type : function.getResultTypes())
      weights.push_back(
          randomTensor(llvm::cast<mlir::RankedTensorType>(type), 77 + weights.size()));
    extended.insert(extended.end(), weights.begin(), weights.end());
    std::vector<HostTensor> grads = run(*vjp, extended);
    ASSERT_EQ(grads.size(), arguments.size());
    auto evaluate = [&] { return run(function, arguments); };
    for (size_t i = 0; i < arguments.size(); ++i) {
      std::vector<double> differences;
      for (double &element : arguments[i].floats) {
        double kept = element, slope = 0;
        element = kept + step;
        std::vector<HostTensor> above = evaluate();
        element = kept - step;
        std::vector<HostTensor> below = evaluate();
        element = kept;
        ASSERT_EQ(above.size(), weights.size());
        ASSERT_EQ(below.size(), weights.size());
        for (size_t r = 0; r < weights.size(); ++r)
          for (size_t k = 0; k < weights[r].floats.size(); ++k)
            slope += weights[r].floats[k] * (above[r].floats[k] - below[r].floats[k]) / (2 * step);
        differences.push_back(slope);
      }
      if (arguments[i].isFloat()) {
        EXPECT_LE(relativeError(grads[i].floats, differences), tolerance)
            << "gradient of argument " << i;
      }
    }
  }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// The only function of a text, run on random arguments.
struct Outcome {
  std::unique_ptr<StraightLine> machine; // owns the types
  std::vector<HostTensor> in;
  HostTensor out;

  explicit Outcome(llvm::StringRef text, double low = -1, double high = 1)
      : machine(std::make_unique<StraightLine>(text)) {
    mlir::func::FuncOp function = machine->getFunction();
    if (!function)
      return;
    in = machine->randomArguments(function, 5, low, high);
    std::vector<HostTensor> results = machine->run(function, in);
    if (!results.empty())
      out = results[0];
  }

  /// Its first op.
  mlir::Operation *getOp() { return &machine->getFunction().getBody().front().front(); }
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_STRAIGHTLINE_H
