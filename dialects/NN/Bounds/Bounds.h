#ifndef DPC_DIALECTS_NN_BOUNDS_BOUNDS_H
#define DPC_DIALECTS_NN_BOUNDS_BOUNDS_H

#include "dialects/NN/Bounds/ElementBounds.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"

namespace dpc {

/// Attaches BoundsOpInterface to nn ops.
void registerBoundsModels(mlir::DialectRegistry &registry);

namespace nn {
/// Returns the bounds that integers must satisfy so that every index in the ops of `block` is
/// valid, for each value that needs any.
llvm::DenseMap<mlir::Value, ElementBounds> findRequiredBounds(mlir::Block &block);
} // namespace nn

} // namespace dpc

#include "dialects/NN/Bounds/BoundsOpInterface.h.inc"

#endif // DPC_DIALECTS_NN_BOUNDS_BOUNDS_H
