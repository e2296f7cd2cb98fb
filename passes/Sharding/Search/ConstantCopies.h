#ifndef DPC_PASSES_SHARDING_SEARCH_CONSTANTCOPIES_H
#define DPC_PASSES_SHARDING_SEARCH_CONSTANTCOPIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace dpc {

/// Gives each reader of a constant its own copy; the same for values that are computed from
/// constants alone. Readers of one constant need not be related. For example, one op may read an
/// 8x8 constant of zeros as [samples, tokens], and another op may read the same constant as
/// [tokens, samples]. If both shared the constant, the layout analysis would tie samples to
/// tokens. A copy costs nothing, because each device makes only the part that it needs.
void copyConstants(mlir::func::FuncOp function);

/// Merges two copies of a constant if all their attributes, including layouts, are equal and
/// `kindOf` returns the same for both.
void mergeConstants(mlir::func::FuncOp function,
                    llvm::function_ref<std::vector<bool>(mlir::Value)> kindOf);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_CONSTANTCOPIES_H
