#ifndef DPC_PASSES_SHARDING_CONSTANTCOPIES_H
#define DPC_PASSES_SHARDING_CONSTANTCOPIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace dpc {

/// Gives each reader of a constant, or of a value that is computed from constants alone, a copy of
/// its own. Readers of one constant need not be related: the zeros for a batch of 8 sequences of 8
/// tokens and for its transposition may be one constant, which would then tie samples to tokens. A
/// copy costs nothing, because each device makes only the part that it needs.
void copyConstants(mlir::func::FuncOp function);

/// Merges copies of a constant that have equal attributes, layouts among them, and for which
/// `kindOf` returns the same.
void mergeConstants(mlir::func::FuncOp function,
                    llvm::function_ref<std::vector<bool>(mlir::Value)> kindOf);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_CONSTANTCOPIES_H
