#ifndef DPC_PASSES_BUCKETING_READTYPES_H
#define DPC_PASSES_BUCKETING_READTYPES_H

#include "dialects/NN/IR/NNDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// The type of fewer bits than `own` to which all functions of `module` convert the state
/// `binding`, or the rows that they take of it; null if something reads it as it is. Readers
/// that `isPassed` is true of do not count.
mlir::Type findReadType(mlir::ModuleOp module, nn::ArgAttr binding, mlir::Type own,
                        llvm::function_ref<bool(mlir::Operation *)> isPassed);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_READTYPES_H
