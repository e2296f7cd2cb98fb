#ifndef DPC_PASSES_AUTODIFF_FUNCTIONFORMS_H
#define DPC_PASSES_AUTODIFF_FUNCTIONFORMS_H

#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// Results of a function under construction: values and their `#nn.result`.
struct FunctionResults {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Attribute> attrs;

  void add(nn::ResultKind kind, llvm::StringRef name, mlir::Value value);

  /// Makes these the results of `function`, and erases the ops that only
  /// dropped results needed.
  void setOn(mlir::func::FuncOp function) const;
};

/// Replaces every op with a training form by what `build` makes of it: one
/// value a result, null for a result without uses; none after an error.
mlir::LogicalResult replaceModeOps(
    mlir::func::FuncOp function,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(TrainingModeOpInterface, mlir::OpBuilder &)>
        build);

/// Puts its operand in the place of every op that differs from it in the
/// gradient alone: `function` is differentiated, or never will be.
void replaceGradientForms(mlir::func::FuncOp function);

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_FUNCTIONFORMS_H
