#ifndef DPC_PASSES_BUCKETING_GRADIENTSHARDS_H
#define DPC_PASSES_BUCKETING_GRADIENTSHARDS_H

#include "dialects/Dist/IR/MicroLoop.h"
#include "passes/Bucketing/ReplicatedUpdates.h"
#include "passes/Bucketing/StorageArguments.h"

namespace dpc {

/// A rank's shard of the gradients of one bucket, laid end to end as its storage is.
class GradientShards {
public:
  /// Parts of the shard: of what ranks sum, and of what all of them have; null if there
  /// is none. They may have more bits, or fewer, than the gradient.
  struct Parts {
    mlir::Value scattered, taken;
  };

  GradientShards(llvm::ArrayRef<ReplicatedUpdate> updates, const Bucket &bucket, StoragePlace place)
      : updates(updates), bucket(bucket), place(place) {}

  /// The loop over microbatches that sums all terms of all gradients; null where there is
  /// none, or one term is no such sum.
  dist::MicroOp findLoop() const;

  /// The parts of one microbatch, made in the body of `loop`, which is `findLoop()`.
  Parts makeInBody(dist::MicroOp loop) const;

  /// The parts, made of gradients of the whole batch.
  Parts makeParts() const;

  /// The shard, of `parts` of the whole batch.
  mlir::Value join(Parts parts) const;

private:
  using Terms = llvm::SmallVector<mlir::Value> ReplicatedUpdate::*;
  const ReplicatedUpdate &first() const { return updates[bucket.members.front()]; }
  /// Of the terms of all members, the type of the most bits.
  mlir::Type findWidest(Terms terms) const;
  /// The type in which ranks sum: that of the gradient, or of its terms if they have fewer
  /// bits.
  mlir::Type getSummedType() const;
  Parts makeParts(mlir::Block &block, llvm::function_ref<mlir::Value(mlir::Value)> valueOf) const;
  mlir::Value pack(mlir::OpBuilder &builder, mlir::Block &block, Terms terms, mlir::Type type,
                   llvm::function_ref<mlir::Value(mlir::Value)> valueOf) const;
  mlir::Value add(mlir::Value scattered, mlir::Value taken) const;
  /// `value` as soon as it is there, of elements of `type`.
  mlir::Value convert(mlir::Value value, mlir::Type type) const;

  llvm::ArrayRef<ReplicatedUpdate> updates;
  const Bucket &bucket;
  StoragePlace place;
};

/// Where `loops` has several results, sums parts of gradients in the loop that makes them:
/// `made[i]` becomes the parts of `buckets[i]` of the whole batch. So what accumulates over
/// microbatches is a shard. Terms of `updates` that are results of such a loop are those of
/// the loop that takes its place.
void sumInLoops(llvm::ArrayRef<GradientShards> buckets,
                llvm::MutableArrayRef<std::optional<GradientShards::Parts>> made,
                std::vector<ReplicatedUpdate> &updates);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_GRADIENTSHARDS_H
