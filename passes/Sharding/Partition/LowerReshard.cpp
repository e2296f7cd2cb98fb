// Lowers one reshard to the steps of its plan: collectives, local slices, and local ops that
// reorder elements, so that the part of each member of a group is contiguous.

#include "passes/Sharding/Partition/LowerReshard.h"

#include "passes/Sharding/Reshards/ReshardPlan.h"

#include "dialects/NN/IR/Indexing.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;
using namespace dpc::nn;

namespace {

/// Emits the ops of one step.
class StepLowering {
public:
  StepLowering(PartitionContext &context, FlatSymbolRefAttr meshName, const Layout &before,
               const ReshardStep &step)
      : context(context), e(context.expressions()), meshName(meshName), step(step),
        pieces(piecesOf(before, step, context.mesh)) {
    for (const std::string &axis : step.axes)
      members *= context.mesh.axisSize(axis);
  }

  Value run(Value local) {
    SmallVector<StringRef> names(step.axes.begin(), step.axes.end());
    ArrayAttr axes = context.builder.getStrArrayAttr(names);
    auto type = withShape(typeOf(local), localShape(step.after, context.mesh));
    switch (step.kind) {
    case ReshardKind::allReduce:
      return e.make<AllReduceOp>(TypeRange(local.getType()), step.reduction, local,
                                 meshName.getValue(), axes);
    case ReshardKind::reduceScatter:
      return e.make<ReduceScatterOp>(
          type, step.reduction, e.reshape(stackParts(local), stacked(members, type.getShape())),
          meshName.getValue(), axes);
    case ReshardKind::slice:
      return slice(local);
    case ReshardKind::allGather: {
      Value all = e.make<AllGatherOp>(withShape(type, stacked(members, typeOf(local).getShape())),
                                      local, meshName, axes);
      return e.reshape(mergeParts(all), type.getShape());
    }
    case ReshardKind::allToAll: {
      Value parts = stackParts(local);
      parts = e.make<AllToAllOp>(TypeRange(parts.getType()), parts, meshName.getValue(), axes);
      return e.reshape(mergeParts(parts), type.getShape());
    }
    }
    llvm_unreachable("a kind of step");
  }

private:
  static SmallVector<int64_t> stacked(int64_t count, ArrayRef<int64_t> shape) {
    SmallVector<int64_t> all = {count};
    llvm::append_range(all, shape);
    return all;
  }

  /// Returns the slice of `local` that has only the device's part of each dimension that the step
  /// cuts.
  Value slice(Value local) {
    for (auto [d, dim] : llvm::enumerate(step.after.dims)) {
      DimLayout whole = dim;
      for (Segment &segment : whole.segments)
        for (Factor &factor : segment.factors)
          llvm::erase_if(factor.axes, [&](const std::string &axis) {
            return llvm::is_contained(step.axes, axis);
          });
      if (whole != dim)
        local = e.make<GatherOp>(local,
                                 context.globalIndices(relativeCut(whole, dim, context.mesh)), d);
    }
    return local;
  }

