#ifndef DPC_TOOLS_DPC_COMPILE_EXPLAIN_H
#define DPC_TOOLS_DPC_COMPILE_EXPLAIN_H

#include "passes/Explain/ReshardTable.h"
#include "passes/Explain/StepReport.h"
#include "tools/dpc-compile/Options.h"

namespace dpc {

/// Returns the page of --explain: the time of a step, the contents of the file and its restored
/// parameters, the plan, and the decisions that passes recorded in `module`.
/// `reshards` were collected at level `placed`, because later levels have no
/// reshards.
ExplainReport explainProgram(const CompileOptions &options, const onnx::ImportSummary &summary,
                             mlir::ModuleOp module, const std::optional<ReshardTable> &reshards,
                             const std::optional<PlayedStep> &step);

/// Writes the file of --report in the format of its name. Returns the exit code.
int writeReport(const CompileOptions &options, const ExplainReport &report, mlir::ModuleOp module,
                const std::optional<PlayedStep> &step);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_EXPLAIN_H
