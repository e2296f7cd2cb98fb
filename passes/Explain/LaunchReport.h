#ifndef DPC_PASSES_EXPLAIN_LAUNCHREPORT_H
#define DPC_PASSES_EXPLAIN_LAUNCHREPORT_H

#include "passes/Explain/Report.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// What a device is told in a step, where kernels are grids of threads: how many
/// launches, which products of matrices a library makes, and which ops one
/// thread makes all of, as that is slow.
void addLaunches(Report &report, mlir::ModuleOp module);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_LAUNCHREPORT_H
