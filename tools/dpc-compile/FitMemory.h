#ifndef DPC_TOOLS_DPC_COMPILE_FITMEMORY_H
#define DPC_TOOLS_DPC_COMPILE_FITMEMORY_H

#include "tools/dpc-compile/Options.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Takes `module` from level `local` to `scheduled`. Where it needs more memory than a rank
/// may use (--device-memory), again from the start, with less and less that stays: first
/// state and gradients are divided, which sends no more bytes (--zero=2), then parts of the
/// forward pass are computed again, then parameters are divided too (--zero=3); of all this
/// only what the command line leaves open. Says what was done, and leaves it in `options`.
/// Fails, after one line, where that does not do.
mlir::LogicalResult scheduleToFit(mlir::OwningOpRef<mlir::ModuleOp> &module,
                                  CompileOptions &options);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_FITMEMORY_H
