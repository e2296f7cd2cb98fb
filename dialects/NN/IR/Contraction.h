#ifndef DPC_DIALECTS_NN_IR_CONTRACTION_H
#define DPC_DIALECTS_NN_IR_CONTRACTION_H

#include "dialects/NN/IR/NNDialect.h"

#include <optional>

#define GET_OP_CLASSES
#include "dialects/NN/IR/Contraction.h.inc"

namespace dpc::nn {

/// The extents of the dimensions `dimensions` of `tensor`, e.g. of the contracted
/// dimensions of an operand.
llvm::SmallVector<int64_t> extentsOf(mlir::Value tensor, llvm::ArrayRef<int64_t> dimensions);
/// The number of positions along `dimensions` of a tensor, e.g. of the rows of a factor.
int64_t countAlong(mlir::Value tensor, llvm::ArrayRef<int64_t> dimensions);

/// Treats the dimensions `dimensions` of `tensor` as one dimension, and returns the
/// distance in elements between neighbours along it. The tensor is dense and
/// row-major. Null if the distance is not constant, e.g. for dimensions 0 and 2 of
/// a tensor of shape [2, 3, 4].
std::optional<int64_t> strideAlong(mlir::Value tensor, llvm::ArrayRef<int64_t> dimensions);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_CONTRACTION_H
