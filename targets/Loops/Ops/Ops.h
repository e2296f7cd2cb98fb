#ifndef DPC_TARGETS_LOOPS_OPS_OPS_H
#define DPC_TARGETS_LOOPS_OPS_OPS_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

namespace dpc {

/// Attaches element rules and fill rules to nn ops, and formulas to elementwise ops.
/// Composites without a rule are decomposed. All targets that write loops share these
/// rules.
void registerLoopRules(mlir::DialectRegistry &registry);

/// Each function attaches the rules of one family of ops. It is defined in the
/// file of the family.
void attachContractionRules(mlir::MLIRContext &context);
void attachConvolutionRules(mlir::MLIRContext &context);
void attachCumSumRule(mlir::MLIRContext &context);
void attachElementwiseRules(mlir::MLIRContext &context);
void attachIndexingRules(mlir::MLIRContext &context);
void attachMaxPoolGradRule(mlir::MLIRContext &context);
void attachMaxPoolTapsRule(mlir::MLIRContext &context);
void attachPoolingRules(mlir::MLIRContext &context);
void attachRandomRules(mlir::MLIRContext &context);
void attachReductionRules(mlir::MLIRContext &context);
void attachSegmentRules(mlir::MLIRContext &context);
void attachShapeRules(mlir::MLIRContext &context);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_OPS_OPS_H
