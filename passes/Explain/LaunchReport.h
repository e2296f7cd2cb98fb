#ifndef DPC_PASSES_EXPLAIN_LAUNCHREPORT_H
#define DPC_PASSES_EXPLAIN_LAUNCHREPORT_H

#include "passes/Explain/Report.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Adds a section with the title `title` about the launches on a device, if kernels run as grids of
/// threads. The section has the number of launches. For each kind of library calls, e.g. products
/// of matrices, it has the number of computations that a library makes and the number that kernels
/// make. One table lists the kernels that run on a single thread, because these kernels are slow.
/// Another table lists the products of matrices that the target computes element by element,
/// because neither a library nor tiles can compute them.
void addLaunches(ExplainReport &report, mlir::ModuleOp module, const std::string &title);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_LAUNCHREPORT_H
