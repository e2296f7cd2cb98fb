#ifndef DPC_DIALECTS_NN_IR_FUSION_H
#define DPC_DIALECTS_NN_IR_FUSION_H

#include "dialects/Interfaces/FusableOpInterface.h"

namespace dpc {

/// The kind that `op` declares. Ops with regions (updates) and ops of other
/// dialects are outside of kernel formation.
FusionKind getFusionKind(mlir::Operation *op);

/// Whether `value` goes through memory: its producer or a reader is not an elementwise
/// op or reduction. Elementwise ops and reductions keep the values that they pass to
/// each other in registers.
bool passesThroughMemory(mlir::Value value);

/// Number of bytes that `op` reads and writes, without values that stay in
/// registers of a kernel: values that elementwise ops pass to other elementwise ops
/// or to reductions.
double getFusedBytes(mlir::Operation *op);

} // namespace dpc

#endif // DPC_DIALECTS_NN_IR_FUSION_H
