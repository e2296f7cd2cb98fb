#ifndef DPC_TOOLS_DPC_COMPILE_EXPLAIN_H
#define DPC_TOOLS_DPC_COMPILE_EXPLAIN_H

#include "passes/Explain/ReshardTable.h"
#include "tools/dpc-compile/Options.h"

namespace dpc {

/// Writes the page that --explain asks for: what the file holds, then what
/// passes left in `module`, and the reshards that there were at level `placed`.
void explainProgram(const CompileOptions &options, const onnx::ImportSummary &summary,
                    mlir::ModuleOp module, const std::optional<ReshardTable> &reshards,
                    llvm::raw_ostream &os);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_EXPLAIN_H
