// Implements ChannelsOpInterface for convolutions, poolings, normalizations, reductions, and ops
// that move elements.

#include "dialects/NN/Channels/Channels.h"

#include "dialects/NN/IR/Convolution.h"
#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Normalization.h"
#include "dialects/NN/IR/Pooling.h"
#include "dialects/NN/IR/Random.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Dims = std::optional<ChannelDims>;
using Number = std::optional<unsigned>;
using Values = SmallVector<Value>;
using Channels = std::optional<int64_t>;

/// `values`, one per dimension, in the order with channels last.
static SmallVector<int64_t> moved(ArrayRef<int64_t> values, int64_t channels) {
  SmallVector<int64_t> result;
  for (int64_t dimension : orderWithLast(channels, static_cast<int64_t>(values.size())))
    result.push_back(values[static_cast<size_t>(dimension)]);
  return result;
}

/// The shape of `type` with dimension `channels` last, if it is set.
static SmallVector<int64_t> movedShape(RankedTensorType type, Channels channels) {
  return channels ? moved(type.getShape(), *channels) : SmallVector<int64_t>(type.getShape());
}

/// The numbers of `dimensions` after the channels have moved, in ascending order.
static SmallVector<int64_t> movedDimensions(ArrayRef<int64_t> dimensions, int64_t channels,
                                            int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t dimension : dimensions)
    result.push_back(movedDimension(dimension, channels, rank));
  llvm::sort(result);
  return result;
}

static int64_t rankOf(Value tensor) { return typeOf(tensor).getRank(); }

namespace {

template <typename Model, typename Op>
struct ModelOf : ChannelsOpInterface::ExternalModel<Model, Op> {
  Dims findChannels(Operation *op, Number operand, Number result, int64_t dimension) const {
    return static_cast<const Model *>(this)->find(cast<Op>(op), operand, result, dimension);
  }
  Values moveChannels(Operation *op, OpBuilder &builder, const ChannelDims &dims,
                      ValueRange operands) const {
    return static_cast<const Model *>(this)->move(cast<Op>(op), Expressions{builder, op->getLoc()},
                                                  dims, operands);
  }
};

//===----------------------------------------------------------------------===//
// Convolutions and poolings
//===----------------------------------------------------------------------===//

template <typename Op> struct ConvolutionModel : ModelOf<ConvolutionModel<Op>, Op> {
  Dims find(Op op, Number, Number, int64_t dimension) const {
    return op.getChannelsLast() || dimension != 1 ? Dims() : ChannelDims{{1, 1}, {1}};
  }
  Values move(Op op, Expressions e, const ChannelDims &, ValueRange operands) const {
    const RankedTensorType type = typeOf(op.getResult());
    return {e.make<Op>(withShape(type, movedShape(type, 1)), operands[0], operands[1],
                       op.getStrides(), op.getPadLow(), op.getPadHigh(), op.getDilations(),
                       op.getGroups(), /*channelsLast=*/true)};
  }
};

/// Poolings slide over all dimensions after the second one. With the channels last, the channels
/// are one more spatial dimension, along which the window has one element.
template <typename Op> struct PoolingModel : ModelOf<PoolingModel<Op>, Op> {
  Dims find(Op op, Number, Number, int64_t dimension) const {
    if (dimension != 1 || rankOf(op.getResult()) > 4)
      return std::nullopt;
    return ChannelDims{SmallVector<Channels>(op->getNumOperands(), 1), {1}};
  }

  Values move(Op op, Expressions e, const ChannelDims &, ValueRange operands) const {
    auto withChannels = [](ArrayRef<int64_t> entries, int64_t entry) {
      SmallVector<int64_t> all(entries);
      all.push_back(entry);
      return all;
    };
    auto withSecond = [](ArrayRef<int64_t> shape) {
      SmallVector<int64_t> all(shape);
      all.insert(all.begin() + 1, 1);
      return all;
    };
    const RankedTensorType type = typeOf(op.getResult());
    const SmallVector<int64_t> shape = movedShape(type, 1);
    Values viewed;
    for (Value operand : operands)
      viewed.push_back(e.reshape(operand, withSecond(typeOf(operand).getShape())));
    SmallVector<NamedAttribute> attributes;
    Builder &b = e.builder;
    auto add = [&](StringRef name, ArrayRef<int64_t> entries) {
      attributes.push_back(b.getNamedAttr(name, b.getDenseI64ArrayAttr(entries)));
    };
    add("kernel", withChannels(op.getKernel(), 1));
    add("strides", withChannels(op.getStrides(), 1));
    add("padLow", withChannels(op.getPadLow(), 0));
    add("padHigh", withChannels(op.getPadHigh(), 0));
    add("dilations", withChannels(op.getDilations(), 1));
    auto pooled = e.make<Op>(TypeRange(withShape(type, withSecond(shape))), viewed, attributes);
    return {e.reshape(pooled.getResult(), shape)};
  }
};

//===----------------------------------------------------------------------===//
// Reductions and normalizations
//===----------------------------------------------------------------------===//

/// The dimensions of a tensor of rank `rank` that are not in `reduced`.
static SmallVector<int64_t> keptOf(int64_t rank, ArrayRef<int64_t> reduced) {
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(reduced, d))
      kept.push_back(d);
  return kept;
}

