#ifndef DPC_PASSES_EXPLAIN_STEPREPORT_H
#define DPC_PASSES_EXPLAIN_STEPREPORT_H

#include "passes/Explain/Report.h"
#include "passes/Play/ExecPlay.h"

namespace dpc {

/// Adds a section about `step` of `module`: its time, the share of the device's peak, computation
/// by class of kernel, and waits by cause, of the rank that ends last. `isMeasured` says that the
/// times of kernels are measured.
void addStep(ExplainReport &report, mlir::ModuleOp module, const PlayedStep &step, bool isMeasured);

/// Writes the play as a trace in the Chrome trace event format, as runs write theirs
/// (runtime/src/trace): one process per timeline, with the number of its first rank.
void writeStepTrace(const PlayedStep &step, llvm::raw_ostream &os);

/// Writes the sections of `report`, and the play if there is one, as one JSON object.
void writeReportJson(const ExplainReport &report, const std::optional<PlayedStep> &step,
                     llvm::raw_ostream &os);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_STEPREPORT_H
