#ifndef DPC_PASSES_AUTODIFF_SAMPLEDIM_H
#define DPC_PASSES_AUTODIFF_SAMPLEDIM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace dpc {

/// Returns the first input of the function that has a batch dimension, or null if no input has one.
mlir::BlockArgument findBatchedInput(mlir::func::FuncOp function);

/// Returns the number of samples in a batch, which is the extent of the batch dimension of the
/// inputs. nullopt if no input has a batch dimension.
std::optional<int64_t> getBatch(mlir::func::FuncOp function);

/// Returns the dimension of `value`, other than `except`, whose outermost factor counts the
/// samples. It is found by following the batch dimensions of the inputs through the loops of ops.
/// nullopt if no dimension is known to count samples.
std::optional<int64_t> findSampleDim(mlir::func::FuncOp function, mlir::Value value,
                                     int64_t except);

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_SAMPLEDIM_H
