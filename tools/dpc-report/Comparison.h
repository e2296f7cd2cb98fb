#ifndef DPC_TOOLS_DPC_REPORT_COMPARISON_H
#define DPC_TOOLS_DPC_REPORT_COMPARISON_H

#include "passes/Explain/Report.h"
#include "tools/dpc-report/StepFile.h"

namespace dpc {

/// Checks that `traces` are of runs of `plan`: equal numbers of ranks, and equal functions and
/// operations in a step. Fails with one line that names the file.
llvm::Error checkTraces(const StepPlan &plan, llvm::ArrayRef<StepTrace> traces);

/// Returns the predicted and the measured times of a step, of functions and of operations, and the
/// bytes that ranks sent. A row of functions and operations is the mean of the ranks that have it;
/// the rows with the largest differences come first. Tables have at most `mostRows` rows. Needs:
/// checkTraces() succeeds.
ExplainReport compareSteps(const StepPlan &plan, llvm::ArrayRef<StepTrace> traces, size_t mostRows);

} // namespace dpc

#endif // DPC_TOOLS_DPC_REPORT_COMPARISON_H
