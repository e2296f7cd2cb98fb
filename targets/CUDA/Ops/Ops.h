#ifndef DPC_TARGETS_CUDA_OPS_OPS_H
#define DPC_TARGETS_CUDA_OPS_OPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace dpc {

namespace nn {
class NormalizeOp;
} // namespace nn

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

/// Decomposes `op` such that the sums for the mean and the variance read the operand together, if
/// grid fill rules compute the sums from memory. std::nullopt if they do not, or if the variance
/// would lose bits: nn.normalize's own decomposition is better then.
std::optional<llvm::SmallVector<mlir::Value>> normalizeInOnePass(nn::NormalizeOp op,
                                                                 mlir::OpBuilder &builder);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_OPS_H
