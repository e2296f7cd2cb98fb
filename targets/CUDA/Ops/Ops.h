#ifndef DPC_TARGETS_CUDA_OPS_OPS_H
#define DPC_TARGETS_CUDA_OPS_OPS_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

namespace dpc {

/// Attaches the grid fill rules (GridFillOpInterface) of all nn ops that have
/// one.
void registerGridFills(mlir::DialectRegistry &registry);

/// Each function attaches the rules of one family of ops. It is defined in the
/// file of the family.
void attachAttentionGridFills(mlir::MLIRContext &context);
void attachAttentionGradGridFill(mlir::MLIRContext &context);
void attachContractionGridFills(mlir::MLIRContext &context);
void attachConvolutionGridFills(mlir::MLIRContext &context);
void attachReductionGridFill(mlir::MLIRContext &context);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_OPS_H
