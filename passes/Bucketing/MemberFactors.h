#ifndef DPC_PASSES_BUCKETING_MEMBERFACTORS_H
#define DPC_PASSES_BUCKETING_MEMBERFACTORS_H

#include "dialects/Dist/IR/MeshShape.h"
#include "passes/Bucketing/StorageArguments.h"

namespace dpc {

/// Numbers that each member of flat storage has of its own, computed from shards of it and
/// used on them.
class MemberFactors {
public:
  /// Members have `sizes` elements, from the offsets of `place` on.
  MemberFactors(mlir::OpBuilder &builder, const StoragePlace &place, llvm::ArrayRef<int64_t> sizes,
                const dist::MeshShape &mesh);

  /// The sum of the squares of each member, of which `shard` is this rank's part: a rank-0
  /// tensor each.
  llvm::SmallVector<mlir::Value> sumSquares(mlir::Value shard) const;

  /// A shard whose elements are the number of the member that they lie in.
  mlir::Value spread(llvm::ArrayRef<mlir::Value> numbers) const;

private:
  mlir::RankedTensorType vectorOf(mlir::Type element) const;

  mlir::OpBuilder &builder;
  const StoragePlace &place;
  /// Of each member, in elements of the rank's shard; those of most members lie outside.
  mlir::Value begins, ends;
  llvm::SmallVector<int64_t> numbers; // of the members
};

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_MEMBERFACTORS_H
