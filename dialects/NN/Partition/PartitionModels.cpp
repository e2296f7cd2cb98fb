// Implements PartitionOpInterface for ops whose attributes or indices refer to the
// logical tensor.

#include "dialects/NN/Partition/Partition.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/LayoutTransforms.h"
#include "dialects/NN/IR/Convolution.h"
#include "dialects/NN/IR/Indexing.h"
#include "dialects/NN/IR/Loss.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;
using namespace dpc::nn;

using Values = FailureOr<SmallVector<Value>>;

static RankedTensorType localType(Value value, const Layout &layout, const MeshShape &mesh) {
  return withShape(typeOf(value), localShape(layout, mesh));
}

namespace {

template <typename Model, typename Op>
using ModelOf = PartitionOpInterface::ExternalModel<Model, Op>;

struct ConstantModel : ModelOf<ConstantModel, ConstantOp> {
  Values partition(Operation *op, PartitionContext &context, ValueRange, ArrayRef<Layout>,
                   ArrayRef<Layout> results) const {
    auto constant = cast<ConstantOp>(op);
    RankedTensorType type = localType(constant, results[0], context.mesh);
    ElementsAttr value = constant.getValue();
    if (type != value.getType()) // only splats can be sharded
      value = cast<DenseElementsAttr>(value).resizeSplat(type);
    return SmallVector<Value>{context.builder.create<ConstantOp>(context.loc, type, value)};
  }
};

struct IotaModel : ModelOf<IotaModel, IotaOp> {
  Values partition(Operation *op, PartitionContext &context, ValueRange, ArrayRef<Layout>,
                   ArrayRef<Layout> results) const {
    auto iota = cast<IotaOp>(op);
    Expressions e = context.expressions();
    RankedTensorType type = localType(iota, results[0], context.mesh);
    int64_t dim = iota.getDimension();
    Value indices = e.convert(context.globalIndices(results[0].dims[dim]), type.getElementType());
    return SmallVector<Value>{e.broadcast(indices, type.getShape(), {dim})};
  }
};

/// The local extent of the first `size` indices of `dim`. -1 if these indices alone have
/// no layout (sliceDim), e.g. the first 3 indices of [(8: data)].
static int64_t localPrefix(const DimLayout &dim, int64_t size, const MeshShape &mesh) {
  if (size == 0)
    return 0;
  std::optional<DimLayout> prefix = sliceDim(dim, 0, size, mesh);
  return prefix ? localExtent(*prefix, mesh) : -1;
}

struct SliceModel : ModelOf<SliceModel, SliceOp> {
  Values partition(Operation *op, PartitionContext &context, ValueRange operands,
                   ArrayRef<Layout> operandLayouts, ArrayRef<Layout> results) const {
    auto slice = cast<SliceOp>(op);
    SmallVector<int64_t> starts, limits;
    for (auto [d, stride] : llvm::enumerate(slice.getStrides())) {
      if (stride != 1) { // a dimension that is sliced with a stride is replicated
        starts.push_back(slice.getStarts()[d]);
        limits.push_back(slice.getLimits()[d]);
        continue;
      }
      int64_t start = localPrefix(operandLayouts[0].dims[d], slice.getStarts()[d], context.mesh);
      if (start < 0)
        return op->emitOpError("takes part of a cut segment of dimension ")
                   << d << " with layout " << toString(operandLayouts[0].dims[d]),
               failure();
      starts.push_back(start);
      limits.push_back(start + localExtent(results[0].dims[d], context.mesh));
    }
    return SmallVector<Value>{context.builder.create<SliceOp>(context.loc, operands[0], starts,
                                                              limits, slice.getStrides())};
  }
};

struct PadModel : ModelOf<PadModel, PadOp> {
  Values partition(Operation *op, PartitionContext &context, ValueRange operands,
                   ArrayRef<Layout> operandLayouts, ArrayRef<Layout> results) const {
    auto pad = cast<PadOp>(op);
    SmallVector<int64_t> low(pad.getLow()), high(pad.getHigh());
    for (size_t d = 0; d < low.size(); ++d) {
      if (pad.getInterior()[d] != 0 || low[d] < 0 || high[d] < 0)
        continue; // no axis cuts this dimension
      const DimLayout &dim = results[0].dims[d];
      int64_t inner = localExtent(operandLayouts[0].dims[d], context.mesh);
      low[d] = localPrefix(dim, low[d], context.mesh);
      if (low[d] < 0)
        return op->emitOpError("pads inside a cut segment of dimension ")
                   << d << " with layout " << toString(dim),
               failure();
      high[d] = localExtent(dim, context.mesh) - low[d] - inner;
    }
    return SmallVector<Value>{context.builder.create<PadOp>(context.loc, operands[0], operands[1],
                                                            low, high, pad.getInterior())};
  }
};

/// `indices` with 0 in padding. Padding may have any value, and an index beyond the
/// end of the table would read outside of it.
static Value maskIndices(PartitionContext &context, Value indices, const Layout &layout) {
  auto dims = llvm::to_vector(llvm::seq<unsigned>(0, typeOf(indices).getRank()));
  return context.mask(indices, layout, dims, 0);
}

/// Broadcasts `inside`, which has the shape of the indices, to `shape`. The
/// dimensions of the indices are at `position` in `shape`.
static Value spreadOver(PartitionContext &context, Value inside, ArrayRef<int64_t> shape,
                        int64_t position) {
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < typeOf(inside).getRank(); ++d)
    dims.push_back(position + d);
  return context.expressions().broadcast(inside, shape, dims);
}

