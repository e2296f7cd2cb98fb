#ifndef DPC_PASSES_SHARDING_LOWERRESHARD_H
#define DPC_PASSES_SHARDING_LOWERRESHARD_H

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/Partition/Partition.h"
#include "planning/Machine.h"

namespace dpc {

/// A tensor as one device has it.
struct LocalTensor {
  mlir::Value value;
  dist::Layout layout;
};

/// Builds the shard under `to` of a tensor of which the device has `sources`,
/// the first one as the tensor was made: from the one that is cheapest to start
/// from, by the steps of its plan (ReshardPlan.h). Neither layout may use a
/// sequential axis the other does not. Collectives are over the mesh named
/// `mesh`, which is that of `context`. Fails with an error on `op` if there is no
/// sound plan.
mlir::FailureOr<mlir::Value> lowerReshard(PartitionContext &context, mlir::Operation *op,
                                          mlir::FlatSymbolRefAttr mesh, const Machine &machine,
                                          llvm::ArrayRef<LocalTensor> sources,
                                          const dist::Layout &to);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LOWERRESHARD_H
