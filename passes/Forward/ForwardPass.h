#ifndef DPC_PASSES_FORWARD_FORWARDPASS_H
#define DPC_PASSES_FORWARD_FORWARDPASS_H

#include "dialects/Dist/IR/Collectives.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dpc {

/// The values and ops of a block that some values depend on, including these values themselves.
/// Both sets are to be looked up by key only, because their order is not fixed.
struct Ancestors {
  llvm::DenseSet<mlir::Value> values;
  llvm::DenseSet<mlir::Operation *> ops;

  explicit Ancestors(llvm::ArrayRef<mlir::Value> roots);
  /// The values and ops in the body of `loop` that compute the results of `loop` in `outside`.
  Ancestors(dist::MicroOp loop, const Ancestors &outside);
};

/// Returns the forward pass of a function: the values and ops that its metric `loss` depends on.
/// Empty without this metric.
Ancestors findForwardPass(mlir::func::FuncOp function);

/// Returns the values and ops that the `nn.update` ops of a function depend on.
Ancestors findUpdates(mlir::func::FuncOp function);

} // namespace dpc

#endif // DPC_PASSES_FORWARD_FORWARDPASS_H
