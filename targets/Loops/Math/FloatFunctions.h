#ifndef DPC_TARGETS_LOOPS_MATH_FLOATFUNCTIONS_H
#define DPC_TARGETS_LOOPS_MATH_FLOATFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace dpc {

/// Emits arithmetic without branches that computes an op of the math dialect on f32
/// or on vectors of f32. Loops with this arithmetic can be vectorised. Returns null
/// for an op that has no code here. The error is at most 2 units in the last place.
/// For infinities and NaN the result is that of libm, but the sine and cosine of
/// numbers from 2^50 on are NaN. A result below the smallest normal number may
/// become this number or 0.
mlir::Value emitFloatFunction(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_MATH_FLOATFUNCTIONS_H
