#ifndef DPC_PASSES_AUTODIFF_SAMPLEDIM_H
#define DPC_PASSES_AUTODIFF_SAMPLEDIM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace dpc {

/// Returns the first input of the function that has a batch dimension, or null if no input has one.
mlir::BlockArgument findBatchedInput(mlir::func::FuncOp function);

/// Returns the number of samples in a batch: the extent of the batch dimension of
/// findBatchedInput(). nullopt if no input has a batch dimension.
std::optional<int64_t> getBatch(mlir::func::FuncOp function);

/// Returns the batch dimension of `value`: the first dimension, other than `except`, whose
/// outermost factors run over all samples. Follows the batch dimensions of the inputs through the
/// sharding rules of ops. For example, if [8, 12, 4] with 8 samples is reshaped to [96, 4],
/// dimension 0 is the batch dimension of the result. nullopt if the batch dimension is unknown.
std::optional<int64_t> findSampleDim(mlir::func::FuncOp function, mlir::Value value,
                                     int64_t except);

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_SAMPLEDIM_H
