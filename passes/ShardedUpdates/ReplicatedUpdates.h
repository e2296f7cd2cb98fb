#ifndef DPC_PASSES_SHARDEDUPDATES_REPLICATEDUPDATES_H
#define DPC_PASSES_SHARDEDUPDATES_REPLICATEDUPDATES_H

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/Program.h"
#include "passes/Buckets/BucketPlan.h"
#include "passes/ShardedUpdates/GradientNorms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// An `nn.update` that all ranks of a group compute alike, because all of them have the same
/// gradient or sum their gradients.
struct ReplicatedUpdate {
  mlir::Operation *update;
  /// A second update that reads results of `update` (in LAMB); null if there is none. Only this
  /// follower and norms read these results. The scalars of the follower are computed from norms of
  /// complete tensors.
  mlir::Operation *follower = nullptr;
  /// The gradient is the sum of all these terms. A term may have another shape or type than the
  /// gradient. Each rank has its own value of a `partial` term, and the ranks sum these values. All
  /// ranks have the same value of a `whole` term.
  llvm::SmallVector<mlir::Value> partial, whole;
  llvm::StringRef mesh;
  /// `axes` are the mesh axes of the ranks among which the update is divided. If the gradient is
  /// also summed over further axes, `restAxes` are those: each rank must sum its shard over them in
  /// addition (hybrid sharding).
  mlir::ArrayAttr axes, restAxes;

  /// A state that the function takes as an argument and whose new value it returns.
  struct State {
    /// The index of the function's argument with the old value, and of the result with the new
    /// value.
    unsigned argument, output;
    nn::ArgAttr binding;
    /// Whether the follower, and not the update, computes the new value; `result` is the index of
    /// the new value among the results of that op.
    bool isFollowers;
    unsigned result;
  };
  llvm::SmallVector<State> states;
  /// The origin of a tensor that an update reads. The tensor is the gradient, state number `index`,
  /// or result number `index` of the update (`made`). Only followers read results of an
  /// update.
  struct Source {
    enum Kind { gradient, state, made } kind;
    unsigned index = 0;
    bool operator==(const Source &other) const {
      return kind == other.kind && index == other.index;
    }
  };
  /// The origins of the tensors that the update reads, and of those that its follower reads.
  llvm::SmallVector<Source> sources, followerSources;
  /// A norm from which scalars of the follower are computed. `source` is the origin of the tensor
  /// whose norm it is.
  struct Norm {
    SquareSum sum;
    Source source;
  };
  llvm::SmallVector<Norm> norms;
  /// The only other reader of the summed gradient: a term of the norm by which gradients are
  /// clipped. It is null if only the update reads the gradient.
  SquareSum squares;
  /// The narrower type to which all readers convert the parameter. The update, its follower and its
  /// norms do not count as readers. Null if there is no such type, e.g. because a reader reads the
  /// parameter without a conversion.
  mlir::Type readAs;

  nn::UpdateOp getUpdate() const { return mlir::cast<nn::UpdateOp>(update); }
  nn::UpdateOp getFollower() const { return mlir::cast_or_null<nn::UpdateOp>(follower); }
  /// The gradient, as the update reads it.
  mlir::Value getGradient() const;
  /// Whether one update on tensors that lie end to end could compute both this update and `other`.
  bool isLike(const ReplicatedUpdate &other) const;
};

/// Returns the updates of `step` that can be divided among the ranks along `axes`. If `axes` is
/// empty, each update is divided among the ranks that sum its gradient. An update is left out if
/// another function of the module reads its optimizer state.
std::vector<ReplicatedUpdate> findReplicatedUpdates(mlir::func::FuncOp step,
                                                    llvm::ArrayRef<std::string> axes);

/// The last op of the block that computes one of `values`; null if all of them are block arguments.
mlir::Operation *lastProducer(llvm::ArrayRef<mlir::Value> values);

/// Builds the bucket problem of `updates`. The number of shards of a tensor is the number of ranks
/// that share its update.
BucketProblem makeUpdateProblem(llvm::ArrayRef<ReplicatedUpdate> updates,
                                const dist::MeshShape &mesh, llvm::ArrayRef<int64_t> limits);

} // namespace dpc

#endif // DPC_PASSES_SHARDEDUPDATES_REPLICATEDUPDATES_H
