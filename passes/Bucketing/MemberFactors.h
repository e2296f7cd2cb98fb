#ifndef DPC_PASSES_BUCKETING_MEMBERFACTORS_H
#define DPC_PASSES_BUCKETING_MEMBERFACTORS_H

#include "dialects/Dist/IR/MeshShape.h"
#include "passes/Bucketing/StorageArguments.h"

namespace dpc {

/// Computes a number for each member of flat storage from shards of the storage, and spreads such
/// numbers over the elements of a shard. An example is the trust ratio of LAMB.
class MemberFactors {
public:
  /// Member i has `sizes[i]` elements, from the i-th offset of `place` on.
  MemberFactors(mlir::OpBuilder &builder, const StoragePlace &place, llvm::ArrayRef<int64_t> sizes,
                const dist::MeshShape &mesh);

  /// The sum of the squares of each member, as one rank-0 tensor per member, the same on all ranks.
  /// `shard` is this rank's shard of the storage.
  llvm::SmallVector<mlir::Value> sumSquares(mlir::Value shard) const;

  /// A shard in which each element has the number of the member to which it belongs.
  mlir::Value spread(llvm::ArrayRef<mlir::Value> numbers) const;

private:
  mlir::RankedTensorType vectorOf(mlir::Type element) const;

  mlir::OpBuilder &builder;
  const StoragePlace &place;
  /// Where each member begins and ends, in elements from the begin of this rank's shard. Most
  /// members lie outside of the shard: these values are negative, or larger than the shard.
  mlir::Value begins, ends;
  llvm::SmallVector<int64_t> numbers; // 0, 1, .. one per member
};

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_MEMBERFACTORS_H