  /// Returns `x` with the elements of dimension `dim` in another order: element i is the old
  /// element `order[i]`. Some elements may appear several times, and others not at all.
  Value reorder(Value x, unsigned dim, ArrayRef<int64_t> order) {
    if (int64_t(order.size()) == typeOf(x).getDimSize(dim) &&
        llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
      return x;
    auto type = RankedTensorType::get({int64_t(order.size())}, context.builder.getI64Type());
    Value indices =
        e.make<ConstantOp>(type, cast<ElementsAttr>(DenseElementsAttr::get(type, order)));
    return e.make<GatherOp>(x, indices, dim);
  }

  /// Extends or shortens dimension `dim` to `extent`. Floats are extended by zeros. Integers
  /// are extended by copies of the first element instead, because an op may divide by them
  /// or use them as indices.
  Value resize(Value x, unsigned dim, int64_t extent) {
    RankedTensorType type = typeOf(x);
    SmallVector<int64_t> none(type.getRank(), 0), ones(type.getRank(), 1), limits(type.getShape());
    int64_t more = extent - type.getDimSize(dim);
    if (more == 0)
      return x;
    limits[dim] = extent;
    if (more < 0)
      return e.make<SliceOp>(x, none, limits, ones);
    if (!isa<FloatType>(type.getElementType()) && type.getDimSize(dim) > 0) {
      auto order = llvm::to_vector(llvm::seq<int64_t>(0, extent));
      std::fill(order.end() - more, order.end(), 0);
      return reorder(x, dim, order);
    }
    SmallVector<int64_t> high = none;
    high[dim] = more;
    Value zero = e.splat(RankedTensorType::get({}, type.getElementType()), 0);
    return e.make<PadOp>(x, zero, none, high, none);
  }

  /// `split` splits dimension `dim` into two dimensions, and `merge` merges dimensions `dim`
  /// and `dim` + 1 into one.
  Value split(Value x, unsigned dim, int64_t outer) {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    shape[dim] /= outer;
    shape.insert(shape.begin() + dim, outer);
    return e.reshape(x, shape);
  }
  Value merge(Value x, unsigned dim) {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    shape[dim] *= shape[dim + 1];
    shape.erase(shape.begin() + dim + 1);
    return e.reshape(x, shape);
  }

  int64_t positionOf(const std::string &axis) const {
    return llvm::find(step.axes, axis) - step.axes.begin();
  }

  /// Returns the local tensor as [members, ..]: along the new first dimension, element i is
  /// the part for member i of the group.
  Value stackParts(Value x) {
    SmallVector<int64_t> shape, permutation(step.axes.size()), inner;
    for (const ReshardPiece &piece : pieces)
      shape.push_back(piece.before());
    x = e.reshape(x, shape);
    unsigned dim = 0;
    for (const ReshardPiece &piece : pieces) {
      if (!piece.cutOrder.empty())
        x = reorder(x, dim, piece.cutOrder);
      for (auto [i, axis] : llvm::enumerate(piece.cut)) {
        int64_t size = context.mesh.axisSize(axis);
        if (piece.cutOrder.empty())
          x = resize(x, dim, size * piece.cutExtents[i + 1]);
        x = split(x, dim, size);
        permutation[positionOf(axis)] = dim++;
      }
      inner.push_back(dim++);
    }
    llvm::append_range(permutation, inner);
    x = e.transpose(x, permutation);
    return e.reshape(x, stacked(members, typeOf(x).getShape().drop_front(step.axes.size())));
  }

  /// The inverse of `stackParts`. `x` has the parts that the members have sent.
  Value mergeParts(Value x) {
    SmallVector<int64_t> shape, permutation;
    for (const std::string &axis : step.axes)
      shape.push_back(context.mesh.axisSize(axis));
    for (auto [p, piece] : llvm::enumerate(pieces)) {
      shape.push_back(piece.exchanged());
      for (const std::string &axis : piece.gathered)
        permutation.push_back(positionOf(axis));
      permutation.push_back(step.axes.size() + p);
    }
    x = e.transpose(e.reshape(x, shape), permutation);
    for (auto [dim, piece] : llvm::enumerate(pieces)) {
      for (size_t i = piece.gathered.size(); i-- > 0;) {
        x = merge(x, dim + i);
        if (piece.gatherOrder.empty())
          x = resize(x, dim + i, piece.gatheredExtents[i]);
      }
      if (!piece.gatherOrder.empty())
        x = reorder(x, dim, piece.gatherOrder);
    }
    return x;
  }

  PartitionContext &context;
  Expressions e;
  const FlatSymbolRefAttr meshName;
  const ReshardStep &step;
  const std::vector<ReshardPiece> pieces;
  int64_t members = 1;
};

} // namespace

llvm::Expected<NearestPlan> dpc::planFromNearest(ArrayRef<Layout> sources, const Layout &to,
                                                 const MeshShape &mesh,
                                                 const MeshPrices &meshPrices,
                                                 int64_t elementBytes) {
  std::optional<NearestPlan> best;
  for (auto [index, source] : llvm::enumerate(sources)) {
    ReshardProblem problem{source, to, mesh, meshPrices, elementBytes};
    llvm::Expected<ReshardPlan> plan = planReshard(problem);
    llvm::Error error = plan ? plan->verify(problem) : plan.takeError();
    if (error && !best)
      return std::move(error);
    if (error) { // `to` is partial, and the source no longer is
      llvm::consumeError(std::move(error));
      continue;
    }
    if (!best || plan->seconds < best->plan.seconds)
      best = NearestPlan{index, std::move(*plan)};
  }
  return std::move(*best);
}

FailureOr<Value> dpc::lowerReshard(PartitionContext &context, Operation *op, FlatSymbolRefAttr mesh,
                                   const MeshPrices &meshPrices, ArrayRef<LocalTensor> sources,
                                   const Layout &to) {
  std::vector<Layout> layouts;
  for (const LocalTensor &source : sources)
    layouts.push_back(source.layout);
  llvm::Expected<NearestPlan> best =
      planFromNearest(layouts, to, context.mesh, meshPrices,
                      tensorBytes(withShape(typeOf(sources.front().value), {})));
  if (!best)
    return op->emitOpError("reshard: ") << llvm::toString(best.takeError()), failure();
  Value local = sources[best->source].value;
  for (auto [i, step] : llvm::enumerate(best->plan.steps))
    local = StepLowering(context, mesh, best->plan.getBefore(i), step).run(local);
  return local;
}
