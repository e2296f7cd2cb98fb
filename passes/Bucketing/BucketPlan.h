// Which tensors share one collective.
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

/// Tensors join one bucket only if their keys are equal. The strings are
/// opaque: they are compared, never read.
struct BucketKey {
  std::string dtype;
  /// What the collective does with the elements ("sum", "max", "" for a
  /// gather).
  std::string reduction;
  /// The device group that takes part.
  std::string group;
  /// Mesh axes the flat storage is split over ("" when it is whole).
  std::string storageAxes;
  /// Pipeline stage that owns the tensor.
  int64_t stage = 0;
  /// Number of equal shards the flat storage is cut into: the product of the
  /// sizes of `storageAxes`, 1 when it is whole.
  int64_t shards = 1;

  friend bool operator<(const BucketKey &a, const BucketKey &b);
  friend bool operator==(const BucketKey &a, const BucketKey &b);
};

/// One tensor (the local shard of a gradient or parameter).
struct BucketTensor {
  int64_t elements = 0;
  int64_t elementBytes = 4;
  BucketKey key;
  /// A sparse gradient travels alone, in a bucket with limit 0.
  bool sparse = false;

  int64_t bytes() const { return elements * elementBytes; }
};

/// What to divide into buckets.
struct BucketProblem {
  std::vector<BucketTensor> tensors;
  /// Bytes at which a bucket closes: the first bucket of a key takes the first
  /// limit, the next the second, all later ones the last.
  llvm::SmallVector<int64_t> limits = {1 << 20, 25 << 20};
  /// Tensor indices in the order they become ready; empty: index order, and
  /// buckets are then sorted by their smallest member.
  llvm::SmallVector<int64_t> readyOrder;
  /// Bytes; a power of two. Every member and every shard starts on it.
  int64_t alignment = 64;

  /// Is the problem sound: at least one tensor and one limit, sizes that cannot
  /// overflow, `readyOrder` a permutation, one element size per key.
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

  /// Is the answer sound for `problem`: each tensor in one bucket, one key a
  /// bucket, sparse tensors alone, no bucket growing past its limit, members
  /// aligned and apart, storage that divides evenly into aligned shards.
  llvm::Error verify(const BucketProblem &problem) const;
};

/// Walks the tensors in ready order, appends each to its key's open bucket, and
/// closes the bucket when its bytes reach the limit; a tensor is never split.
/// Closed buckets come first, in closing order; those never filled follow, by
/// the position of their last member. Without a ready order all are sorted by
/// smallest member. Fails only where `problem.check()` does.
llvm::Expected<BucketPlan> assignBuckets(const BucketProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_BUCKETPLAN_H
