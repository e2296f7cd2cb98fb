#ifndef DPC_TOOLS_DPC_COMPILE_TUNEKERNELS_H
#define DPC_TOOLS_DPC_COMPILE_TUNEKERNELS_H

#include "passes/Play/ExecPlay.h"
#include "tools/dpc-compile/Options.h"

namespace dpc {

/// Measures the kernels of a module at level `exec` on this machine (--tune). Compiles them with
/// the cache of --cache, and keeps their times beside them: a kernel that was measured before with
/// as many ranks per host is not measured again. Returns the exit code, after one line on stderr if
/// it is not 0.
int tuneKernels(mlir::ModuleOp module, const CompileOptions &options, KernelSeconds &seconds);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_TUNEKERNELS_H
