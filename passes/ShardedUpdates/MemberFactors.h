#ifndef DPC_PASSES_SHARDEDUPDATES_MEMBERFACTORS_H
#define DPC_PASSES_SHARDEDUPDATES_MEMBERFACTORS_H

#include "dialects/Dist/IR/MeshShape.h"
#include "passes/ShardedUpdates/StorageArguments.h"

namespace dpc {

/// Converts between shards of flat storage and values per member. It reduces the elements of each
/// member to one value, e.g. to compute the trust ratio of LAMB. It also fills the elements of each
/// member with one value, e.g. to multiply them by the trust ratio.
class MemberFactors {
public:
  /// Member i has `sizes[i]` elements, which begin at the i-th offset of `place`.
  MemberFactors(mlir::OpBuilder &builder, const StoragePlace &place, llvm::ArrayRef<int64_t> sizes,
                const dist::MeshShape &mesh);

  /// Builds the sum of the squares of each member, as one rank-0 tensor per member. All ranks get
  /// the same sums. `shard` is this rank's shard of the storage.
  llvm::SmallVector<mlir::Value> sumSquares(mlir::Value shard) const;

  /// Builds a shard from one value per member: each element of member i becomes `numbers[i]`.
  mlir::Value spread(llvm::ArrayRef<mlir::Value> numbers) const;

private:
  mlir::RankedTensorType vectorOf(mlir::Type element) const;

  mlir::OpBuilder &builder;
  const StoragePlace &place;
  /// The begin and the end of each member, in elements. Both are counted from the first element of
  /// this rank's shard. A member may begin or end outside of the shard, so these values may be
  /// negative or larger than the shard.
  mlir::Value begins, ends;
  llvm::SmallVector<int64_t> numbers; // 0, 1, .., one per member
};

} // namespace dpc

#endif // DPC_PASSES_SHARDEDUPDATES_MEMBERFACTORS_H
