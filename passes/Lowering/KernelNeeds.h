#ifndef DPC_PASSES_LOWERING_KERNELNEEDS_H
#define DPC_PASSES_LOWERING_KERNELNEEDS_H

#include "passes/Machine/MachineTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// Writes `needs` to `kernel`, as the attributes `exec.scratch_bytes` and `exec.may_alias`.
void setNeeds(mlir::func::FuncOp kernel, const KernelNeeds &needs);

/// Whether the attributes of `kernel` say the same as `needs`.
bool hasNeeds(mlir::func::FuncOp kernel, const KernelNeeds &needs);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_KERNELNEEDS_H
