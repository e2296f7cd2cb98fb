#ifndef DPC_TOOLS_DPC_COMPILE_EXPLAIN_H
#define DPC_TOOLS_DPC_COMPILE_EXPLAIN_H

#include "tools/dpc-compile/Options.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Writes the page that --explain asks for: what the file holds, then what
/// passes left in `module`.
void explainProgram(const CompileOptions &options, const onnx::ImportSummary &summary,
                    mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_EXPLAIN_H