/// The channels of a tensor with the dimensions `kept` of a tensor with dimension `channels`. None
/// if the kept dimensions are in the same order after the channels have moved.
static Channels channelsOfKept(ArrayRef<int64_t> kept, int64_t channels) {
  const auto *place = llvm::find(kept, channels);
  return place == kept.end() || place + 1 == kept.end() ? Channels()
                                                        : Channels(place - kept.begin());
}

struct ReduceModel : ModelOf<ReduceModel, ReduceOp> {
  Dims find(ReduceOp op, Number operand, Number, int64_t dimension) const {
    const SmallVector<int64_t> kept = keptOf(rankOf(op.getInput()), op.getDimensions());
    const int64_t channels = operand ? dimension : kept[static_cast<size_t>(dimension)];
    return ChannelDims{{channels}, {channelsOfKept(kept, channels)}};
  }
  Values move(ReduceOp op, Expressions e, const ChannelDims &dims, ValueRange operands) const {
    return {e.reduce(op.getKind(), operands[0],
                     movedDimensions(op.getDimensions(), *dims.operands[0], rankOf(op.getInput())),
                     op.getFirst())};
  }
};

struct NormalizeModel : ModelOf<NormalizeModel, NormalizeOp> {
  Dims find(NormalizeOp op, Number, Number result, int64_t dimension) const {
    const SmallVector<int64_t> kept = keptOf(rankOf(op.getInput()), op.getDimensions());
    const int64_t channels =
        result.value_or(0) > 0 ? kept[static_cast<size_t>(dimension)] : dimension;
    const Channels statistic = channelsOfKept(kept, channels);
    return ChannelDims{{channels}, {channels, statistic, statistic}};
  }
  Values move(NormalizeOp op, Expressions e, const ChannelDims &dims, ValueRange operands) const {
    auto made = e.make<NormalizeOp>(
        operands[0], movedDimensions(op.getDimensions(), *dims.operands[0], rankOf(op.getInput())),
        op.getEpsilon(), op.getUncentered());
    return Values(made->getResults());
  }
};

//===----------------------------------------------------------------------===//
// Ops that move or repeat elements
//===----------------------------------------------------------------------===//

