#ifndef DPC_DIALECTS_EXEC_IR_INPLACE_H
#define DPC_DIALECTS_EXEC_IR_INPLACE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// Whether a kernel may write result `result` into the buffer of operand
/// `operand`. The pass `dpc-describe-kernels` recorded the answer in the
/// attribute `exec.may_alias`. Two results must not be written into the buffer of
/// one operand.
bool mayComputeInPlace(mlir::func::FuncOp kernel, unsigned operand, unsigned result);

/// Bytes of scratch memory that one call of a kernel needs, as
/// `dpc-describe-kernels` recorded them; 0 if it recorded nothing.
int64_t getScratchBytes(mlir::func::FuncOp kernel);

} // namespace dpc

#endif // DPC_DIALECTS_EXEC_IR_INPLACE_H
