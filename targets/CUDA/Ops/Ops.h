#ifndef DPC_TARGETS_CUDA_OPS_OPS_H
#define DPC_TARGETS_CUDA_OPS_OPS_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

namespace dpc {

/// Attaches the grid fill rules of nn ops.
void registerGridFills(mlir::DialectRegistry &registry);

/// Each attaches the rules of one family of ops, which has its own file.
void attachAttentionGridFills(mlir::MLIRContext &context);
void attachAttentionGradGridFill(mlir::MLIRContext &context);
void attachContractionGridFills(mlir::MLIRContext &context);
void attachConvolutionGridFills(mlir::MLIRContext &context);
void attachReductionGridFill(mlir::MLIRContext &context);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_OPS_H
