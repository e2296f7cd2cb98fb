#ifndef DPC_PASSES_MEMORY_LARGESTTENSORS_H
#define DPC_PASSES_MEMORY_LARGESTTENSORS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace dpc {

/// What is largest when a rank needs most, for messages; of a module that
/// dpc-assign-offsets has planned.
std::string describeLargest(mlir::ModuleOp module);

} // namespace dpc

#endif // DPC_PASSES_MEMORY_LARGESTTENSORS_H
