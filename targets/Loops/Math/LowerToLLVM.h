#ifndef DPC_TARGETS_LOOPS_MATH_LOWERTOLLVM_H
#define DPC_TARGETS_LOOPS_MATH_LOWERTOLLVM_H

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Lowers the modules nested in `kernels` to the LLVM dialect, in place. The
/// modules may have ops of the LLVM, arith and math dialects, also on 16-bit
/// floats.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp kernels);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_MATH_LOWERTOLLVM_H