/// The dimension of a tensor of shape `to` that is dimension `channels` of a tensor of shape `from`
/// with the same elements. All dimensions before it must together be as large as those before
/// `channels`.
static Channels findInReshaped(ArrayRef<int64_t> from, int64_t channels, ArrayRef<int64_t> to) {
  const int64_t before = ShapedType::getNumElements(from.take_front(channels));
  int64_t product = 1;
  for (auto [d, extent] : llvm::enumerate(to)) {
    if (product == before && extent == from[static_cast<size_t>(channels)])
      return static_cast<int64_t>(d);
    product *= extent;
  }
  return std::nullopt;
}

struct ReshapeModel : ModelOf<ReshapeModel, ReshapeOp> {
  Dims find(ReshapeOp op, Number operand, Number, int64_t dimension) const {
    RankedTensorType from = typeOf(operand ? op.getInput() : op.getResult()),
                     to = typeOf(operand ? op.getResult() : op.getInput());
    // If elements keep their order, the other tensor has the same elements as before.
    Channels other;
    if (from.getNumElements() == 0)
      return std::nullopt;
    if (!keepsElements(from, dimension)) {
      other = findInReshaped(from.getShape(), dimension, to.getShape());
      if (!other)
        return std::nullopt;
    }
    return operand ? ChannelDims{{dimension}, {other}} : ChannelDims{{other}, {dimension}};
  }
  Values move(ReshapeOp op, Expressions e, const ChannelDims &dims, ValueRange operands) const {
    return {e.reshape(operands[0], movedShape(typeOf(op.getResult()), dims.results[0]))};
  }
};

struct BroadcastModel : ModelOf<BroadcastModel, BroadcastOp> {
  Dims find(BroadcastOp op, Number operand, Number, int64_t dimension) const {
    ArrayRef<int64_t> dimensions = op.getDimensions();
    const int64_t channels = operand ? dimensions[static_cast<size_t>(dimension)] : dimension;
    return ChannelDims{{channelsOfKept(dimensions, channels)}, {channels}};
  }
  Values move(BroadcastOp op, Expressions e, const ChannelDims &dims, ValueRange operands) const {
    RankedTensorType type = typeOf(op.getResult());
    const int64_t channels = *dims.results[0];
    return {e.broadcast(operands[0], movedShape(type, channels),
                        movedDimensions(op.getDimensions(), channels, type.getRank()))};
  }
};

struct SliceModel : ModelOf<SliceModel, SliceOp> {
  Dims find(SliceOp, Number, Number, int64_t dimension) const {
    return ChannelDims{{dimension}, {dimension}};
  }
  Values move(SliceOp op, Expressions e, const ChannelDims &dims, ValueRange operands) const {
    const int64_t channels = *dims.results[0];
    return {e.make<SliceOp>(operands[0], moved(op.getStarts(), channels),
                            moved(op.getLimits(), channels), moved(op.getStrides(), channels))};
  }
};

struct PadModel : ModelOf<PadModel, PadOp> {
  Dims find(PadOp, Number, Number, int64_t dimension) const {
    return ChannelDims{{dimension, std::nullopt}, {dimension}};
  }
  Values move(PadOp op, Expressions e, const ChannelDims &dims, ValueRange operands) const {
    const int64_t channels = *dims.results[0];
    return {e.make<PadOp>(operands[0], operands[1], moved(op.getLow(), channels),
                          moved(op.getHigh(), channels), moved(op.getInterior(), channels))};
  }
};

struct ConcatModel : ModelOf<ConcatModel, ConcatOp> {
  Dims find(ConcatOp op, Number, Number, int64_t dimension) const {
    return ChannelDims{SmallVector<Channels>(op->getNumOperands(), dimension), {dimension}};
  }
  Values move(ConcatOp op, Expressions e, const ChannelDims &dims, ValueRange operands) const {
    return {e.make<ConcatOp>(operands, movedDimension(static_cast<int64_t>(op.getDimension()),
                                                      *dims.results[0], rankOf(op.getResult())))};
  }
};

