#ifndef DPC_DIALECTS_NN_IR_FUSION_H
#define DPC_DIALECTS_NN_IR_FUSION_H

#include "dialects/Interfaces/FusableOpInterface.h"

namespace dpc {

/// Marks an nn.slice that its readers read in the operand of the slice (FusionKind::repeated).
/// Other slices are stored, so that the memory of their operand becomes free.
inline constexpr llvm::StringLiteral kReadInPlaceAttrName = "nn.read_in_place";

/// The role of `op` in kernel formation (FusableOpInterface). Ops with regions, e.g.
/// updates, and ops of other dialects are `outside`.
FusionKind getFusionKind(mlir::Operation *op);

/// Whether a kernel stores `value` in memory. Elementwise and repeated ops (FusionKind)
/// keep their results in registers if only elementwise, repeated and reduction ops read
/// them, directly or through views. A view is stored if its operand is stored. All other
/// values are stored.
bool passesThroughMemory(mlir::Value value);

/// The number of bytes that `op` reads from and writes to memory. Values that stay in
/// registers do not count (passesThroughMemory).
double getFusedBytes(mlir::Operation *op);

} // namespace dpc

#endif // DPC_DIALECTS_NN_IR_FUSION_H
