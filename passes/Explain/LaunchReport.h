#ifndef DPC_PASSES_EXPLAIN_LAUNCHREPORT_H
#define DPC_PASSES_EXPLAIN_LAUNCHREPORT_H

#include "passes/Explain/Report.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Adds a section about the launches of a device, if kernels are grids of threads: the number of
/// launches, how many matrix products (and other kinds of library calls) libraries and kernels
/// compute, and the kernels that one thread computes alone, which is slow.
void addLaunches(Report &report, mlir::ModuleOp module);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_LAUNCHREPORT_H
