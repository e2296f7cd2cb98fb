#ifndef DPC_TARGETS_LOOPS_OPS_OPS_H
#define DPC_TARGETS_LOOPS_OPS_OPS_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

namespace dpc {

/// Attaches the element rules, or else the fill rules, of every nn op that has
/// loops of its own: what targets that write loops have in common.
void registerLoopRules(mlir::DialectRegistry &registry);

/// Those of a family of ops, each in a file of its own.
void attachContractionRules(mlir::MLIRContext &context);
void attachConvolutionRules(mlir::MLIRContext &context);
void attachIndexingRules(mlir::MLIRContext &context);
void attachMaxPoolGradRule(mlir::MLIRContext &context);
void attachPoolingRules(mlir::MLIRContext &context);
void attachRandomRules(mlir::MLIRContext &context);
void attachReductionRules(mlir::MLIRContext &context);
void attachSegmentRules(mlir::MLIRContext &context);
void attachShapeRules(mlir::MLIRContext &context);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_OPS_OPS_H
