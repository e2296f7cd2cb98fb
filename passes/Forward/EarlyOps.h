#ifndef DPC_PASSES_FORWARD_EARLYOPS_H
#define DPC_PASSES_FORWARD_EARLYOPS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dpc {

/// Whether the results of `op` take no memory of their own. This holds if `op` is a view, or if
/// each kernel that reads the result computes it for itself (e.g. a constant). A free op is
/// repeated for each of its readers.
bool isFree(mlir::Operation *op);

/// Whether the tensor type `type` has rank 1 or more. A tensor of rank 0 is a single number.
bool hasRank(mlir::Type type);

/// Whether `op`, an op of the backward pass, can run as soon as its operands exist, whatever its
/// position in the program. Two conditions must hold. First, `op` is free, elementwise, a reduction
/// or a collective. Second, no op outside of the backward pass (`isBackward`) makes an operand,
/// except constants and single numbers. An op that reads a value of the forward pass keeps its
/// position, because a rematerialized value does not exist earlier.
bool runsAtOnce(mlir::Operation *op, llvm::function_ref<bool(mlir::Operation *)> isBackward);

} // namespace dpc

#endif // DPC_PASSES_FORWARD_EARLYOPS_H
