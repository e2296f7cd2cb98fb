#ifndef DPC_DIALECTS_EXEC_IR_KERNELS_H
#define DPC_DIALECTS_EXEC_IR_KERNELS_H

#include "dialects/Exec/IR/ExecOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc::exec {

/// Whether `function` is a kernel: a private function whose body is one nn.kernel or
/// nn.update, and which returns the results of this op.
bool isKernel(mlir::func::FuncOp function);

/// The nn.kernel or nn.update of a kernel.
mlir::Operation *getKernelBody(mlir::func::FuncOp kernel);

/// The function that `launch` runs. It is a kernel, or a declaration without a body whose
/// code is in an object file.
mlir::func::FuncOp findFunction(LaunchOp launch, mlir::SymbolTableCollection &symbols);

/// The nn.kernel or nn.update that `launch` runs; null if its function is no kernel.
mlir::Operation *findKernelBody(LaunchOp launch, mlir::SymbolTableCollection &symbols);

} // namespace dpc::exec

#endif // DPC_DIALECTS_EXEC_IR_KERNELS_H