/// Models an op that takes the elements of operand 0 at the indices of operand 1 along its
/// dimension. Elements that another device has count as 0.
template <typename Op> struct GatherModel : ModelOf<GatherModel<Op>, Op> {
  // No index that this device has is one of padding.
  bool skipsPadding(Operation *, unsigned operand) const { return operand == 0; }

  Values partition(Operation *op, PartitionContext &context, ValueRange operands,
                   ArrayRef<Layout> operandLayouts, ArrayRef<Layout>) const {
    Expressions e = context.expressions();
    const auto d = static_cast<int64_t>(cast<Op>(op).getDimension());
    const DimLayout &dim = operandLayouts[0].dims[d];
    Value indices = maskIndices(context, operands[1], operandLayouts[1]);
    if (shardedAxes(dim).empty())
      return SmallVector<Value>{e.make<Op>(operands[0], indices, d)};
    auto [local, inside] = context.localIndices(indices, dim);
    Value taken = e.make<Op>(operands[0], local, d);
    if constexpr (std::is_same_v<Op, GatherOp>) // an index takes a slice
      inside = spreadOver(context, inside, typeOf(taken).getShape(), d);
    return SmallVector<Value>{e.select(inside, taken, e.splatLike(taken, 0))};
  }
};

struct ScatterAddModel : ModelOf<ScatterAddModel, ScatterAddOp> {
  Values partition(Operation *op, PartitionContext &context, ValueRange operands,
                   ArrayRef<Layout> operandLayouts, ArrayRef<Layout> results) const {
    auto scatter = cast<ScatterAddOp>(op);
    Expressions e = context.expressions();
    int64_t d = scatter.getDimension();
    RankedTensorType type = localType(scatter, results[0], context.mesh);
    const DimLayout &dim = results[0].dims[d];
    Value updates = operands[0], indices = operands[1];
    // Updates in padding must not change the result.
    SmallVector<unsigned> padded;
    for (unsigned i = 0; i < unsigned(typeOf(indices).getRank()); ++i)
      padded.push_back(d + i);
    updates = context.mask(updates, operandLayouts[0], padded, 0);
    indices = maskIndices(context, indices, operandLayouts[1]);
    if (!shardedAxes(dim).empty()) {
      auto [local, held] = context.localIndices(indices, dim);
      indices = local;
      Value inside = spreadOver(context, held, typeOf(updates).getShape(), d);
      updates = e.select(inside, updates, e.splatLike(updates, 0));
    }
    return SmallVector<Value>{e.make<ScatterAddOp>(type, updates, indices, d)};
  }
};

