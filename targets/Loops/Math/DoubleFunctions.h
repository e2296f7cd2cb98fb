#ifndef DPC_TARGETS_LOOPS_MATH_DOUBLEFUNCTIONS_H
#define DPC_TARGETS_LOOPS_MATH_DOUBLEFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace dpc {

/// Emits arithmetic without branches that computes an op of the math dialect on
/// f64. Returns null for an op that has no code here, e.g. a square root. The
/// error is at most 4 units in the last place. For infinities and NaN the result
/// is that of libm, but the sine, cosine and tangent of numbers from 2^50 on are
/// NaN.
mlir::Value emitDoubleFunction(mlir::OpBuilder &builder, mlir::Operation *op);

/// As above, but applies the function of `op` to `operands`, which have type f64.
mlir::Value emitDoubleFunction(mlir::OpBuilder &builder, mlir::Operation *op,
                               mlir::ValueRange operands);

/// Emits code that computes an `arith.remf` on f32 or f64 exactly: x - trunc(x /
/// y) y. The code has loops. Afterwards, the insertion point is after the loops.
mlir::Value emitRemainder(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_MATH_DOUBLEFUNCTIONS_H
