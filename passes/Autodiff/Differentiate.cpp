// Reverse-mode automatic differentiation of a straight-line program. Walks the program backwards
// once, and adds up the gradients that the uses of a value contribute (Griewank and Walther,
// Evaluating Derivatives, chapter 3).

#include "passes/Autodiff/FunctionForms.h"
#include "passes/Autodiff/Passes.h"

#include "dialects/Interfaces/CurrentWork.h"
#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/LossScale.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/Autodiff/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

namespace {

/// The gradients of the values of one function. Invariant: `gradients[v]` is the sum of the
/// contributions of those users of v that have been visited.
class ReverseMode {
public:
  ReverseMode(func::FuncOp function, OpBuilder &builder) : function(function), builder(builder) {}

  /// Marks `value` as active. run() then also marks every float value that depends on `value`
  /// through float values only, and through no op that stops gradients.
  void markActive(Value value) { active.insert(value); }

  /// Computes the gradients of all active values, by a walk backwards from `loss`. The gradient of
  /// `loss` itself is `seed`.
  LogicalResult run(Value loss, Value seed) {
    for (Operation &op : function.front())
      if (!stopsGradient(op) &&
          llvm::any_of(op.getOperands(), [&](Value v) { return active.contains(v); }))
        for (Value result : op.getResults())
          if (isFloat(result))
            active.insert(result);
    if (!active.contains(loss))
      return function.emitError("the loss depends on no parameter");
    gradients[loss] = seed;
    reached.insert(loss);

    SmallVector<Operation *> ops;
    for (Operation &op : function.front().without_terminator())
      ops.push_back(&op);
    bool complete = true;
    for (Operation *op : llvm::reverse(ops)) {
      CurrentWork work(op->getLoc(), op->getName().getStringRef());
      reach(*op);
      complete &= succeeded(visit(op));
    }
    return success(complete);
  }

  /// Returns the gradient of `value`. The gradient is zero if the loss depends on `value` only
  /// through ops whose derivative is zero, such as rounding. Null if no path leads from `value`
  /// to the loss, or only paths with an op that stops gradients or with a value that is not a
  /// float.
  Value getGradient(Value value) {
    Value gradient = gradients.lookup(value);
    if (!gradient && reached.contains(value))
      return Expressions{builder, value.getLoc()}.splatLike(value, 0);
    return gradient;
  }

private:
  static bool stopsGradient(Operation &op) {
    auto form = dyn_cast<GradientFormOpInterface>(op);
    return form && form.stopsGradient();
  }

  void reach(Operation &op) {
    if (stopsGradient(op) || !isa<DifferentiableOpInterface>(op) ||
        llvm::none_of(op.getResults(), [&](Value v) { return reached.contains(v); }))
      return;
    for (Value operand : op.getOperands())
      if (active.contains(operand))
        reached.insert(operand);
  }

  LogicalResult visit(Operation *op) {
    SmallVector<Value> resultGrads;
    for (Value result : op->getResults())
      resultGrads.push_back(gradients.lookup(result));
    if (llvm::none_of(resultGrads, [](Value g) { return bool(g); }))
      return success();
    SmallVector<bool> wanted;
    for (Value operand : op->getOperands())
      wanted.push_back(active.contains(operand));
    if (!llvm::is_contained(wanted, true))
      return success();
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return op->emitOpError("lies between a parameter and the loss, but has "
                             "no gradient");
    SmallVector<Value> operandGrads(op->getNumOperands());
    if (failed(differentiable.buildVjp(builder, resultGrads, wanted, operandGrads)))
      return failure();
    for (auto [operand, gradient, isWanted] :
         llvm::zip_equal(op->getOperands(), operandGrads, wanted))
      if (isWanted && gradient)
        accumulate(operand, gradient);
    return success();
  }

  void accumulate(Value value, Value gradient) {
    Value &sum = gradients[value];
    sum = sum ? builder.create<AddOp>(value.getLoc(), sum, gradient) : gradient;
  }

  func::FuncOp function;
  OpBuilder &builder;
  // The sets and the map below are looked up by key only, so their order has no effect.
  /// The values that markActive() and run() have marked.
  llvm::DenseSet<Value> active;
  /// Active values that the loss depends on, even if their gradient is zero.
  llvm::DenseSet<Value> reached;
  llvm::DenseMap<Value, Value> gradients;
};

struct DifferentiatePass : dpc::impl::DifferentiateBase<DifferentiatePass> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!step) {
      getOperation().emitError("has no function @step");
      return signalPassFailure();
    }
    Operation *terminator = step.front().getTerminator();
    Value loss;
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      ResultAttr attr = nn::getResult(step, index);
      if (attr && attr.getKind() == ResultKind::metric && attr.getName() == "loss")
        loss = value;
    }
    if (!loss) {
      step.emitError("has no metric \"loss\"");
      return signalPassFailure();
    }

    OpBuilder builder(terminator);
    ReverseMode reverse(step, builder);
    SmallVector<unsigned> parameters;
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      ArgAttr attr = nn::getArg(step, i);
      if (!attr || attr.getKind() != ArgKind::parameter)
        continue;
      parameters.push_back(i);
      reverse.markActive(step.getArgument(i));
    }
    if (parameters.empty()) {
      step.emitError("no parameter is left to train");
      return signalPassFailure();
    }
    if (failed(reverse.run(loss, makeSeed(step, builder, loss))))
      return signalPassFailure();

    SmallVector<Value> results(terminator->getOperands());
    SmallVector<DictionaryAttr> attrs;
    step.getAllResultAttrs(attrs);
    for (unsigned i : parameters) {
      StringRef name = nn::getArg(step, i).getName();
      Value gradient = reverse.getGradient(step.getArgument(i));
      if (!gradient) {
        step.emitRemark("parameter ") << name << " has no path to the loss: it will not change";
        continue;
      }
      results.push_back(gradient);
      auto attr = ResultAttr::get(&getContext(), ResultKind::gradient, name);
      attrs.push_back(
          builder.getDictionaryAttr(builder.getNamedAttr(NNDialect::kResultAttrName, attr)));
    }
    terminator->setOperands(results);
    step.setType(
        FunctionType::get(&getContext(), step.getArgumentTypes(), TypeRange(ValueRange(results))));
    step.setAllResultAttrs(attrs);
    replaceGradientForms(step);
  }

private:
  /// Returns the gradient of the loss with respect to itself. This is 1, or the loss scale, which
  /// becomes a new argument of `step`: a variable of the optimizer state.
  Value makeSeed(func::FuncOp step, OpBuilder builder, Value loss) {
    Expressions e{builder, loss.getLoc()};
    if (lossScale == 0)
      return e.splatLike(loss, 1);
    auto type = RankedTensorType::get({}, builder.getF32Type());
    OpBuilder(step).create<VariableOp>(
        step.getLoc(), kLossScaleName,
        DenseElementsAttr::get(type, builder.getFloatAttr(builder.getF32Type(), lossScale)));
    unsigned index = step.getNumArguments();
    auto attr = ArgAttr::get(&getContext(), ArgKind::optimizer, kLossScaleName, -1, "");
    step.insertArgument(
        index, type, builder.getDictionaryAttr(builder.getNamedAttr(NNDialect::kArgAttrName, attr)),
        step.getLoc());
    return e.convert(step.getArgument(index), typeOf(loss).getElementType());
  }
};

} // namespace
