#ifndef DPC_DIALECTS_NN_IR_FUSION_H
#define DPC_DIALECTS_NN_IR_FUSION_H

#include "dialects/Interfaces/FusableOpInterface.h"

namespace dpc {

/// What `op` says of itself; ops with regions (updates) and of other dialects
/// are no kernels to form.
FusionKind getFusionKind(mlir::Operation *op);

/// Whether `value` is in memory when it is made or read: others than elementwise ops and
/// reductions make or read it, which keep what they make for each other in registers.
bool passesThroughMemory(mlir::Value value);

/// Bytes that `op` reads and writes, of what would pass through memory in any
/// case: values that one elementwise op or more make for others of that kind, or
/// for reductions, stay in registers of their kernel.
double getFusedBytes(mlir::Operation *op);

} // namespace dpc

#endif // DPC_DIALECTS_NN_IR_FUSION_H
