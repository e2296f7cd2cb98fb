#ifndef DPC_PASSES_LOWERING_COMMUNICATIONORDER_H
#define DPC_PASSES_LOWERING_COMMUNICATIONORDER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// Whether `op` exchanges data with other ranks.
bool isCollective(mlir::Operation *op);

/// Whether the results of `op` are its operand's bytes, or some of them.
bool isView(mlir::Operation *op);

/// Whether a collective reads `value`, or a view of it: it then lies best where
/// peers can read it.
bool feedsCollective(mlir::Value value);

/// Sorts the ops of a block by the number of collectives on the longest path to
/// them, otherwise keeping their order: collectives that do not depend on each
/// other come together, and what waits for one comes after what does not.
/// Returns that number for each op, a collective itself not counted.
llvm::DenseMap<mlir::Operation *, int64_t>
orderByCommunication(mlir::Block &block);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_COMMUNICATIONORDER_H
