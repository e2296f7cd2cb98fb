#ifndef DPC_PASSES_MACHINE_MACHINETARGET_H
#define DPC_PASSES_MACHINE_MACHINETARGET_H

#include "dialects/Dist/IR/MachineAttr.h"
#include "targets/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Returns the target of the machine that the module of `op` is planned for. Emits an error and
/// returns null if the module has no machine, or if the target of the machine is not registered.
const Target *getTarget(mlir::Operation *op);

/// Returns the options of code generation: the processor of the machine in `module`, and the
/// options of the pass that calls this function (kernelOptions in KernelOptions.td).
CodeOptions codeOptionsOf(mlir::ModuleOp module, bool recompute, bool orderedSums,
                          FactorForm factors, ProductMaker products);

} // namespace dpc

#endif // DPC_PASSES_MACHINE_MACHINETARGET_H
