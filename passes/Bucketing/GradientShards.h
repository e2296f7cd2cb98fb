#ifndef DPC_PASSES_BUCKETING_GRADIENTSHARDS_H
#define DPC_PASSES_BUCKETING_GRADIENTSHARDS_H

#include "dialects/Dist/IR/MicroLoop.h"
#include "passes/Bucketing/ReplicatedUpdates.h"
#include "passes/Bucketing/StorageArguments.h"

namespace dpc {

/// A rank's shard of the gradients of one bucket. The gradients are laid end to end, at the same
/// offsets as the members of the bucket's flat storage.
class GradientShards {
public:
  /// The two parts whose sum is the shard. `scattered` is the part of the terms that ranks sum: the
  /// result of a reduce-scatter. `taken` is the part of the terms that all ranks have. A part is
  /// null if there are no such terms. It may have more or fewer bits per element than the gradient.
  struct Parts {
    mlir::Value scattered, taken;
  };

  GradientShards(llvm::ArrayRef<ReplicatedUpdate> updates, const Bucket &bucket, StoragePlace place)
      : updates(updates), bucket(bucket), place(place) {}

  /// The loop over microbatches that sums all terms of all gradients of the bucket; null if some
  /// term is not such a sum, or if the terms come from several loops.
  dist::MicroOp findLoop() const;

  /// The parts for one microbatch, made in the body of `loop`, which is `findLoop()`.
  Parts makeInBody(dist::MicroOp loop) const;

  /// The parts for the complete batch, made from the gradients of the complete batch.
  Parts makeParts() const;

  /// The shard, joined from `parts` of the complete batch.
  mlir::Value join(Parts parts) const;

private:
  using Terms = llvm::SmallVector<mlir::Value> ReplicatedUpdate::*;
  const ReplicatedUpdate &first() const { return updates[bucket.members.front()]; }
  /// The element type with the most bits among these terms of all members.
  mlir::Type findWidest(Terms terms) const;
  /// The element type in which ranks sum: the type of the gradient, or the widest type of its
  /// partial terms if that has fewer bits.
  mlir::Type getSummedType() const;
  Parts makeParts(mlir::Block &block, llvm::function_ref<mlir::Value(mlir::Value)> valueOf) const;
  mlir::Value pack(mlir::OpBuilder &builder, mlir::Block &block, Terms terms, mlir::Type type,
                   llvm::function_ref<mlir::Value(mlir::Value)> valueOf) const;
  mlir::Value add(mlir::Value scattered, mlir::Value taken) const;
  /// Converts `value` to elements of `type`, directly after the op that computes it.
  mlir::Value convert(mlir::Value value, mlir::Type type) const;

  llvm::ArrayRef<ReplicatedUpdate> updates;
  const Bucket &bucket;
  StoragePlace place;
};

/// Makes shards of gradients in the loops over microbatches that sum these gradients, so that a
/// loop accumulates shards. `made[i]` becomes the parts of `buckets[i]` for the complete batch; it
/// stays empty if `buckets[i]` has no such loop. Each loop is replaced by a new one. Terms of
/// `updates` that are results of the old loop become the same results of the new loop.
void sumInLoops(llvm::ArrayRef<GradientShards> buckets,
                llvm::MutableArrayRef<std::optional<GradientShards::Parts>> made,
                std::vector<ReplicatedUpdate> &updates);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_GRADIENTSHARDS_H
