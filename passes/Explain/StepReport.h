#ifndef DPC_PASSES_EXPLAIN_STEPREPORT_H
#define DPC_PASSES_EXPLAIN_STEPREPORT_H

#include "passes/Explain/Report.h"
#include "passes/Play/ExecPlay.h"

namespace dpc {

/// Adds a section about one step of the program at level `exec`, as planning/StepPlay plays it: its
/// time, the share of the device's peak, computation by class of kernel, and waits by cause, of the
/// rank that ends last. Kernels take their times in `measured`. Fails with an error if the step cannot be played.
/// Adds nothing to a program without a step.
mlir::LogicalResult addStep(ExplainReport &report, mlir::ModuleOp module,
                            const KernelSeconds &measured);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_STEPREPORT_H
