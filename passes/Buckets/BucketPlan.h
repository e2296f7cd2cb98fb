// Assigns tensors to buckets. The tensors of one bucket share one collective.
//
// The rules are those of PyTorch's DistributedDataParallel (`_compute_bucket_assignment_by_size`,
// reducer.cpp; Li et al., VLDB 2020), as plain C++ without IR. In addition, the plan says where
// each tensor lies in the flat storage of its bucket.

#ifndef DPC_PASSES_BUCKETS_BUCKETPLAN_H
#define DPC_PASSES_BUCKETS_BUCKETPLAN_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

/// Two tensors may share a bucket only if their keys are equal. The strings are opaque: the planner
/// compares them and never parses them.
struct BucketKey {
  std::string dtype;
  /// How the collective combines the elements of the ranks, e.g. "sum" or "max"; "" for a gather.
  std::string reduction;
  /// The group of devices that takes part in the collective.
  std::string group;
  /// The mesh axes over which the flat storage is sharded; "" if it is not sharded.
  std::string storageAxes;
  /// The pipeline stage that has the tensor. Always 0 today.
  int64_t stage = 0;
  /// The number of equal shards of the flat storage: the product of the sizes of `storageAxes`, or
  /// 1 if the storage is not sharded.
  int64_t shards = 1;

  friend bool operator<(const BucketKey &a, const BucketKey &b);
  friend bool operator==(const BucketKey &a, const BucketKey &b);
};

/// One tensor of a rank, e.g. the local shard of a gradient or of a parameter.
struct BucketTensor {
  int64_t elements = 0;
  int64_t elementBytes = 4;
  BucketKey key;
  /// Whether the tensor is a sparse gradient. A sparse gradient is the only member of
  /// its bucket, and this bucket has limit 0.
  bool sparse = false;

  int64_t bytes() const { return elements * elementBytes; }
};

/// The tensors to divide into buckets, and the rules for the buckets.
struct BucketProblem {
  std::vector<BucketTensor> tensors;
  /// The sizes in bytes at which buckets close. The first bucket of a key closes at the first
  /// limit, the second at the second limit, and so on. All further buckets close at the last limit.
  llvm::SmallVector<int64_t> limits = {1 << 20, 25 << 20};
  /// Tensor indices in the order in which the tensors become ready. If the list is empty, tensors
  /// are ready in index order, and buckets are sorted by their smallest member.
  llvm::SmallVector<int64_t> readyOrder;
  /// In bytes, a power of two. Every member and every shard starts at a multiple of `alignment`.
  int64_t alignment = 64;

  /// Checks that the problem is sound: there is at least one tensor and one limit, all sizes and
  /// counts are valid, no sum of sizes overflows, `readyOrder` is empty or a permutation, and
  /// tensors of one key have one element size.
  llvm::Error check() const;
};

/// Tensors that share one collective, with their offsets in the flat storage of the bucket.
struct Bucket {
  /// Tensor indices, in the order in which the tensors become ready.
  llvm::SmallVector<int64_t> members;
  /// Byte offset of each member in the bucket's flat storage.
  llvm::SmallVector<int64_t> offsets;
  /// The limit at which the bucket closes; 0 for a sparse gradient.
  int64_t limit = 0;
  /// Bytes of the members, without padding.
  int64_t payloadBytes = 0;
  /// Bytes of the flat storage: a multiple of shards * alignment.
  int64_t bytes = 0;
};

/// Buckets, in the order that assignBuckets() describes.
struct BucketPlan {
  std::vector<Bucket> buckets;

  /// Checks that the answer is sound for `problem`: each tensor is in one bucket, all tensors of a
  /// bucket have one key, and sparse tensors are alone. No tensor joins a bucket that has reached
  /// its limit. Members are aligned and do not overlap, and the storage divides evenly into aligned
  /// shards.
  llvm::Error verify(const BucketProblem &problem) const;
};

/// Walks the tensors in ready order and appends each tensor to the open bucket of its key. A bucket
/// closes when its bytes reach its limit. A sparse tensor gets a bucket of its own, which closes at
/// once. A tensor is never split. Closed buckets come first, in the order in which they close.
/// Buckets that never reach their limit follow, in the order of their last members. Without a ready
/// order, all buckets are sorted by their smallest member. Fails only if `problem.check()` fails.
llvm::Expected<BucketPlan> assignBuckets(const BucketProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_BUCKETS_BUCKETPLAN_H
