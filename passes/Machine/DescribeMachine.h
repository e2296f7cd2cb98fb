#ifndef DPC_PASSES_MACHINE_DESCRIBEMACHINE_H
#define DPC_PASSES_MACHINE_DESCRIBEMACHINE_H

#include "planning/Machine.h"
#include "targets/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Sets the attribute `dist.machine` of `module`: devices with the processor `processor` of
/// `target`, and the connections of `topology`.
void describeMachine(mlir::ModuleOp module, const Target &target, llvm::StringRef processor,
                     Topology topology);

} // namespace dpc

#endif // DPC_PASSES_MACHINE_DESCRIBEMACHINE_H
