#ifndef DPC_TOOLS_DPC_COMPILE_WRITEPROGRAM_H
#define DPC_TOOLS_DPC_COMPILE_WRITEPROGRAM_H

#include "targets/Objects/ObjectCache.h"
#include "targets/Target.h"
#include "tools/dpc-compile/Options.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

namespace onnx {
struct OnnxModel;
struct SpecPlan;
} // namespace onnx

/// Opens the file `path` and lets `write` fill it. Returns the exit code; `write` reports its own
/// errors.
int writeFile(const std::string &path, llvm::function_ref<bool(llvm::raw_fd_ostream &)> write);

/// Opens the cache that keeps kernels between compiles; nullopt if there is no cache. Sets `code`
/// to the exit code.
std::optional<ObjectCache> openCache(const CompileOptions &options, int &code);

/// Compiles the modules in `kernels`, the code of kernels, for the processor of the command line.
/// `cache` may be null.
mlir::FailureOr<std::vector<KernelObject>>
compileKernels(mlir::ModuleOp kernels, const CompileOptions &options, const ObjectCache *cache);

/// Writes the program of a module at level `exec` in the form that the command
/// line requests. Also writes a file with its initial values, unless they are
/// embedded. `source` is the imported model. `plan` has the layouts that a
/// saved model states. `argv0` is argv[0] of main. Returns 0, or the exit code after one line on
/// stderr. If it fails before all files are complete, it leaves no files.
int writeProgram(mlir::ModuleOp module, const CompileOptions &options, onnx::OnnxModel &source,
                 const onnx::SpecPlan &plan, const char *argv0);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_WRITEPROGRAM_H
