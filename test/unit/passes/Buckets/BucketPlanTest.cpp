// Bucket plans: PyTorch's own cases, hand cases, a large random one, errors.

#include "passes/Buckets/BucketPlan.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace dpc;

namespace {

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

BucketTensor tensor(int64_t elements, int64_t elementBytes = 4, bool sparse = false) {
  BucketTensor result;
  result.elements = elements;
  result.elementBytes = elementBytes;
  result.key.dtype = "f" + std::to_string(8 * elementBytes);
  result.sparse = sparse;
  return result;
}

BucketProblem problem(std::initializer_list<int64_t> elements,
                      std::initializer_list<int64_t> limits) {
  BucketProblem result;
  for (int64_t count : elements)
    result.tensors.push_back(tensor(count));
  result.limits = limits;
  return result;
}

using Lists = std::vector<std::vector<int64_t>>;

Lists members(const BucketPlan &plan) {
  Lists lists;
  for (const Bucket &bucket : plan.buckets)
    lists.emplace_back(bucket.members.begin(), bucket.members.end());
  return lists;
}

BucketPlan solve(const BucketProblem &problem) {
  llvm::Expected<BucketPlan> plan = assignBuckets(problem);
  if (!plan) {
    ADD_FAILURE() << text(plan.takeError());
    return {};
  }
  EXPECT_EQ(text(plan->verify(problem)), "");
  return *plan;
}

std::vector<int64_t> integers(const llvm::json::Array &array) {
  std::vector<int64_t> values;
  for (const llvm::json::Value &value : array)
    values.push_back(*value.getAsInteger());
  return values;
}

/// Recorded outputs of PyTorch's own function; the file says which version.
TEST(BucketPlan, MatchesPyTorch) {
  auto buffer = llvm::MemoryBuffer::getFile(BUCKET_VECTORS);
  ASSERT_TRUE(buffer);
  auto json = llvm::json::parse((*buffer)->getBuffer());
  ASSERT_TRUE(bool(json));
  const llvm::json::Array &vectors = *json->getAsObject()->getArray("vectors");
  ASSERT_EQ(vectors.size(), 515u);
  for (const llvm::json::Value &value : vectors) {
    const llvm::json::Object &vector = *value.getAsObject();
    SCOPED_TRACE(vector.getString("name")->str());
    std::vector<int64_t> order = integers(*vector.getArray("indices"));
    std::vector<int64_t> sparse = integers(*vector.getArray("sparse"));
    const llvm::json::Array &tensors = *vector.getArray("tensors");
    BucketProblem problem;
    problem.limits.clear();
    llvm::append_range(problem.limits, integers(*vector.getArray("limits")));
    llvm::append_range(problem.readyOrder, order);
    problem.tensors.resize(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      std::vector<int64_t> shape = integers(*tensors[i].getAsArray());
      // The file lists tensors in ready order; `indices` names them.
      size_t index = order.empty() ? i : order[i];
      problem.tensors[index] = tensor(shape[0], shape[1]);
      problem.tensors[index].sparse = !sparse.empty() && sparse[index];
    }
    Lists expected;
    for (const llvm::json::Value &bucket : *vector.getArray("buckets"))
      expected.push_back(integers(*bucket.getAsArray()));
    BucketPlan plan = solve(problem);
    EXPECT_EQ(members(plan), expected);
    std::vector<int64_t> limits;
    for (const Bucket &bucket : plan.buckets)
      limits.push_back(bucket.limit);
    EXPECT_EQ(limits, integers(*vector.getArray("per_bucket_limits")));
  }
}

TEST(BucketPlan, LeftoversOfAReadyOrderFollowTheirLastMember) {
  BucketProblem p;
  p.tensors = {tensor(1, 8), tensor(10, 4), tensor(1, 2), tensor(1, 8)};
  p.limits = {40};
  p.readyOrder = {3, 2, 1, 0};
  EXPECT_EQ(members(solve(p)), (Lists{{1}, {2}, {3, 0}}));
}

TEST(BucketPlan, EveryPartOfTheKeySeparates) {
  for (int part = 0; part < 6; ++part) {
    BucketProblem p = problem({1, 1}, {1000});
    BucketKey &key = p.tensors[1].key;
    if (part == 0)
      key.dtype = "i32";
    else if (part == 1)
      key.reduction = "max";
    else if (part == 2)
      key.group = "model";
    else if (part == 3)
      key.storageAxes = "data";
    else if (part == 4)
      key.stage = 1;
    else
      key.shards = 2;
    EXPECT_EQ(members(solve(p)), (Lists{{0}, {1}})) << part;
  }
}

TEST(BucketPlan, StorageIsAlignedAndDividesEvenly) {
  BucketProblem p = problem({3, 17, 0, 5}, {1 << 20});
  for (BucketTensor &t : p.tensors)
    t.key.shards = 3;
  BucketPlan plan = solve(p);
  ASSERT_EQ(plan.buckets.size(), 1u);
  const Bucket &bucket = plan.buckets[0];
  // 12 -> 64; 64 + 68 -> 192; empty; 192 + 20 = 212 -> 2 * (3 * 64).
  EXPECT_EQ(llvm::ArrayRef(bucket.offsets), (llvm::ArrayRef<int64_t>{0, 64, 192, 192}));
  EXPECT_EQ(bucket.payloadBytes, 100);
  EXPECT_EQ(bucket.bytes, 384);
}

TEST(BucketPlan, HugeSizes) {
  BucketProblem p = problem({int64_t(1) << 59, int64_t(1) << 59}, {1});
  EXPECT_EQ(solve(p).buckets.size(), 2u);
  p.tensors[0].elements = int64_t(1) << 61;
  EXPECT_EQ(text(p.check()), "tensor 0 has 2305843009213693952 elements of 4 "
                             "bytes, more than 63 bits of bytes");
  p.tensors[0].elements = p.tensors[1].elements = int64_t(1) << 60;
  EXPECT_EQ(text(p.check()), "2 tensors with padding need more than 63 bits of bytes");
  p = problem({1}, {1});
  p.tensors[0].key.shards = int64_t(1) << 60;
  EXPECT_EQ(text(p.check()), "1 tensors with padding need more than 63 bits of bytes");
}

TEST(BucketPlan, RefusesUnsoundProblems) {
  EXPECT_EQ(text(problem({}, {1}).check()), "there are no tensors to bucket");
  EXPECT_EQ(text(problem({1}, {}).check()), "there are no bucket limits");
  EXPECT_EQ(text(problem({1}, {-1}).check()), "bucket limit -1 is negative");
  EXPECT_EQ(text(problem({-2}, {1}).check()), "tensor 0 has -2 elements");
  BucketProblem p = problem({1, 1}, {1});
  p.alignment = 48;
  EXPECT_EQ(text(p.check()), "bucket alignment 48 is not a power of two");
  p = problem({1, 1}, {1});
  p.tensors[1].elementBytes = 3;
  EXPECT_EQ(text(p.check()), "tensor 1 has elements of 3 bytes, which do not "
                             "divide the alignment of 64 bytes");
  p.tensors[1].elementBytes = 8;
  EXPECT_EQ(text(p.check()), "tensors 0 and 1 share a key but have elements of "
                             "4 and 8 bytes");
  p = problem({1, 1}, {1});
  p.tensors[0].key.shards = 0;
  EXPECT_EQ(text(p.check()), "tensor 0 is cut into 0 shares");
  p = problem({1, 1}, {1});
  p.readyOrder = {1};
  EXPECT_EQ(text(p.check()), "ready order names 1 tensors of 2");
  p.readyOrder = {1, 2};
  EXPECT_EQ(text(p.check()), "ready order names tensor 2 of 2");
  p.readyOrder = {1, 1};
  EXPECT_EQ(text(p.check()), "ready order names tensor 1 twice");
  EXPECT_EQ(text(assignBuckets(p).takeError()), "ready order names tensor 1 twice");
}

/// Each way of spoiling a sound plan is found.
TEST(BucketPlan, VerifyFindsUnsoundAnswers) {
  BucketProblem p = problem({10, 10, 10, 10, 10}, {80});
  p.tensors[4].sparse = true;
  p.tensors[0].key.shards = p.tensors[1].key.shards = 2;
  BucketPlan good = solve(p);
  ASSERT_EQ(members(good), (Lists{{0, 1}, {2, 3}, {4}}));
  auto spoiled = [&](auto change) {
    BucketPlan plan = good;
    change(plan.buckets);
    return text(plan.verify(p));
  };
  using B = std::vector<Bucket>;
  EXPECT_EQ(spoiled([](B &b) { b.pop_back(); }), "tensor 4 is in no bucket");
  EXPECT_EQ(spoiled([](B &b) { b.push_back(b[0]); }), "tensor 0 is in buckets 0 and 3");
  EXPECT_EQ(spoiled([](B &b) { b.emplace_back(); }), "bucket 3 is empty");
  EXPECT_EQ(spoiled([](B &b) { b[0].members[1] = 7; }), "bucket 0 holds tensor 7 of 5");
  EXPECT_EQ(spoiled([](B &b) { b[0].members[1] = 2; }),
            "bucket 0 mixes the keys of tensors 0 and 2");
  EXPECT_EQ(spoiled([](B &b) { std::swap(b[0].members[0], b[0].members[1]); }),
            "bucket 0 holds tensor 0 after one that is ready later");
  EXPECT_EQ(spoiled([](B &b) { b[2].limit = 80; }),
            "bucket 2 with limit 80 holds sparse tensor 4 and 0 others");
  EXPECT_EQ(spoiled([](B &b) { b[0].limit = 81; }),
            "bucket 0 has limit 81, which is not in the list");
  EXPECT_EQ(spoiled([](B &b) { b[0].payloadBytes = 1; }),
            "bucket 0 records 1 bytes, its members have 80");
  EXPECT_EQ(spoiled([](B &b) { b[0].offsets.pop_back(); }), "bucket 0 has 1 offsets for 2 members");
  EXPECT_EQ(spoiled([](B &b) { b[0].offsets[1] = 65; }),
            "tensor 1 lies at byte 65 of bucket 0, not a multiple of 64");
  EXPECT_EQ(spoiled([](B &b) { b[0].offsets[1] = 0; }),
            "tensor 1 lies at byte 0 of bucket 0, inside the member that ends "
            "at 40");
  EXPECT_EQ(spoiled([](B &b) { b[0].offsets[1] = 128; }),
            "tensor 1 ends at byte 168 of bucket 0, which has 128");
  EXPECT_EQ(spoiled([](B &b) { b[0].bytes = 192; }),
            "bucket 0 of 192 bytes does not divide into 2 shares aligned to "
            "64");
  p.limits = {40, 80};
  EXPECT_EQ(spoiled([](B &b) { b[0].limit = 40; }),
            "bucket 0 takes tensor 1 at 40 bytes, past its limit of 40");
}

/// 100,000 tensors with random keys: linear work, the same plan twice.
TEST(BucketPlan, LargeRandomProblemIsDeterministic) {
  std::mt19937 random(7);
  BucketProblem p;
  for (int i = 0; i < 100000; ++i) {
    p.tensors.push_back(tensor(random() % 100000, 1 << random() % 4));
    p.tensors.back().key.stage = random() % 4;
    p.tensors.back().key.shards = p.tensors.back().key.stage + 1;
    p.tensors.back().sparse = random() % 50 == 0;
  }
  p.readyOrder.resize(p.tensors.size());
  std::iota(p.readyOrder.rbegin(), p.readyOrder.rend(), 0);
  EXPECT_EQ(members(solve(p)), members(solve(p)));
}

} // namespace
