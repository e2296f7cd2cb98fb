#ifndef DPC_DIALECTS_DIST_IR_MACHINEATTR_H
#define DPC_DIALECTS_DIST_IR_MACHINEATTR_H

#include "dialects/Dist/IR/DistDialect.h"
#include "planning/Machine.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc::dist {

/// Sets the attribute `dist.machine` of `module` to `machine`.
void setMachine(mlir::ModuleOp module, const Machine &machine);

/// The machine of the module that is `op` or contains `op`. Fails with an error on
/// the module if it has no attribute `dist.machine`.
mlir::FailureOr<Machine> getMachine(mlir::Operation *op);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MACHINEATTR_H
