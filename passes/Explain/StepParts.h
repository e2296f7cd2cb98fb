#ifndef DPC_PASSES_EXPLAIN_STEPPARTS_H
#define DPC_PASSES_EXPLAIN_STEPPARTS_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dpc {

/// Divides the ops of a function into forward pass, backward pass and update, by the values that
/// depend on each op. In a function without a metric `loss`, all ops belong to the forward pass.
class StepParts {
public:
  explicit StepParts(mlir::func::FuncOp function);

  /// Whether the loss or an output depends on `op`.
  bool isForward(mlir::Operation *op) const { return !hasLoss || forward.contains(op); }
  /// Whether `op` is on the way from a parameter gradient to an update. This holds if `op` is not
  /// forward, and each value that depends on `op` is a scalar or has as many elements as the result
  /// of `op`. Values that depend on `op` only through scalars do not matter. With `summed`, a value
  /// may also have another number of elements, if no axis that shards the batch shards this value.
  bool isGradient(mlir::Operation *op, bool summed) const;
  /// Returns the part of the step to which `op` belongs: "forward", "backward" or "update".
  llvm::StringRef nameOf(mlir::Operation *op) const;

  /// Whether `axis` shards the batch dimension of an input or a label.
  bool cutsBatch(llvm::StringRef axis) const { return llvm::is_contained(batchAxes, axis); }

  /// Returns a name of `value` for messages: the name of a tensor of the program, or of the ONNX
  /// node from which `value` was built.
  std::string describe(mlir::Value value) const;
  /// Returns a name of `op` for messages: the name of its ONNX node. An op without a node is called
  /// "loss" or "optimizer".
  std::string describe(mlir::Operation *op) const;
  /// If `value` is an argument that holds state, returns the name of the state. Otherwise returns
  /// an empty string.
  std::string stateName(mlir::Value value) const;

  mlir::func::FuncOp getFunction() const { return function; }

private:
  mlir::func::FuncOp function;
  bool hasLoss = false;
  // Looked up by key only, so that the order of the set has no effect.
  llvm::DenseSet<mlir::Operation *> forward;
  dist::AxisNames batchAxes;
};

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_STEPPARTS_H
