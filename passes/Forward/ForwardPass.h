#ifndef DPC_PASSES_FORWARD_FORWARDPASS_H
#define DPC_PASSES_FORWARD_FORWARDPASS_H

#include "dialects/Dist/IR/Collectives.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dpc {

/// What some values of a block depend on, themselves included. To be looked up by key only.
struct Ancestors {
  llvm::DenseSet<mlir::Value> values;
  llvm::DenseSet<mlir::Operation *> ops;

  explicit Ancestors(llvm::ArrayRef<mlir::Value> roots);
  /// The part of `outside`, of the block around `loop`, that its body computes.
  Ancestors(dist::MicroOp loop, const Ancestors &outside);
};

/// The forward pass of a function: what its metric `loss` depends on; nothing without it.
Ancestors findForwardPass(mlir::func::FuncOp function);

/// What the updates of state in a function depend on.
Ancestors findUpdates(mlir::func::FuncOp function);

} // namespace dpc

#endif // DPC_PASSES_FORWARD_FORWARDPASS_H
