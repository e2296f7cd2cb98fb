#ifndef DPC_DIALECTS_NN_IR_JOINEDKERNELS_H
#define DPC_DIALECTS_NN_IR_JOINEDKERNELS_H

#include "dialects/NN/IR/Program.h"

namespace dpc::nn {

/// Marks an nn.kernel that computes the results of several kernels. None of these reads a result of
/// another (`dpc-join-kernels`). The attribute has the number of results of each of them. Their
/// results are consecutive.
inline constexpr llvm::StringLiteral kJoinedAttrName = "nn.joined";
/// Marks a joined kernel that consists of updates (nn.update).
inline constexpr llvm::StringLiteral kUpdatesAttrName = "nn.updates";

/// The numbers of results of the kernels that `kernel` joins. Empty if it joins none.
llvm::ArrayRef<int64_t> getJoined(mlir::Operation *kernel);

/// Whether `kernel` updates state: an nn.update, or joined ones.
bool holdsUpdates(mlir::Operation *kernel);

/// Creates ops that compute complete tensors from `operands` as `update` does from its operands,
/// and returns the results.
llvm::SmallVector<mlir::Value> cloneUpdate(UpdateOp update, mlir::ValueRange operands,
                                           mlir::OpBuilder &builder);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_JOINEDKERNELS_H
