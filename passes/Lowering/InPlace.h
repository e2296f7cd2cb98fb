#ifndef DPC_PASSES_LOWERING_INPLACE_H
#define DPC_PASSES_LOWERING_INPLACE_H

#include "mlir/IR/Operation.h"

namespace dpc {

/// Whether result `result` of `op` (an nn.kernel or nn.update) may be written
/// over operand `operand`: they have one type, and the generated loops read
/// element i of the operand for the last time when element i of the result is
/// written.
bool mayComputeInPlace(mlir::Operation *op, unsigned operand, unsigned result);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_INPLACE_H