struct IotaModel : ModelOf<IotaModel, IotaOp> {
  Dims find(IotaOp, Number, Number, int64_t dimension) const {
    return ChannelDims{{}, {dimension}};
  }
  Values move(IotaOp op, Expressions e, const ChannelDims &dims, ValueRange) const {
    RankedTensorType type = typeOf(op.getResult());
    const int64_t channels = *dims.results[0];
    return {e.make<IotaOp>(
        withShape(type, movedShape(type, channels)),
        movedDimension(static_cast<int64_t>(op.getDimension()), channels, type.getRank()))};
  }
};

struct ConstantModel : ModelOf<ConstantModel, ConstantOp> {
  Dims find(ConstantOp op, Number, Number, int64_t dimension) const {
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    return elements && elements.isSplat() ? Dims(ChannelDims{{}, {dimension}}) : std::nullopt;
  }
  Values move(ConstantOp op, Expressions e, const ChannelDims &dims, ValueRange) const {
    RankedTensorType type = typeOf(op.getResult());
    auto elements = cast<DenseElementsAttr>(op.getValue());
    return {e.make<ConstantOp>(
        elements.resizeSplat(withShape(type, movedShape(type, dims.results[0]))))};
  }
};

/// Each element has the number that its index says, so the numbers move with the indices.
struct RandomUniformModel : ModelOf<RandomUniformModel, RandomUniformOp> {
  Dims find(RandomUniformOp, Number, Number, int64_t dimension) const {
    return ChannelDims{{std::nullopt, std::nullopt, dimension}, {dimension}};
  }
  Values move(RandomUniformOp op, Expressions e, const ChannelDims &dims,
              ValueRange operands) const {
    RankedTensorType type = typeOf(op.getResult());
    return {e.make<RandomUniformOp>(withShape(type, movedShape(type, dims.results[0])), operands[0],
                                    operands[1], operands[2], op.getOrdinal())};
  }
};

struct AfterModel : ModelOf<AfterModel, AfterOp> {
  Dims find(AfterOp, Number operand, Number, int64_t dimension) const {
    if (operand == 1u)
      return std::nullopt;
    return ChannelDims{{dimension, std::nullopt}, {dimension}};
  }
  Values move(AfterOp, Expressions e, const ChannelDims &, ValueRange operands) const {
    return {e.make<AfterOp>(operands[0].getType(), operands[0], operands[1])};
  }
};

} // namespace

void dpc::registerChannelsModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    ConvOp::attachInterface<ConvolutionModel<ConvOp>>(*context);
    ConvInputGradOp::attachInterface<ConvolutionModel<ConvInputGradOp>>(*context);
    ConvWeightGradOp::attachInterface<ConvolutionModel<ConvWeightGradOp>>(*context);
    MaxPoolOp::attachInterface<PoolingModel<MaxPoolOp>>(*context);
    MaxPoolTapsOp::attachInterface<PoolingModel<MaxPoolTapsOp>>(*context);
    MaxPoolGradOp::attachInterface<PoolingModel<MaxPoolGradOp>>(*context);
    SumPoolOp::attachInterface<PoolingModel<SumPoolOp>>(*context);
    SumPoolGradOp::attachInterface<PoolingModel<SumPoolGradOp>>(*context);
    ReduceOp::attachInterface<ReduceModel>(*context);
    NormalizeOp::attachInterface<NormalizeModel>(*context);
    ReshapeOp::attachInterface<ReshapeModel>(*context);
    BroadcastOp::attachInterface<BroadcastModel>(*context);
    SliceOp::attachInterface<SliceModel>(*context);
    PadOp::attachInterface<PadModel>(*context);
    ConcatOp::attachInterface<ConcatModel>(*context);
    IotaOp::attachInterface<IotaModel>(*context);
    ConstantOp::attachInterface<ConstantModel>(*context);
    RandomUniformOp::attachInterface<RandomUniformModel>(*context);
    AfterOp::attachInterface<AfterModel>(*context);
  });
}