/// Models an op whose operand number `Indices` has indices or labels. The dimensions
/// that they index are not sharded. Each device runs the same op, with indices that
/// are valid in padding too.
template <typename Op, unsigned Indices>
struct IndexedModel : ModelOf<IndexedModel<Op, Indices>, Op> {
  Values partition(Operation *op, PartitionContext &context, ValueRange operands,
                   ArrayRef<Layout> operandLayouts, ArrayRef<Layout> results) const {
    IRMapping mapping;
    for (auto [index, value] : llvm::enumerate(op->getOperands()))
      mapping.map(value, index == Indices
                             ? maskIndices(context, operands[index], operandLayouts[index])
                             : operands[index]);
    Operation *local = context.builder.clone(*op, mapping);
    local->removeAttr(DistDialect::kOperandsAttrName);
    local->removeAttr(DistDialect::kResultsAttrName);
    for (auto [result, layout] : llvm::zip_equal(local->getResults(), results))
      result.setType(localType(result, layout, context.mesh));
    return SmallVector<Value>(local->getResults());
  }
};

/// Builds a convolution with the number of groups that one device has. An axis may
/// shard the groups.
template <typename Op>
static Values partitionConvolution(Op op, PartitionContext &context, ValueRange operands,
                                   const Layout &result, bool inputIsResult, bool kernelIsResult) {
  RankedTensorType type = localType(op, result, context.mesh);
  RankedTensorType input = inputIsResult ? type : typeOf(operands[0]);
  RankedTensorType kernel = kernelIsResult ? type : typeOf(operands[1]);
  const int64_t channels = op.getChannelsLast() ? input.getRank() - 1 : 1;
  return SmallVector<Value>{context.builder.create<Op>(
      context.loc, type, operands[0], operands[1], op.getStrides(), op.getPadLow(), op.getPadHigh(),
      op.getDilations(), input.getDimSize(channels) / kernel.getDimSize(channels),
      op.getChannelsLast())};
}

struct ConvModel : ModelOf<ConvModel, ConvOp> {
  Values partition(Operation *op, PartitionContext &context, ValueRange operands, ArrayRef<Layout>,
                   ArrayRef<Layout> results) const {
    return partitionConvolution(cast<ConvOp>(op), context, operands, results[0], false, false);
  }
};

struct ConvInputGradModel : ModelOf<ConvInputGradModel, ConvInputGradOp> {
  Values partition(Operation *op, PartitionContext &context, ValueRange operands, ArrayRef<Layout>,
                   ArrayRef<Layout> results) const {
    return partitionConvolution(cast<ConvInputGradOp>(op), context, operands, results[0], true,
                                false);
  }
};

struct ConvWeightGradModel : ModelOf<ConvWeightGradModel, ConvWeightGradOp> {
  Values partition(Operation *op, PartitionContext &context, ValueRange operands, ArrayRef<Layout>,
                   ArrayRef<Layout> results) const {
    return partitionConvolution(cast<ConvWeightGradOp>(op), context, operands, results[0], false,
                                true);
  }
};

} // namespace

void dpc::registerPartitionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    ConstantOp::attachInterface<ConstantModel>(*context);
    IotaOp::attachInterface<IotaModel>(*context);
    SliceOp::attachInterface<SliceModel>(*context);
    PadOp::attachInterface<PadModel>(*context);
    GatherOp::attachInterface<GatherModel<GatherOp>>(*context);
    ScatterAddOp::attachInterface<ScatterAddModel>(*context);
    GatherElementsOp::attachInterface<GatherModel<GatherElementsOp>>(*context);
    ScatterElementsOp::attachInterface<IndexedModel<ScatterElementsOp, 1>>(*context);
    GatherNDOp::attachInterface<IndexedModel<GatherNDOp, 1>>(*context);
    ScatterNDOp::attachInterface<IndexedModel<ScatterNDOp, 1>>(*context);
    CrossEntropyOp::attachInterface<IndexedModel<CrossEntropyOp, 1>>(*context);
    ConvOp::attachInterface<ConvModel>(*context);
    ConvInputGradOp::attachInterface<ConvInputGradModel>(*context);
    ConvWeightGradOp::attachInterface<ConvWeightGradModel>(*context);
  });
}
