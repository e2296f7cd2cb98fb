#ifndef DPC_PASSES_SHARDING_CONSTANTCOPIES_H
#define DPC_PASSES_SHARDING_CONSTANTCOPIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace dpc {

/// Gives each reader of a constant, or of what is computed from constants alone, a
/// copy of its own. Readers of one constant have nothing to do with each other: the
/// zeros of a batch of 8 sequences of 8 tokens and their transposition are one
/// constant, and would tie samples to tokens. Each device makes the part that it
/// needs, at no cost.
void copyConstants(mlir::func::FuncOp function);

/// Makes one of copies of one kind whose attributes, layouts among them, are equal.
void mergeConstants(mlir::func::FuncOp function,
                    llvm::function_ref<std::vector<bool>(mlir::Value)> kindOf);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_CONSTANTCOPIES_H
