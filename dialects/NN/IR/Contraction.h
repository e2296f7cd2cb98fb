#ifndef DPC_DIALECTS_NN_IR_CONTRACTION_H
#define DPC_DIALECTS_NN_IR_CONTRACTION_H

#include "dialects/NN/IR/NNDialect.h"

#include <optional>

#define GET_OP_CLASSES
#include "dialects/NN/IR/Contraction.h.inc"

namespace dpc::nn {

/// The extents of the listed dimensions of `tensor`, such as the contracted ones.
llvm::SmallVector<int64_t> extentsOf(mlir::Value tensor, llvm::ArrayRef<int64_t> dimensions);

/// The distance in memory, in elements, between neighbours if `dimensions` of
/// `tensor`, which is dense and row-major, are treated as one dimension; nullopt if
/// that distance is not constant.
std::optional<int64_t> strideAlong(mlir::Value tensor, llvm::ArrayRef<int64_t> dimensions);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_CONTRACTION_H
