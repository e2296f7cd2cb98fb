#ifndef DPC_DIALECTS_NN_IR_SUMTYPES_H
#define DPC_DIALECTS_NN_IR_SUMTYPES_H

#include "mlir/IR/TypeRange.h"

namespace dpc::nn {

/// The type in which sums of elements of `type` are taken: f32 for the 16-bit
/// floats.
mlir::Type accumulatorType(mlir::Type type);

/// Whether an op that sums products of elements of type `factor` may have a
/// result of type `sum`: the same type, or of a float type a wider one.
bool holdsSums(mlir::Type sum, mlir::Type factor);
/// The same for tensors of equal shapes: one that an op of sums may have as its
/// result where its operands alone say that it is `inferred`.
bool areCompatibleSums(mlir::TypeRange inferred, mlir::TypeRange results);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_SUMTYPES_H
