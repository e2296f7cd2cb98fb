#ifndef DPC_PASSES_LOWERING_CODEGEN_LOOPGROUPS_H
#define DPC_PASSES_LOWERING_CODEGEN_LOOPGROUPS_H

#include "passes/Lowering/Codegen/KernelEmitter.h"

namespace dpc {

/// Divides the roots of a kernel, in their order, into groups that share loops.
llvm::SmallVector<LoopGroup> formLoopGroups(const KernelGraph &graph);

/// The type an element of `value` is stored as: a byte for i1, else signless.
mlir::Type storageType(mlir::Value value);

/// Whether `value` is a constant equal everywhere, which needs no memory.
bool isSplat(mlir::Value value);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_CODEGEN_LOOPGROUPS_H
