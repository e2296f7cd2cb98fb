#ifndef DPC_PASSES_AUTODIFF_FUNCTIONFORMS_H
#define DPC_PASSES_AUTODIFF_FUNCTIONFORMS_H

#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// The results of a function under construction: their values and `#nn.result` attributes.
struct FunctionResults {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Attribute> attrs;

  void add(nn::ResultKind kind, llvm::StringRef name, mlir::Value value);

  /// Makes `values` the only results of `function`, and erases the ops that are dead afterwards.
  void setOn(mlir::func::FuncOp function) const;
};

/// Replaces every op whose meaning differs between training and evaluation
/// (TrainingModeOpInterface), such as dropout. `build` returns the values that replace the results
/// of an op, one per result. The value of a result without uses may be null. If `build` fails, it
/// emits an error and returns a wrong number of values. This function then fails too.
mlir::LogicalResult replaceModeOps(
    mlir::func::FuncOp function,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(TrainingModeOpInterface, mlir::OpBuilder &)>
        build);

/// Removes every op that passes its operand on unchanged and affects only the operand's gradient,
/// such as `nn.stop_gradient`. The operand replaces the result. Needs: `function` is already
/// differentiated, or will never be.
void replaceGradientForms(mlir::func::FuncOp function);

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_FUNCTIONFORMS_H
