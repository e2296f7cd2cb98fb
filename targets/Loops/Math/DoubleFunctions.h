#ifndef DPC_TARGETS_LOOPS_MATH_DOUBLEFUNCTIONS_H
#define DPC_TARGETS_LOOPS_MATH_DOUBLEFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace dpc {

/// The value of a floating-point function of the math dialect on f64, as
/// straight-line arithmetic; null for any other op. It is within 4 units in the
/// last place of the true value. Infinities and NaN are those of libm, except that
/// the sine, cosine and tangent of numbers from 2^50 on are NaN.
mlir::Value emitDoubleFunction(mlir::OpBuilder &builder, mlir::Operation *op);

/// The function of `op`, applied to operands of type f64.
mlir::Value emitDoubleFunction(mlir::OpBuilder &builder, mlir::Operation *op,
                               mlir::ValueRange operands);

/// x - trunc(x / y) y exactly, for an `arith.remf` on f32 or f64. The code has
/// loops; the insertion point moves to after them.
mlir::Value emitRemainder(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_MATH_DOUBLEFUNCTIONS_H
