#ifndef DPC_PASSES_SHARDEDUPDATES_GRADIENTSHARDS_H
#define DPC_PASSES_SHARDEDUPDATES_GRADIENTSHARDS_H

#include "dialects/Dist/IR/MicroLoop.h"
#include "passes/ShardedUpdates/ReplicatedUpdates.h"
#include "passes/ShardedUpdates/StorageArguments.h"

namespace dpc {

/// Builds a rank's shard of the gradients of one bucket. The gradients lie end to end, at the same
/// offsets as the members of the bucket's flat storage.
class GradientShards {
public:
  /// The two parts whose sum is the shard. `scattered` is the sum of the terms that ranks sum: the
  /// result of a reduce-scatter. `taken` is this rank's shard of the terms that all ranks have. A
  /// part is null if there are no such terms. The elements of a part may have more or fewer bits
  /// than those of the gradient.
  struct Parts {
    mlir::Value scattered, taken;
  };

  GradientShards(llvm::ArrayRef<ReplicatedUpdate> updates, const Bucket &bucket, StoragePlace place)
      : updates(updates), bucket(bucket), place(place) {}

  /// Returns the loop over microbatches that sums all terms of all gradients of the bucket. Null if
  /// a term is not summed by a loop, or if the terms come from several loops.
  dist::MicroOp findLoop() const;

  /// Builds the parts for one microbatch in the body of `loop`, which is `findLoop()`.
  Parts makeInBody(dist::MicroOp loop) const;

  /// Builds the parts for the complete batch from the gradients of the complete batch.
  Parts makeParts() const;

  /// Builds the shard from `parts` of the complete batch.
  mlir::Value join(Parts parts) const;

private:
  using Terms = llvm::SmallVector<mlir::Value> ReplicatedUpdate::*;
  const ReplicatedUpdate &first() const { return updates[bucket.members.front()]; }
  /// Returns the element type with the most bits among the terms `terms` of all members.
  mlir::Type findWidest(Terms terms) const;
  /// The element type in which ranks sum their gradients: the type of the gradient, or the widest
  /// type of its partial terms if that type has fewer bits.
  mlir::Type getSummedType() const;
  Parts makeParts(mlir::Block &block, llvm::function_ref<mlir::Value(mlir::Value)> valueOf) const;
  mlir::Value pack(mlir::OpBuilder &builder, mlir::Block &block, Terms terms, mlir::Type type,
                   llvm::function_ref<mlir::Value(mlir::Value)> valueOf) const;
  mlir::Value add(mlir::Value scattered, mlir::Value taken) const;
  /// Converts `value` to elements of `type`, directly after the op that computes `value`.
  mlir::Value convert(mlir::Value value, mlir::Type type) const;

  llvm::ArrayRef<ReplicatedUpdate> updates;
  const Bucket &bucket;
  StoragePlace place;
};

/// Builds shards of gradients in the bodies of the loops over microbatches that sum these
/// gradients. A loop then accumulates shards instead of complete gradients. `made[i]` becomes the
/// parts of `buckets[i]` for the complete batch, and stays empty if `buckets[i]` has no such loop.
/// Each loop is replaced by a new loop. If a term in `updates` is a result of an old loop, the term
/// becomes the same result of the new loop.
void sumInLoops(llvm::ArrayRef<GradientShards> buckets,
                llvm::MutableArrayRef<std::optional<GradientShards::Parts>> made,
                std::vector<ReplicatedUpdate> &updates);

} // namespace dpc

#endif // DPC_PASSES_SHARDEDUPDATES_GRADIENTSHARDS_H
