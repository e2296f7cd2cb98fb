#ifndef DPC_DIALECTS_NN_IR_CONVERSIONS_H
#define DPC_DIALECTS_NN_IR_CONVERSIONS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace dpc::nn {

// Under mixed precision, products read a conversion of a weight and give a
// conversion of a gradient. A pass that looks for the origin or the readers of a
// value uses these functions.

/// Whether `op` converts floats to another float type.
bool isConversion(mlir::Operation *op);

/// The value from which `value` was converted, through any number of conversions;
/// `value` itself if it is not a conversion.
mlir::Value getSource(mlir::Value value);

/// `value`, followed by all its direct and indirect conversions.
llvm::SmallVector<mlir::Value> getForms(mlir::Value value);

/// Whether `value` or a conversion of it has readers, and `isReader` is true for all of
/// them. Conversions themselves do not count as readers.
bool isReadOnlyBy(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> isReader);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_CONVERSIONS_H
