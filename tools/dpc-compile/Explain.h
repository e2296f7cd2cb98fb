#ifndef DPC_TOOLS_DPC_COMPILE_EXPLAIN_H
#define DPC_TOOLS_DPC_COMPILE_EXPLAIN_H

#include "passes/Explain/ReshardTable.h"
#include "passes/Play/ExecPlay.h"
#include "tools/dpc-compile/Options.h"

namespace dpc {

/// Writes the page of --explain: the time of a step, the contents of the file and its restored
/// parameters, the plan, and the decisions that passes recorded in `module`.
/// `reshards` were collected at level `placed`, because later levels have no
/// reshards. Kernels take their times in `measured`. Returns false after an error.
bool explainProgram(const CompileOptions &options, const onnx::ImportSummary &summary,
                    mlir::ModuleOp module, const std::optional<ReshardTable> &reshards,
                    const KernelSeconds &measured, llvm::raw_ostream &os);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_EXPLAIN_H
