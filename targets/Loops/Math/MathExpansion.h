#ifndef DPC_TARGETS_LOOPS_MATH_MATHEXPANSION_H
#define DPC_TARGETS_LOOPS_MATH_MATHEXPANSION_H

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Replaces every op of the math dialect, on scalars or (f32) vectors, by an
/// instruction or by arithmetic. Does the same for the remainder of floats and
/// for conversions to and from bf16.
///
/// Needs: no math op on 16-bit floats, none on vectors of f64.
void expandMath(mlir::ModuleOp module);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_MATH_MATHEXPANSION_H
