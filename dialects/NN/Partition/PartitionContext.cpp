// Builds nn ops that convert between global and local indices of a dimension.

#include "dialects/NN/Partition/Partition.h"

#include "dialects/Dist/IR/Collectives.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;
using namespace dpc::nn;

#include "dialects/NN/Partition/PartitionOpInterface.cpp.inc"

Value PartitionContext::axisIndex(StringRef axis) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return builder.create<AxisIndexOp>(loc, type, axis);
}

/// Builds the global index of each local index. In a segment, it is a sum with one
/// term per factor: (offset of this device in the factor + local index in the
/// factor) * (product of the sizes of later factors). Each axis that cuts a factor
/// adds to the offset: the device's coordinate times the extent that the cut
/// leaves.
PartitionContext::DimIndices PartitionContext::dimIndices(const DimLayout &dim) {
  Expressions e = expressions();
  SmallVector<Value> globals, insides;
  int64_t base = 0;
  bool padded = hasPadding(dim, mesh);
  for (const Segment &segment : dim.segments) {
    int64_t local = 1, global = 1;
    for (const Factor &factor : segment.factors)
      local *= localSize(factor, mesh);
    auto type = RankedTensorType::get({local}, builder.getI64Type());
    Value flat = e.make<IotaOp>(type, 0), sum, inside;
    auto require = [&](Value condition) {
      inside = inside ? e.make<AndOp>(inside, condition) : condition;
    };
    int64_t localStride = 1;
    for (const Factor &factor : llvm::reverse(segment.factors)) {
      int64_t extent = localSize(factor, mesh);
      // The local index in this factor.
      Value index = flat;
      if (localStride != 1)
        index = e.div(index, e.splat(type, localStride));
      if (extent != local / localStride)
        index = e.make<RemOp>(index, e.splat(type, extent));
      // Axes cut the factor one after another, outermost first; `chunks` has the
      // extent that each axis leaves. An index is no padding if it is below the
      // extent of every chunk that contains it.
      SmallVector<int64_t> chunks;
      int64_t left = factor.size;
      for (const std::string &axis : factor.axes)
        chunks.push_back(left = llvm::divideCeil(left, mesh.axisSize(axis)));
      for (size_t i = factor.axes.size(); i-- > 0;) {
        Value offset = e.mul(axisIndex(factor.axes[i]), double(chunks[i]));
        index = e.add(index, e.broadcastScalar(offset, {local}));
        int64_t bound = i == 0 ? factor.size : chunks[i - 1];
        if (padded)
          require(e.compare(Comparison::lt, index, double(bound)));
      }
      Value term = global == 1 ? index : e.mul(index, double(global));
      sum = sum ? e.add(sum, term) : term;
      localStride *= extent;
      global *= factor.size;
    }
    if (!sum) // a segment without factors has one element
      sum = flat;
    globals.push_back(base ? e.add(sum, double(base)) : sum);
    base += global;
    if (!inside)
      inside = e.splat(RankedTensorType::get({local}, builder.getI1Type()), 1);
    insides.push_back(inside);
  }
  auto join = [&](ArrayRef<Value> parts) -> Value {
    return parts.size() == 1 ? parts[0] : e.make<ConcatOp>(ValueRange(parts), 0);
  };
  return {join(globals), padded ? join(insides) : Value()};
}

Value PartitionContext::globalIndices(const DimLayout &dim) {
  DimIndices indices = dimIndices(dim);
  if (!indices.inside)
    return indices.global;
  Expressions e = expressions();
  return e.select(indices.inside, indices.global, e.splatLike(indices.global, 0));
}

Value PartitionContext::insideMask(const DimLayout &dim) { return dimIndices(dim).inside; }

/// The inverse of dimIndices. Splits each global index into one index per factor.
/// Then subtracts the offset of each axis that cuts the factor, outermost first,
/// and checks that the rest is inside this device's chunk.
std::pair<Value, Value> PartitionContext::localIndices(Value indices, const DimLayout &dim) {
  Expressions e = expressions();
  RankedTensorType type = typeOf(indices);
  Value local = e.splatLike(indices, 0), held;
  int64_t base = 0, localBase = 0;
  DimLayout simple = normalize(dim);
  for (const Segment &segment : simple.segments) {
    Value inside;
    auto require = [&](Value condition) {
      inside = inside ? e.make<AndOp>(inside, condition) : condition;
    };
    int64_t rest = segment.extent(), localRest = 1;
    for (const Factor &factor : segment.factors)
      localRest *= localSize(factor, mesh);
    int64_t nextBase = base + rest, nextLocalBase = localBase + localRest;
    if (base > 0)
      require(e.compare(Comparison::ge, indices, double(base)));
    if (nextBase < simple.extent())
      require(e.compare(Comparison::lt, indices, double(nextBase)));
    Value index = base == 0 ? indices : e.add(indices, double(-base));
    Value here;
    for (const Factor &factor : segment.factors) {
      rest /= factor.size;
      localRest /= localSize(factor, mesh);
      Value own = index;
      if (rest != 1) {
        own = e.div(index, e.splatLike(index, rest));
        index = e.make<RemOp>(index, e.splatLike(index, rest));
      } else {
        index = e.splatLike(index, 0); // all remaining factors have size 1
      }
      int64_t left = factor.size;
      for (const std::string &axis : factor.axes) {
        left = llvm::divideCeil(left, mesh.axisSize(axis));
        Value start = e.convert(e.mul(axisIndex(axis), double(left)), type.getElementType());
        own = e.sub(own, e.broadcastScalar(start, type.getShape()));
        require(e.compare(Comparison::ge, own, 0.0));
        require(e.compare(Comparison::lt, own, double(left)));
      }
      if (localRest != 1)
        own = e.mul(own, double(localRest));
      here = here ? e.add(here, own) : own;
    }
    if (localBase != 0)
      here = e.add(here, double(localBase));
    if (!inside)
      inside = e.splat(type.clone(builder.getI1Type()), 1);
    local = e.select(inside, here, local);
    held = held ? Value(e.make<OrOp>(held, inside)) : inside;
    base = nextBase;
    localBase = nextLocalBase;
  }
  return {local, held};
}

Value PartitionContext::mask(Value local, const Layout &layout, ArrayRef<unsigned> dimensions,
                             double identity) {
  Expressions e = expressions();
  for (unsigned d : dimensions) {
    Value inside = insideMask(layout.dims[d]);
    if (!inside)
      continue;
    Value wide = e.broadcast(inside, typeOf(local).getShape(), {d});
    local = e.select(wide, local, e.splatLike(local, identity));
  }
  return local;
}
