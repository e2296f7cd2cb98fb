#ifndef DPC_PASSES_LOWERING_PURPOSES_H
#define DPC_PASSES_LOWERING_PURPOSES_H

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Says of each exec.buffer and exec.start of a module what it is for, in an
/// #exec.purpose, by what an entry does with it: what updates read is
/// gradients, what they write is parameters, single numbers are metrics
/// (losses, counts, norms). What is not marked is activations. For reports:
/// nothing is decided by it.
void markPurposes(mlir::ModuleOp module);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_PURPOSES_H
