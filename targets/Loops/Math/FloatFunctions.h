#ifndef DPC_TARGETS_LOOPS_MATH_FLOATFUNCTIONS_H
#define DPC_TARGETS_LOOPS_MATH_FLOATFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace dpc {

/// The value of an op of the math dialect on f32, or on vectors of it, as
/// straight-line arithmetic that loops can be vectorised over; null for an op
/// that has none. Within 2 units in the last place of the true value,
/// infinities and NaN as libm gives them (but NaN for the sine and cosine of
/// numbers from 2^50 on); results below the smallest normal number may be
/// flushed to it or to 0.
mlir::Value emitFloatFunction(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_MATH_FLOATFUNCTIONS_H
