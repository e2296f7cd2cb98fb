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

void dpc::replaceModeOps(
    func::FuncOp function,
    llvm::function_ref<SmallVector<Value>(TrainingModeOpInterface, OpBuilder &)> build) {
  SmallVector<TrainingModeOpInterface> ops;
  function.walk([&](TrainingModeOpInterface op) { ops.push_back(op); });
  for (TrainingModeOpInterface op : ops) {
    OpBuilder builder(op);
    for (auto [old, value] : llvm::zip_equal(op->getResults(), build(op, builder)))
      if (value)
        old.replaceAllUsesWith(value);
    op->erase();
  }
}

void dpc::replaceGradientForms(func::FuncOp function) {
  function.walk([](GradientFormOpInterface op) {
    op->getResult(0).replaceAllUsesWith(op.getForward());
    op->erase();
  });
}
