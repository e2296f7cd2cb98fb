#ifndef DPC_TARGETS_CPU_OPS_OPS_H
#define DPC_TARGETS_CPU_OPS_OPS_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

namespace dpc {

/// Attaches the vector fill rules (VectorFillOpInterface) of all nn ops that have
/// one.
void registerVectorFills(mlir::DialectRegistry &registry);

/// Each function attaches the rules of one family of ops. It is defined in the
/// file of the family.
void attachAttentionFill(mlir::MLIRContext &context);
void attachAttentionGradFill(mlir::MLIRContext &context);
void attachContractionFills(mlir::MLIRContext &context);
void attachConvolutionFills(mlir::MLIRContext &context);
void attachReductionFills(mlir::MLIRContext &context);

} // namespace dpc

#endif // DPC_TARGETS_CPU_OPS_OPS_H
