#ifndef DPC_DIALECTS_NN_IR_CONVERSIONS_H
#define DPC_DIALECTS_NN_IR_CONVERSIONS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace dpc::nn {

// In mixed precision, products read weights through conversions, and the gradients of
// the weights are converted back. These functions let passes look through conversions to
// find the source or the readers of a value.

/// Whether `op` converts floats to another float type.
bool isConversion(mlir::Operation *op);

/// The value from which `value` was converted, directly or through other conversions.
/// `value` itself if it is not the result of a conversion.
mlir::Value getSource(mlir::Value value);

/// `value`, followed by all its direct and indirect conversions.
llvm::SmallVector<mlir::Value> getForms(mlir::Value value);

/// Whether `value` or a conversion of it has readers, and `isReader` returns true for
/// all of them. A conversion of `value` does not count as a reader.
bool isReadOnlyBy(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> isReader);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_CONVERSIONS_H
