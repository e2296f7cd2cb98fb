#ifndef DPC_PASSES_SHARDING_PARTITION_LOWERRESHARD_H
#define DPC_PASSES_SHARDING_PARTITION_LOWERRESHARD_H

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/Partition/Partition.h"
#include "passes/Sharding/Reshards/ReshardPlan.h"
#include "planning/Prices.h"

namespace dpc {

/// A tensor as one device has it.
struct LocalTensor {
  mlir::Value value;
  dist::Layout layout;
};

/// A plan, and the index of the layout from which it starts.
struct NearestPlan {
  size_t source = 0;
  ReshardPlan plan;
};

/// Returns the cheapest verified plan that reshards a value to layout `to`. The device has the
/// value in each layout of `sources`, and the plan may start from any of them. The first source is
/// the layout in which the value was made. Of equally cheap plans, the one from the earliest source
/// in the list wins. Fails if there is no plan from the first source.
llvm::Expected<NearestPlan> planFromNearest(llvm::ArrayRef<dist::Layout> sources,
                                            const dist::Layout &to, const dist::MeshShape &mesh,
                                            const MeshPrices &meshPrices, int64_t elementBytes);

/// Builds the shard of a tensor under layout `to`. The device has the tensor in several layouts,
/// `sources`; the first one is the layout in which the tensor was made. Emits the steps of the plan
/// that planFromNearest returns. The sources and `to` must use the same sequential axes.
/// Collectives are over the mesh named `mesh`, which is the mesh of `context`. Fails with an error
/// on `op` if there is no sound plan.
mlir::FailureOr<mlir::Value> lowerReshard(PartitionContext &context, mlir::Operation *op,
                                          mlir::FlatSymbolRefAttr mesh,
                                          const MeshPrices &meshPrices,
                                          llvm::ArrayRef<LocalTensor> sources,
                                          const dist::Layout &to);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_PARTITION_LOWERRESHARD_H
