#ifndef DPC_PASSES_MEMORY_LARGESTTENSORS_H
#define DPC_PASSES_MEMORY_LARGESTTENSORS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace dpc {

/// Returns a list for messages: the largest tensors that are live at the step at which a rank needs
/// the most memory. Needs: dpc-assign-offsets has run on `module`.
std::string describeLargest(mlir::ModuleOp module);

} // namespace dpc

#endif // DPC_PASSES_MEMORY_LARGESTTENSORS_H
