#ifndef DPC_PASSES_SHARDING_LOWERRESHARD_H
#define DPC_PASSES_SHARDING_LOWERRESHARD_H

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/Partition/Partition.h"
#include "passes/Sharding/ReshardPlan.h"
#include "planning/Machine.h"

namespace dpc {

/// A tensor as one device has it.
struct LocalTensor {
  mlir::Value value;
  dist::Layout layout;
};

/// A plan, and which of several layouts it starts from.
struct NearestPlan {
  size_t source = 0;
  ReshardPlan plan;
};

/// The cheapest, verified plan to `to` of a value that the device has in each of
/// `sources`, the first one as it was made; of equals that of the first source.
/// Fails where there is none from the first.
llvm::Expected<NearestPlan> planFromNearest(llvm::ArrayRef<dist::Layout> sources,
                                            const dist::Layout &to, const dist::MeshShape &mesh,
                                            const Machine &machine, int64_t elementBytes);

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
