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

/// A plan, and the index of the layout from which it starts.
struct NearestPlan {
  size_t source = 0;
  ReshardPlan plan;
};

/// The cheapest verified plan to `to` for a value that the device has in each layout of `sources`.
/// The first source is the layout in which the value was made. Of equally cheap plans, the one from
/// the first source wins. Fails if there is no plan from the first source.
llvm::Expected<NearestPlan> planFromNearest(llvm::ArrayRef<dist::Layout> sources,
                                            const dist::Layout &to, const dist::MeshShape &mesh,
                                            const Machine &machine, int64_t elementBytes);

/// Builds the shard under `to` of a tensor that the device has in several layouts, `sources`; the
/// first one is the layout in which the tensor was made. The plan starts at the source from which
/// it is cheapest, and each of its steps is emitted (ReshardPlan.h). No source may use a sequential
/// axis that `to` does not use, or the other way round. Collectives are over the mesh named `mesh`,
/// which is the mesh of `context`. Fails with an error on `op` if there is no sound plan.
mlir::FailureOr<mlir::Value> lowerReshard(PartitionContext &context, mlir::Operation *op,
                                          mlir::FlatSymbolRefAttr mesh, const Machine &machine,
                                          llvm::ArrayRef<LocalTensor> sources,
                                          const dist::Layout &to);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LOWERRESHARD_H
