#ifndef DPC_PASSES_AUTODIFF_SAMPLEDIM_H
#define DPC_PASSES_AUTODIFF_SAMPLEDIM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace dpc {

/// The first input of the function that has a batch dimension; null if none has.
mlir::BlockArgument findBatchedInput(mlir::func::FuncOp function);

/// Samples of a batch: the extent of the batch dimension of the function's inputs;
/// nullopt if none has one.
std::optional<int64_t> getBatch(mlir::func::FuncOp function);

/// The dimension of `value`, other than `except`, that counts samples, outermost in it:
/// where the loops of ops take the batch dimensions of the function's inputs. nullopt
/// where none is known to.
std::optional<int64_t> findSampleDim(mlir::func::FuncOp function, mlir::Value value,
                                     int64_t except);

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_SAMPLEDIM_H
