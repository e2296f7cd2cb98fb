#ifndef DPC_DIALECTS_DIST_IR_MACHINEATTR_H
#define DPC_DIALECTS_DIST_IR_MACHINEATTR_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/PricesOnMesh.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc::dist {

/// Sets the attribute `dist.machine` of `module` to `machine`.
void setMachine(mlir::ModuleOp module, const Machine &machine);

/// The machine of the module that is `op` or contains `op`. Fails with an error on
/// the module if it has no attribute `dist.machine`.
mlir::FailureOr<Machine> getMachine(mlir::Operation *op);

/// The prices between the ranks of the mesh of the module that is `op` or contains `op`. Fails with
/// an error on the module if it has no machine, or one with fewer devices than the mesh.
mlir::FailureOr<MeshPrices> getMeshPrices(mlir::Operation *op);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MACHINEATTR_H
