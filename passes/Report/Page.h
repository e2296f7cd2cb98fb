#ifndef DPC_PASSES_REPORT_PAGE_H
#define DPC_PASSES_REPORT_PAGE_H

#include "passes/Explain/Report.h"
#include "passes/Play/ExecPlay.h"

namespace dpc {

/// Writes a report and the play of a step as one HTML page, which loads nothing. `module` is the
/// program at level `exec`, `model` the name of the ONNX file. A program without a step has no
/// timeline and no chart of memory. Fails with an error on the module if its machine has fewer
/// devices than the mesh has ranks. Equal inputs give equal bytes.
mlir::LogicalResult writePage(const ExplainReport &report, llvm::StringRef model,
                              mlir::ModuleOp module, const std::optional<PlayedStep> &step,
                              llvm::raw_ostream &os);

} // namespace dpc

#endif // DPC_PASSES_REPORT_PAGE_H
