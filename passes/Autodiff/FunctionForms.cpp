#include "passes/Autodiff/FunctionForms.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

void FunctionResults::add(ResultKind kind, StringRef name, Value value) {
  values.push_back(value);
  attrs.push_back(ResultAttr::get(value.getContext(), kind, name));
}

void FunctionResults::setOn(func::FuncOp function) const {
  MLIRContext *context = function.getContext();
  function.front().getTerminator()->setOperands(values);
  function.setType(
      FunctionType::get(context, function.getArgumentTypes(), TypeRange(ValueRange(values))));
  SmallVector<DictionaryAttr> dictionaries;
  for (Attribute attr : attrs)
    dictionaries.push_back(DictionaryAttr::get(
        context, {{StringAttr::get(context, NNDialect::kResultAttrName), attr}}));
  function.setAllResultAttrs(dictionaries);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

LogicalResult dpc::replaceModeOps(
    func::FuncOp function,
    llvm::function_ref<SmallVector<Value>(TrainingModeOpInterface, OpBuilder &)> build) {
  SmallVector<TrainingModeOpInterface> ops;
  function.walk([&](TrainingModeOpInterface op) { ops.push_back(op); });
  // Build the new values of all ops before any op is replaced. `build` may look at other ops than
  // the one that it replaces, and must find them unchanged. Then replace the ops in reverse order.
  // The new value of a result may be a result of an earlier op, which is then replaced afterwards.
  SmallVector<SmallVector<Value>> values;
  for (TrainingModeOpInterface op : ops) {
    OpBuilder builder(op);
    values.push_back(build(op, builder));
    if (values.back().size() != op->getNumResults())
      return failure(); // the op has emitted an error
  }
  for (auto [op, built] : llvm::reverse(llvm::zip_equal(ops, values))) {
    for (auto [old, value] : llvm::zip_equal(op->getResults(), built))
      if (value)
        old.replaceAllUsesWith(value);
    op->erase();
  }
  return success();
}

void dpc::replaceGradientForms(func::FuncOp function) {
  function.walk([](GradientFormOpInterface op) {
    op->getResult(0).replaceAllUsesWith(op.getForward());
    op->erase();
  });
}
