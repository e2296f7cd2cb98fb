// Computes norms of tensors that are divided among ranks, and expands one factor per tensor to the
// elements of the tensors (LAMB's trust ratios). Each rank sums the segments of its shard, one per
// member, and the ranks sum the results as one small vector.

#include "passes/ShardedUpdates/MemberFactors.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Segments.h"

using namespace mlir;
using namespace dpc;

/// The index, among the elements of the storage, of the first element of this rank's shard.
static Value firstElement(nn::Expressions e, const StoragePlace &place,
                          const dist::MeshShape &mesh) {
  auto type = RankedTensorType::get({}, e.builder.getI64Type());
  Value member;
  for (auto axis : place.axes.getAsRange<StringAttr>()) {
    Value index = e.make<dist::AxisIndexOp>(type, axis);
    const int64_t size = mesh.axes[*mesh.axisIndex(axis.getValue())].size;
    member = member ? e.add(e.mul(member, size), index) : index;
  }
  return e.mul(member, place.shard().getNumElements());
}

MemberFactors::MemberFactors(OpBuilder &builder, const StoragePlace &place, ArrayRef<int64_t> sizes,
                             const dist::MeshShape &mesh)
    : builder(builder), place(place) {
  nn::Expressions e{builder, place.loc};
  const int64_t count = sizes.size();
  SmallVector<int64_t> last;
  for (auto [offset, size] : llvm::zip_equal(place.offsets, sizes)) {
    last.push_back(offset + size);
    numbers.push_back(numbers.size());
  }
  Value first = e.broadcastScalar(firstElement(e, place, mesh), {count});
  auto bounds = [&](ArrayRef<int64_t> inStorage) {
    auto value = DenseElementsAttr::get(vectorOf(builder.getI64Type()), inStorage);
    return e.sub(e.make<nn::ConstantOp>(value), first);
  };
  begins = bounds(place.offsets);
  ends = bounds(last);
}

RankedTensorType MemberFactors::vectorOf(Type element) const {
  return RankedTensorType::get({int64_t(place.offsets.size())}, element);
}

SmallVector<Value> MemberFactors::sumSquares(Value shard) const {
  nn::Expressions e{builder, place.loc};
  Value sums = e.make<nn::SegmentSumOp>(vectorOf(place.element), e.mul(shard, shard), begins, ends);
  sums =
      e.make<dist::AllReduceOp>(sums.getType(), dist::Reduction::sum, sums, place.mesh, place.axes);
  const SmallVector<Type> types(numbers.size(), RankedTensorType::get({}, place.element));
  return llvm::to_vector(llvm::map_range(e.make<dist::UnpackOp>(types, sums, numbers).getResults(),
                                         [](OpResult result) -> Value { return result; }));
}

Value MemberFactors::spread(ArrayRef<Value> values) const {
  nn::Expressions e{builder, place.loc};
  Value all = e.make<dist::PackOp>(vectorOf(place.element), values, numbers);
  return e.make<nn::SegmentFillOp>(place.shard(), all, begins, ends);
}
