// Assigns tensors to buckets. The tensors of one bucket share one collective.
//
// The bucket assignment of PyTorch's DistributedDataParallel
// (`_compute_bucket_assignment_by_size`, reducer.cpp; Li et al., VLDB 2020) as
// a plain object, plus the layout of each bucket's flat storage.

#ifndef DPC_PASSES_BUCKETING_BUCKETPLAN_H
#define DPC_PASSES_BUCKETING_BUCKETPLAN_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

/// Tensors join one bucket only if their keys are equal. The strings are opaque: they are compared,
/// never parsed.
struct BucketKey {
  std::string dtype;
  /// What the collective does with the elements ("sum", "max", "" for a
  /// gather).
  std::string reduction;
  /// The device group that takes part.
  std::string group;
  /// The mesh axes over which the flat storage is sharded ("" if it is not sharded).
  std::string storageAxes;
  /// Pipeline stage that owns the tensor.
  int64_t stage = 0;
  /// The number of equal shards of the flat storage: the product of the sizes of `storageAxes`, 1
  /// if the storage is not sharded.
  int64_t shards = 1;

  friend bool operator<(const BucketKey &a, const BucketKey &b);
  friend bool operator==(const BucketKey &a, const BucketKey &b);
};

/// One tensor (the local shard of a gradient or parameter).
struct BucketTensor {
  int64_t elements = 0;
  int64_t elementBytes = 4;
  BucketKey key;
  /// A sparse gradient is communicated alone, in a bucket with limit 0.
  bool sparse = false;

  int64_t bytes() const { return elements * elementBytes; }
};

/// The tensors to divide into buckets, and the rules for the buckets.
struct BucketProblem {
  std::vector<BucketTensor> tensors;
  /// Bytes at which a bucket closes: the first bucket of a key takes the first
  /// limit, the next the second, all later ones the last.
  llvm::SmallVector<int64_t> limits = {1 << 20, 25 << 20};
  /// Tensor indices in the order in which the tensors become ready. If it is empty, tensors are
  /// ready in index order, and buckets are sorted by their smallest member.
  llvm::SmallVector<int64_t> readyOrder;
  /// In bytes, a power of two. Every member and every shard starts at a multiple of it.
  int64_t alignment = 64;

  /// Checks that the problem is sound: there is at least one tensor and one limit, no sum of sizes
  /// overflows, `readyOrder` is empty or a permutation, and tensors of one key have one element
  /// size.
  llvm::Error check() const;
};

/// Tensors that share one collective, and their place in flat storage.
struct Bucket {
  /// Tensor indices, in the order they become ready.
  llvm::SmallVector<int64_t> members;
  /// Byte offset of each member in the bucket's flat storage.
  llvm::SmallVector<int64_t> offsets;
  /// The limit under which the bucket was filled; 0 for a sparse gradient.
  int64_t limit = 0;
  /// Bytes of the members, without padding.
  int64_t payloadBytes = 0;
  /// Bytes of the flat storage: a multiple of shards * alignment.
  int64_t bytes = 0;
};

/// Buckets in the order their collectives are issued.
struct BucketPlan {
  std::vector<Bucket> buckets;

  /// Checks that the answer is sound for `problem`: each tensor is in one bucket, a bucket has one
  /// key, sparse tensors are alone, no bucket grows past its limit, members are aligned and do not
  /// overlap, and the storage divides evenly into aligned shards.
  llvm::Error verify(const BucketProblem &problem) const;
};

/// Walks the tensors in ready order, appends each to the open bucket of its key, and closes the
/// bucket when its bytes reach the limit. A tensor is never split. Closed buckets come first, in
/// the order in which they close. Buckets that never reach their limit follow, in the order of
/// their last members. Without a ready order all buckets are sorted by their smallest member. Fails
/// only if `problem.check()` does.
llvm::Expected<BucketPlan> assignBuckets(const BucketProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_BUCKETPLAN_H
