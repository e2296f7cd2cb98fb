#ifndef DPC_PASSES_FORWARD_FORWARDPASS_H
#define DPC_PASSES_FORWARD_FORWARDPASS_H

#include "dialects/Dist/IR/Collectives.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dpc {

/// All values and ops of a block on which the root values depend, and the root values themselves.
/// The sets have no fixed order, so callers must look up keys only.
struct Ancestors {
  llvm::DenseSet<mlir::Value> values;
  llvm::DenseSet<mlir::Operation *> ops;

  explicit Ancestors(llvm::ArrayRef<mlir::Value> roots);
  /// The values and ops in the body of `loop` that compute some of its results, or what it sends to
  /// later stages of a pipeline. The results are those that are in `outside`.
  Ancestors(dist::MicroOp loop, const Ancestors &outside);
};

/// Returns the forward pass of a function: the values and ops on which its metric `loss` depends,
/// and those that compute what it sends to later stages of a pipeline. Empty if the function has
/// neither.
Ancestors findForwardPass(mlir::func::FuncOp function);

/// Returns the values and ops on which the ops that update state (`nn.update`) depend.
Ancestors findUpdates(mlir::func::FuncOp function);

} // namespace dpc

#endif // DPC_PASSES_FORWARD_FORWARDPASS_H
