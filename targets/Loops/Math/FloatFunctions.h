#ifndef DPC_TARGETS_LOOPS_MATH_FLOATFUNCTIONS_H
#define DPC_TARGETS_LOOPS_MATH_FLOATFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace dpc {

/// The value of an op of the math dialect on f32, or on vectors of it, as
/// straight-line arithmetic in which loops can be vectorised; null for an op
/// without such code. It is within 2 units in the last place of the true value.
/// Infinities and NaN are those of libm, except that the sine and cosine of numbers
/// from 2^50 on are NaN. Results below the smallest normal number may be replaced
/// by it or by 0.
mlir::Value emitFloatFunction(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_MATH_FLOATFUNCTIONS_H
