#ifndef DPC_DIALECTS_NN_IR_CONVERSIONS_H
#define DPC_DIALECTS_NN_IR_CONVERSIONS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace dpc::nn {

// Under mixed precision products read a conversion of a weight, and give one of a
// gradient. A pass that asks where a value comes from, or what reads it, asks here.

/// Whether `op` gives the floats that it reads in another float type.
bool isConversion(mlir::Operation *op);

/// What `value` is a conversion of, through any number of them; itself if it is none.
mlir::Value getSource(mlir::Value value);

/// `value`, then its conversions, and theirs.
llvm::SmallVector<mlir::Value> getForms(mlir::Value value);

/// Whether something reads `value` or a conversion of it, and `isReader` is true of all that
/// do; conversions are not asked about.
bool isReadOnlyBy(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> isReader);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_CONVERSIONS_H
