#ifndef DPC_DIALECTS_NN_IR_SUMTYPES_H
#define DPC_DIALECTS_NN_IR_SUMTYPES_H

#include "mlir/IR/TypeRange.h"

namespace dpc::nn {

/// The type in which elements of type `type` are summed: f32 for 16-bit floats,
/// otherwise `type`.
mlir::Type accumulatorType(mlir::Type type);

/// Whether an op that sums products of elements of type `factor` may have a result
/// of type `sum`. It may be the same type or, for floats, a wider float type.
bool holdsSums(mlir::Type sum, mlir::Type factor);
/// Whether an op that sums products may have results of types `results` if type
/// inference gives `inferred`. Shapes must be equal, and element types must
/// satisfy holdsSums.
bool areCompatibleSums(mlir::TypeRange inferred, mlir::TypeRange results);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_SUMTYPES_H
