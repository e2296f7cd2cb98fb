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

  /// Makes these the only results of `function`, and erases the ops that are dead afterwards.
  void setOn(mlir::func::FuncOp function) const;
};

/// Replaces every op with a training form by the values that `build` returns for it: one value per
/// result, which may be null for a result without uses. If `build` returns another number of
/// values, it has emitted an error, and this function fails.
mlir::LogicalResult replaceModeOps(
    mlir::func::FuncOp function,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(TrainingModeOpInterface, mlir::OpBuilder &)>
        build);

/// Replaces every op that differs from its operand only in the gradient by this operand. Needs:
/// `function` is already differentiated, or will never be.
void replaceGradientForms(mlir::func::FuncOp function);

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_FUNCTIONFORMS_H
