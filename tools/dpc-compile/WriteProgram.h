#ifndef DPC_TOOLS_DPC_COMPILE_WRITEPROGRAM_H
#define DPC_TOOLS_DPC_COMPILE_WRITEPROGRAM_H

#include "tools/dpc-compile/Options.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

namespace onnx {
struct OnnxModel;
struct SpecPlan;
} // namespace onnx

/// From level `exec` to the program that the command line asks for, and the
/// file of its initial values if they do not travel inside. `source` is the
/// model it was made from, `plan` the layouts that a saved one states; `argv0`
/// is how the tool was called. Returns 0, or the exit code after one line on
/// stderr; nothing is left behind then.
int writeProgram(mlir::ModuleOp module, const CompileOptions &options, onnx::OnnxModel &source,
                 const onnx::SpecPlan &plan, const char *argv0);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_WRITEPROGRAM_H
