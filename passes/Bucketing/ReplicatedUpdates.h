#ifndef DPC_PASSES_BUCKETING_REPLICATEDUPDATES_H
#define DPC_PASSES_BUCKETING_REPLICATEDUPDATES_H

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/Program.h"
#include "passes/Bucketing/BucketPlan.h"
#include "passes/Bucketing/GradientNorms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// An `nn.update` that all ranks of a group compute alike, from a gradient that all of them have,
/// or that they sum.
struct ReplicatedUpdate {
  mlir::Operation *update;
  /// A second update that reads results of `update` (in LAMB); null if there is none. Apart from
  /// norms no other op reads these results. The scalars of the second update are computed from
  /// norms of complete tensors.
  mlir::Operation *follower = nullptr;
  /// The gradient is the sum of these terms, in its shape and type. `partial` are the terms that
  /// the ranks sum, as each rank has them before that sum. `whole` are the terms that all ranks
  /// have.
  llvm::SmallVector<mlir::Value> partial, whole;
  llvm::StringRef mesh;
  /// `axes` are the axes of the ranks among which the update is divided. `restAxes` are the axes
  /// over which each shard of the sum must be summed in addition (hybrid sharding).
  mlir::ArrayAttr axes, restAxes;

  /// A state that the function takes as an argument and whose new value it returns.
  struct State {
    /// The index of the function's argument, and of its result.
    unsigned argument, output;
    nn::ArgAttr binding;
    /// The op that computes the new value, the follower or the update, and the number of that op's
    /// result.
    bool isFollowers;
    unsigned result;
  };
  llvm::SmallVector<State> states;
  /// The origin of a tensor that an update reads: the gradient; state number `index`; or result
  /// number `index` of the update, which only the follower reads.
  struct Source {
    enum Kind { gradient, state, made } kind;
    unsigned index = 0;
    bool operator==(const Source &other) const {
      return kind == other.kind && index == other.index;
    }
  };
  /// The origin of each tensor that the update reads, and of each tensor that its follower reads.
  llvm::SmallVector<Source> sources, followerSources;
  /// The norms from which the scalars of the follower are computed, each with the origin of its
  /// tensor.
  struct Norm {
    SquareSum sum;
    Source source;
  };
  llvm::SmallVector<Norm> norms;
  /// The only other reader of the summed gradient: a term of the norm by which gradients are
  /// clipped.
  SquareSum squares;
  /// The type to which all readers of the parameter convert it first; null if a reader reads it as
  /// it is, or if it has no readers.
  mlir::Type readAs;

  nn::UpdateOp getUpdate() const { return mlir::cast<nn::UpdateOp>(update); }
  nn::UpdateOp getFollower() const { return mlir::cast_or_null<nn::UpdateOp>(follower); }
  /// The gradient as the update reads it.
  mlir::Value getGradient() const;
  /// Whether one update could compute both updates, on tensors that are laid end to end.
  bool isLike(const ReplicatedUpdate &other) const;
};

/// The updates of `step` that could be divided among the ranks along `axes`. If `axes` is empty,
/// each is divided among the ranks that sum its gradient. Optimizer state that another function of
/// the module reads is not divided.
std::vector<ReplicatedUpdate> findReplicatedUpdates(mlir::func::FuncOp step,
                                                    llvm::ArrayRef<std::string> axes);

/// The last op of a block that computes one of `values`; null if all of them are block arguments.
mlir::Operation *lastProducer(llvm::ArrayRef<mlir::Value> values);

/// The bucket problem of `updates`. The number of shards of a tensor is the size of the group of
/// ranks that share its update.
BucketProblem makeUpdateProblem(llvm::ArrayRef<ReplicatedUpdate> updates,
                                const dist::MeshShape &mesh, llvm::ArrayRef<int64_t> limits);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_REPLICATEDUPDATES_H
