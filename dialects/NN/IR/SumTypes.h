#ifndef DPC_DIALECTS_NN_IR_SUMTYPES_H
#define DPC_DIALECTS_NN_IR_SUMTYPES_H

#include "mlir/IR/TypeRange.h"

namespace dpc::nn {

/// The type of sums of elements of `type`: f32 for the 16-bit floats, else `type`.
mlir::Type accumulatorType(mlir::Type type);

/// Whether an op that sums products of elements of type `factor` may have a result
/// of type `sum`: the same type or, for floats, a wider float type.
bool holdsSums(mlir::Type sum, mlir::Type factor);
/// The same for tensor types of equal shapes: whether an op of sums may have
/// `results` if `inferred` follows from its operands.
bool areCompatibleSums(mlir::TypeRange inferred, mlir::TypeRange results);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_SUMTYPES_H
