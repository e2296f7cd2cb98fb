#ifndef DPC_PASSES_LOWERING_KERNELNEEDS_H
#define DPC_PASSES_LOWERING_KERNELNEEDS_H

#include "passes/Machine/MachineTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// Returns the options of code generation: the processor of the machine in `module`, and the
/// options of the pass that calls this function (kernelOptions in Passes.td).
CodeOptions codeOptionsOf(mlir::ModuleOp module, bool recompute, bool orderedSums,
                          FactorForm factors, ProductMaker products);

/// Writes `needs` to `kernel`, as the attributes `exec.scratch_bytes` and `exec.may_alias`.
void setNeeds(mlir::func::FuncOp kernel, const KernelNeeds &needs);

/// Whether the attributes of `kernel` say the same as `needs`.
bool hasNeeds(mlir::func::FuncOp kernel, const KernelNeeds &needs);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_KERNELNEEDS_H
