#ifndef DPC_TARGETS_LOOPS_MATH_MATHEXPANSION_H
#define DPC_TARGETS_LOOPS_MATH_MATHEXPANSION_H

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Replaces every op of the math dialect, on scalars or on vectors of f32, by an
/// instruction or by arithmetic. Also replaces remainders of floats, and
/// conversions to and from bf16.
///
/// Needs: the module has no math ops on 16-bit floats or on vectors of f64.
void expandMath(mlir::ModuleOp module);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_MATH_MATHEXPANSION_H
