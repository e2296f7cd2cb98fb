// What is computed while collectives are under way.
//
// Chooses the order of a block's ops by playing them against its collectives on
// a simulated timeline (passes/Overlap/StreamSchedule.h).

#ifndef DPC_PASSES_LOWERING_COMPUTEORDER_H
#define DPC_PASSES_LOWERING_COMPUTEORDER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// Collectives that are one: the bucket of each all-reduce in one.
using BucketOfOp = llvm::DenseMap<mlir::Operation *, int64_t>;

/// An op and what must be computed before it besides its operands: a new value
/// that takes the place of an old one comes after those who read the old one.
using OrderConstraint = std::pair<mlir::Operation *, mlir::Operation *>;

/// Orders the ops of `block`. What other ops use keeps its order, for the sake
/// of memory; what is computed last (updates, metrics) comes where it waits
/// least for collectives. The block's ops stand in the order of
/// `orderByCommunication`; collectives start in the order in which they could
/// there, one at a time.
mlir::LogicalResult
orderComputation(mlir::Block &block, const BucketOfOp &bucketOf,
                 llvm::ArrayRef<OrderConstraint> constraints);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_COMPUTEORDER_H
