#ifndef DPC_TOOLS_DPC_COMPILE_FITMEMORY_H
#define DPC_TOOLS_DPC_COMPILE_FITMEMORY_H

#include "tools/dpc-compile/Options.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Takes `module` from level `local` to `scheduled`. Where it needs more memory than a rank
/// may use (--device-memory), and --remat=auto, again from the start, with more and more
/// computed again. Fails, after one line, where that does not do.
mlir::LogicalResult scheduleToFit(mlir::OwningOpRef<mlir::ModuleOp> &module,
                                  CompileOptions &options);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_FITMEMORY_H
