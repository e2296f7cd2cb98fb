#ifndef DPC_PASSES_EXPLAIN_STEPPARTS_H
#define DPC_PASSES_EXPLAIN_STEPPARTS_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dpc {

/// Which part of training an op of a function belongs to, by what depends on it.
/// A function without a metric `loss` is all forward.
class StepParts {
public:
  explicit StepParts(mlir::func::FuncOp function);

  /// What the loss or an output depends on.
  bool isForward(mlir::Operation *op) const { return !hasLoss || forward.contains(op); }
  /// Whether all that depends on `op` has its shape or its elements in another
  /// one, or is a number: gradients of parameters on their way to the update.
  /// With `summed`, the same of what no rank has only its samples of.
  bool isGradient(mlir::Operation *op, bool summed) const;
  /// "forward", "backward" or "update".
  llvm::StringRef nameOf(mlir::Operation *op) const;

  /// Whether `axis` cuts the samples of inputs or labels.
  bool cutsBatch(llvm::StringRef axis) const { return llvm::is_contained(batchAxes, axis); }

  /// How messages name `value`: the tensor of the program that it is, or the
  /// ONNX node that it was made for.
  std::string describe(mlir::Value value) const;
  /// The same of what an op is for: its node, or a part of the step.
  std::string describe(mlir::Operation *op) const;
  /// The name of the state that `value` is, or "".
  std::string stateName(mlir::Value value) const;

  mlir::func::FuncOp getFunction() const { return function; }

private:
  mlir::func::FuncOp function;
  bool hasLoss = false;
  // Looked up by key only: its order never shows.
  llvm::DenseSet<mlir::Operation *> forward;
  dist::AxisNames batchAxes;
};

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_STEPPARTS_H
