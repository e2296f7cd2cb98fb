#ifndef DPC_PASSES_BUCKETING_REPLICATEDUPDATES_H
#define DPC_PASSES_BUCKETING_REPLICATEDUPDATES_H

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/Program.h"
#include "passes/Bucketing/BucketPlan.h"
#include "passes/Bucketing/GradientNorms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// An `nn.update` that all ranks of a group make alike, of a gradient that all of
/// them have, or that they sum.
struct ReplicatedUpdate {
  mlir::Operation *update;
  /// The update that goes on from a result of `update` which nothing else but a norm
  /// reads, with numbers made of norms of whole tensors (LAMB); null if there is none.
  mlir::Operation *follower = nullptr;
  /// The gradient is the sum of these, in its shape and type: what ranks sum, as each of
  /// them has it, and what all of them have.
  llvm::SmallVector<mlir::Value> partial, whole;
  llvm::StringRef mesh;
  /// The axes of the ranks among which the update is divided; and those over which each
  /// part of the sum is summed once more (hybrid sharding).
  mlir::ArrayAttr axes, restAxes;

  /// State that goes into the function and comes out of it.
  struct State {
    /// Index of the function's argument, and of its result.
    unsigned argument, output;
    nn::ArgAttr binding;
    /// Where its new value is made: a result of the follower, or of the update.
    bool isFollowers;
    unsigned result;
  };
  llvm::SmallVector<State> states;
  /// What a tensor is that an update reads: the gradient; one of `states`; or a result of
  /// the update, which the follower reads.
  struct Source {
    enum Kind { gradient, state, made } kind;
    unsigned index = 0;
    bool operator==(const Source &other) const {
      return kind == other.kind && index == other.index;
    }
  };
  /// Of the tensors of the update, and of its follower.
  llvm::SmallVector<Source> sources, followerSources;
  /// The norms that the follower's numbers are made of, and of which tensor each is.
  struct Norm {
    SquareSum sum;
    Source source;
  };
  llvm::SmallVector<Norm> norms;
  /// What else reads the summed gradient: the norm by which it is clipped.
  SquareSum squares;
  /// The type to which all that read the parameter convert it first; null if something
  /// reads it as it is, or nothing does.
  mlir::Type readAs;

  nn::UpdateOp getUpdate() const { return mlir::cast<nn::UpdateOp>(update); }
  nn::UpdateOp getFollower() const { return mlir::cast_or_null<nn::UpdateOp>(follower); }
  /// The gradient as the update reads it.
  mlir::Value getGradient() const;
  /// Whether one update could make both on tensors laid end to end.
  bool isLike(const ReplicatedUpdate &other) const;
};

/// The updates of `step` that could be divided among the ranks along `axes`, or, where
/// that is empty, among those that sum their gradient. Looks at all functions of its
/// module: optimizer state that another one reads is not divided.
std::vector<ReplicatedUpdate> findReplicatedUpdates(mlir::func::FuncOp step,
                                                    llvm::ArrayRef<std::string> axes);

/// The last op of a block that makes one of `values`; null if all are its arguments.
mlir::Operation *lastProducer(llvm::ArrayRef<mlir::Value> values);

/// The buckets problem of `updates`: shards are the members of their groups.
BucketProblem makeUpdateProblem(llvm::ArrayRef<ReplicatedUpdate> updates,
                                const dist::MeshShape &mesh, llvm::ArrayRef<int64_t> limits);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_REPLICATEDUPDATES_H
