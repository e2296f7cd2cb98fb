#ifndef DPC_PASSES_MACHINE_MACHINETARGET_H
#define DPC_PASSES_MACHINE_MACHINETARGET_H

#include "dialects/Dist/IR/MachineAttr.h"
#include "targets/Target.h"

namespace dpc {

/// The target of the machine that the program of `op` is planned for. Null,
/// after an error on the module, where it has no machine or the target is not
/// registered.
const Target *getTarget(mlir::Operation *op);

} // namespace dpc

#endif // DPC_PASSES_MACHINE_MACHINETARGET_H
