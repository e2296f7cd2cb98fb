#ifndef DPC_PASSES_FORWARD_EARLYOPS_H
#define DPC_PASSES_FORWARD_EARLYOPS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dpc {

/// Whether the results of `op` take no memory of their own. This holds in two cases: `op` is a
/// view, or each kernel that reads the result computes it again (e.g. a constant). Passes may
/// therefore repeat a free op for each of its readers.
bool isFree(mlir::Operation *op);

/// Whether the tensor type `type` has rank 1 or more. A tensor of rank 0 is a single number.
bool hasRank(mlir::Type type);

/// Whether `op`, an op of the backward pass, can run as soon as its operands exist. Passes may then
/// move it to an earlier position in the program. Two conditions must hold. First, `op` is free,
/// elementwise, a reduction or a collective. Second, every operand is a result of the backward pass
/// (`isBackward`), an argument of the function, a value that each kernel computes again (e.g. a
/// constant), or a single number. An op that reads another value of the forward pass keeps its
/// position, because this value may be rematerialized and then does not exist earlier.
bool runsAtOnce(mlir::Operation *op, llvm::function_ref<bool(mlir::Operation *)> isBackward);

} // namespace dpc

#endif // DPC_PASSES_FORWARD_EARLYOPS_H
