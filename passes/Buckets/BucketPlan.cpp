// Chooses the tensors that share one collective.
//
// Fills buckets greedily, in the order in which the tensors become ready. The first bucket of each
// key (BucketKey) closes at the first limit, the second bucket at the second limit, and so on, as
// in PyTorch's reducer.cpp (Li et al., "PyTorch Distributed", VLDB 2020).

#include "passes/Buckets/BucketPlan.h"
#include "planning/PlanError.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

using namespace dpc;
using llvm::Error;

namespace {

auto tied(const BucketKey &key) {
  return std::tie(key.dtype, key.reduction, key.group, key.storageAxes, key.stage, key.shards);
}

/// The order in which assignBuckets() visits the tensors: the ready order, or index order if there
/// is none.
llvm::SmallVector<int64_t> walkOrder(const BucketProblem &problem) {
  if (!problem.readyOrder.empty())
    return problem.readyOrder;
  llvm::SmallVector<int64_t> order(problem.tensors.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Lays the members end to end at aligned offsets, and pads the end so that every shard is aligned.
void layOut(const BucketProblem &problem, Bucket &bucket) {
  int64_t cursor = 0;
  for (int64_t member : bucket.members) {
    int64_t bytes = problem.tensors[member].bytes();
    cursor = llvm::alignTo(cursor, problem.alignment);
    bucket.offsets.push_back(cursor);
    bucket.payloadBytes += bytes;
    cursor += bytes;
  }
  int64_t shards = problem.tensors[bucket.members.front()].key.shards;
  bucket.bytes = llvm::alignTo(cursor, shards * problem.alignment);
}

Error checkTensor(const BucketProblem &problem, size_t index) {
  const BucketTensor &tensor = problem.tensors[index];
  int64_t bytes;
  if (tensor.elements < 0)
    return planError("tensor {0} has {1} elements", index, tensor.elements);
  if (tensor.elementBytes <= 0 || problem.alignment % tensor.elementBytes)
    return planError("tensor {0} has elements of {1} bytes, which do not "
                     "divide the alignment of {2} bytes",
                     index, tensor.elementBytes, problem.alignment);
  if (llvm::MulOverflow(tensor.elements, tensor.elementBytes, bytes))
    return planError("tensor {0} has {1} elements of {2} bytes, more than 63 "
                     "bits of bytes",
                     index, tensor.elements, tensor.elementBytes);
  if (tensor.key.shards < 1)
    return planError("tensor {0} is cut into {1} shares", index, tensor.key.shards);
  return Error::success();
}

/// Checks that an upper bound of the bytes of all storage together fits into 63 bits. Then no later
/// sum of sizes can overflow.
Error checkTotal(const BucketProblem &problem) {
  int64_t total = 0;
  for (const BucketTensor &tensor : problem.tensors) {
    int64_t padding;
    if (llvm::MulOverflow(tensor.key.shards, problem.alignment, padding) ||
        llvm::AddOverflow(padding, problem.alignment, padding) ||
        llvm::AddOverflow(total, tensor.bytes(), total) || llvm::AddOverflow(total, padding, total))
      return planError("{0} tensors with padding need more than 63 bits of "
                       "bytes",
                       problem.tensors.size());
  }
  return Error::success();
}

Error checkReadyOrder(const BucketProblem &problem) {
  if (problem.readyOrder.empty())
    return Error::success();
  int64_t count = problem.tensors.size();
  if (static_cast<int64_t>(problem.readyOrder.size()) != count)
    return planError("ready order names {0} tensors of {1}", problem.readyOrder.size(), count);
  std::vector<bool> seen(count);
  for (int64_t index : problem.readyOrder) {
    if (index < 0 || index >= count)
      return planError("ready order names tensor {0} of {1}", index, count);
    if (seen[index])
      return planError("ready order names tensor {0} twice", index);
    seen[index] = true;
  }
  return Error::success();
}

/// Checks that the members exist, have one key and are in ready order, and that a sparse member is
/// alone. A bucket of several members must have been below its limit before the last member joined.
/// Also checks that the limit of the bucket is one of the problem's limits.
Error verifyMembers(const BucketProblem &problem, size_t number, const Bucket &bucket,
                    const std::vector<int64_t> &readyPosition) {
  if (bucket.members.empty())
    return planError("bucket {0} is empty", number);
  int64_t filled = 0;
  int64_t previous = -1;
  const BucketKey *key = nullptr;
  for (auto [place, member] : llvm::enumerate(bucket.members)) {
    if (member < 0 || member >= static_cast<int64_t>(problem.tensors.size()))
      return planError("bucket {0} holds tensor {1} of {2}", number, member,
                       problem.tensors.size());
    const BucketTensor &tensor = problem.tensors[member];
    if (key && !(*key == tensor.key))
      return planError("bucket {0} mixes the keys of tensors {1} and {2}", number,
                       bucket.members.front(), member);
    key = &tensor.key;
    if (tensor.sparse && (bucket.members.size() != 1 || bucket.limit != 0))
      return planError("bucket {0} with limit {1} holds sparse tensor {2} and "
                       "{3} others",
                       number, bucket.limit, member, bucket.members.size() - 1);
    if (readyPosition[member] <= previous)
      return planError("bucket {0} holds tensor {1} after one that is ready "
                       "later",
                       number, member);
    previous = readyPosition[member];
    if (place && filled >= bucket.limit)
      return planError("bucket {0} takes tensor {1} at {2} bytes, past its "
                       "limit of {3}",
                       number, member, filled, bucket.limit);
    filled += tensor.bytes();
  }
  bool sparse = problem.tensors[bucket.members.front()].sparse;
  if (!sparse && !llvm::is_contained(problem.limits, bucket.limit))
    return planError("bucket {0} has limit {1}, which is not in the list", number, bucket.limit);
  if (filled != bucket.payloadBytes)
    return planError("bucket {0} records {1} bytes, its members have {2}", number,
                     bucket.payloadBytes, filled);
  return Error::success();
}

/// Checks that the members are aligned, do not overlap and lie inside of the storage, and that the
/// shards of the storage are equal and aligned.
Error verifyStorage(const BucketProblem &problem, size_t number, const Bucket &bucket) {
  if (bucket.offsets.size() != bucket.members.size())
    return planError("bucket {0} has {1} offsets for {2} members", number, bucket.offsets.size(),
                     bucket.members.size());
  int64_t end = 0;
  for (auto [member, offset] : llvm::zip(bucket.members, bucket.offsets)) {
    if (offset % problem.alignment)
      return planError("tensor {0} lies at byte {1} of bucket {2}, not a "
                       "multiple of {3}",
                       member, offset, number, problem.alignment);
    if (offset < end)
      return planError("tensor {0} lies at byte {1} of bucket {2}, inside the "
                       "member that ends at {3}",
                       member, offset, number, end);
    end = offset + problem.tensors[member].bytes();
    if (end > bucket.bytes)
      return planError("tensor {0} ends at byte {1} of bucket {2}, which has "
                       "{3}",
                       member, end, number, bucket.bytes);
  }
  int64_t shards = problem.tensors[bucket.members.front()].key.shards;
  if (bucket.bytes % (shards * problem.alignment))
    return planError("bucket {0} of {1} bytes does not divide into {2} shares "
                     "aligned to {3}",
                     number, bucket.bytes, shards, problem.alignment);
  return Error::success();
}

} // namespace

namespace dpc {
bool operator<(const BucketKey &a, const BucketKey &b) { return tied(a) < tied(b); }
bool operator==(const BucketKey &a, const BucketKey &b) { return tied(a) == tied(b); }
} // namespace dpc

Error BucketProblem::check() const {
  if (tensors.empty())
    return planError("there are no tensors to bucket");
  if (limits.empty())
    return planError("there are no bucket limits");
  for (int64_t limit : limits)
    if (limit < 0)
      return planError("bucket limit {0} is negative", limit);
  if (alignment <= 0 || !llvm::isPowerOf2_64(alignment))
    return planError("bucket alignment {0} is not a power of two", alignment);
  std::map<BucketKey, size_t> firstOfKey;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (Error error = checkTensor(*this, i))
      return error;
    size_t first = firstOfKey.try_emplace(tensors[i].key, i).first->second;
    if (tensors[first].elementBytes != tensors[i].elementBytes)
      return planError("tensors {0} and {1} share a key but have elements of "
                       "{2} and {3} bytes",
                       first, i, tensors[first].elementBytes, tensors[i].elementBytes);
  }
  if (Error error = checkTotal(*this))
    return error;
  return checkReadyOrder(*this);
}

Error BucketPlan::verify(const BucketProblem &problem) const {
  std::vector<int64_t> readyPosition(problem.tensors.size());
  for (auto [position, index] : llvm::enumerate(walkOrder(problem)))
    readyPosition[index] = position;
  std::vector<int64_t> owner(problem.tensors.size(), -1);
  for (auto [number, bucket] : llvm::enumerate(buckets)) {
    if (Error error = verifyMembers(problem, number, bucket, readyPosition))
      return error;
    if (Error error = verifyStorage(problem, number, bucket))
      return error;
    for (int64_t member : bucket.members) {
      if (owner[member] >= 0)
        return planError("tensor {0} is in buckets {1} and {2}", member, owner[member], number);
      owner[member] = number;
    }
  }
  for (size_t i = 0; i < owner.size(); ++i)
    if (owner[i] < 0)
      return planError("tensor {0} is in no bucket", i);
  return Error::success();
}

llvm::Expected<BucketPlan> dpc::assignBuckets(const BucketProblem &problem) {
  if (Error error = problem.check())
    return std::move(error);

  /// The open bucket of a key, and the index of the bucket's limit in `problem.limits`.
  struct Open {
    Bucket bucket;
    int64_t bytes = 0;
    size_t limitIndex = 0;
    int64_t lastPosition = 0;
  };
  std::map<BucketKey, Open> openOfKey;
  BucketPlan plan;
  for (auto [position, index] : llvm::enumerate(walkOrder(problem))) {
    const BucketTensor &tensor = problem.tensors[index];
    if (tensor.sparse) {
      plan.buckets.emplace_back();
      plan.buckets.back().members.push_back(index);
      continue;
    }
    Open &open = openOfKey[tensor.key];
    open.bucket.members.push_back(index);
    open.bucket.limit = problem.limits[open.limitIndex];
    open.bytes += tensor.bytes();
    open.lastPosition = position;
    if (open.bytes < open.bucket.limit)
      continue;
    plan.buckets.push_back(std::move(open.bucket));
    open.bucket = Bucket();
    open.bytes = 0;
    open.limitIndex = std::min(open.limitIndex + 1, problem.limits.size() - 1);
  }

  std::vector<Open *> leftovers;
  for (auto &entry : openOfKey)
    if (!entry.second.bucket.members.empty())
      leftovers.push_back(&entry.second);
  llvm::sort(leftovers,
             [](const Open *a, const Open *b) { return a->lastPosition < b->lastPosition; });
  for (Open *open : leftovers)
    plan.buckets.push_back(std::move(open->bucket));

  if (problem.readyOrder.empty())
    llvm::sort(plan.buckets, [](const Bucket &a, const Bucket &b) {
      return a.members.front() < b.members.front();
    });
  for (Bucket &bucket : plan.buckets)
    layOut(problem, bucket);
  return plan;
}
