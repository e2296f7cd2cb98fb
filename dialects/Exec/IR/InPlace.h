#ifndef DPC_DIALECTS_EXEC_IR_INPLACE_H
#define DPC_DIALECTS_EXEC_IR_INPLACE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// Whether result `result` of a kernel may be written over operand `operand`, as
/// code generation has recorded. No two results may be written over the same
/// operand.
bool mayComputeInPlace(mlir::func::FuncOp kernel, unsigned operand, unsigned result);

/// Bytes of scratch memory that a kernel needs.
int64_t getScratchBytes(mlir::func::FuncOp kernel);

} // namespace dpc

#endif // DPC_DIALECTS_EXEC_IR_INPLACE_H
