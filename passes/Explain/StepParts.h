#ifndef DPC_PASSES_EXPLAIN_STEPPARTS_H
#define DPC_PASSES_EXPLAIN_STEPPARTS_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dpc {

/// Finds whether an op of a function belongs to the forward pass, the backward pass or the update,
/// from the values that depend on it. In a function without a metric `loss` all ops are forward.
class StepParts {
public:
  explicit StepParts(mlir::func::FuncOp function);

  /// Whether the loss or an output depends on `op`.
  bool isForward(mlir::Operation *op) const { return !hasLoss || forward.contains(op); }
  /// Whether `op` computes a parameter gradient on its way to the update: `op` is not forward, and
  /// all values that depend on it have as many elements as its result, or are scalars. With
  /// `summed`, a value with another number of elements is allowed too, if it is not sharded over an
  /// axis that shards the batch.
  bool isGradient(mlir::Operation *op, bool summed) const;
  /// "forward", "backward" or "update".
  llvm::StringRef nameOf(mlir::Operation *op) const;

  /// Whether `axis` shards the batch dimension of an input or a label.
  bool cutsBatch(llvm::StringRef axis) const { return llvm::is_contained(batchAxes, axis); }

  /// Returns the name of `value` for messages: the name of a tensor of the program, or of the ONNX
  /// node for which `value` is computed.
  std::string describe(mlir::Value value) const;
  /// Returns the name of `op` for messages: its ONNX node, or "loss" or "optimizer".
  std::string describe(mlir::Operation *op) const;
  /// Returns the name of the state if `value` is an argument that is state, otherwise "".
  std::string stateName(mlir::Value value) const;

  mlir::func::FuncOp getFunction() const { return function; }

private:
  mlir::func::FuncOp function;
  bool hasLoss = false;
  // Looked up by key only, so the order of the set has no effect.
  llvm::DenseSet<mlir::Operation *> forward;
  dist::AxisNames batchAxes;
};

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_STEPPARTS_H
