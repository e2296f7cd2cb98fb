#ifndef DPC_PASSES_LOWERING_KERNELNEEDS_H
#define DPC_PASSES_LOWERING_KERNELNEEDS_H

#include "passes/Machine/MachineTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// How code is generated for the machine of `module`, by the options of a pass (kernelOptions in
/// Passes.td).
CodeOptions codeOptionsOf(mlir::ModuleOp module, bool recompute, bool orderedSums, bool tf32,
                          ProductMaker products);

/// Writes `needs` on `kernel` (`exec.scratch_bytes`, `exec.may_alias`).
void setNeeds(mlir::func::FuncOp kernel, const KernelNeeds &needs);

/// Whether `kernel` was described with `needs`.
bool hasNeeds(mlir::func::FuncOp kernel, const KernelNeeds &needs);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_KERNELNEEDS_H
