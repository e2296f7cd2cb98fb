// The constraints, result types, cost, sharding rule, interpreter rule,
// decomposition and gradient of nn.cross_entropy.

#include "dialects/NN/IR/Loss.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Indexing.h"
#include "planning/KernelClass.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>
#include <utility>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Loss.cpp.inc"

void NNDialect::registerLossOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Loss.cpp.inc"
      >();
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                               ValueRange operands, DictionaryAttr attributes,
                                               OpaqueProperties properties, RegionRange regions,
                                               SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType type = typeOf(adaptor.getLogits());
  int64_t dimension = adaptor.getDimension();
  if (dimension < 0 || dimension >= type.getRank() ||
      type.getDimSize(dimension) == 0) // cross_entropy_c1
    return emitOptionalError(loc, "'nn.cross_entropy' op has dimension ", dimension,
                             ", which is empty or outside ", type);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dimension);
  RankedTensorType labels = typeOf(adaptor.getLabels());
  if (labels.getShape() != ArrayRef(shape)) // cross_entropy_c2
    return emitOptionalError(loc, "'nn.cross_entropy' op has labels of type ", labels,
                             " for logits of type ", type, " with classes along dimension ",
                             dimension);
  double smoothing = adaptor.getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing <= 1)) // cross_entropy_c3
    return emitOptionalError(loc, "'nn.cross_entropy' op has labelSmoothing ", smoothing,
                             ", which is not in [0, 1]");
  types.append(2, withShape(type, shape));
  return success();
}

KernelClass CrossEntropyOp::getKernelClass() { return KernelClass::normalization; }
int64_t CrossEntropyOp::getFlops() { return 5 * typeOf(getLogits()).getNumElements(); }

ShardingRule CrossEntropyOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.resize(2);
  rule.results.resize(2);
  for (auto [d, extent] : llvm::enumerate(typeOf(getLogits()).getShape())) {
    bool isClass = d == getDimension();
    ShardingRule::DimLoops dim =
        ShardingRule::dim(rule.addLoop(extent, isClass ? LoopKind::whole : LoopKind::parallel));
    rule.operands[0].push_back(dim);
    if (isClass)
      continue;
    rule.operands[1].push_back(dim);
    rule.results[0].push_back(dim);
    rule.results[1].push_back(dim);
  }
  return rule;
}

LogicalResult CrossEntropyOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                        MutableArrayRef<HostTensor> out) {
  SmallVector<int64_t> others(in[0]->getShape());
  const int64_t dimension = getDimension(), classes = others[dimension];
  others[dimension] = 1;
  SmallVector<int64_t> strides = rowMajorStrides(in[0]->getShape());
  const int64_t stride = strides[dimension];
  const double smoothing = getLabelSmoothing().convertToDouble();
  const int64_t ignored = getIgnoreIndex();
  std::optional<int64_t> outside;
  int64_t row = 0;
  forEachIndex(others, [&](ArrayRef<int64_t> index) {
    const double *x = in[0]->floats.data() + linearize(index, strides);
    double largest = -std::numeric_limits<double>::infinity();
    double sum = 0, total = 0;
    for (int64_t c = 0; c < classes; ++c)
      largest = std::max(largest, x[c * stride]);
    for (int64_t c = 0; c < classes; ++c) {
      sum += std::exp(x[c * stride] - largest);
      total += x[c * stride];
    }
    double logSumExp = largest + std::log(sum);
    int64_t label = in[1]->ints[row];
    out[1].floats[row] = logSumExp;
    if (label != ignored && (label < 0 || label >= classes))
      outside = outside.value_or(label);
    else if (label != ignored)
      out[0].floats[row] = (1 - smoothing) * (logSumExp - x[label * stride]) +
                           smoothing * (logSumExp - total / classes);
    ++row;
  });
  if (outside)
    return emitOpError("has the label ") << *outside << ", but " << classes << " classes";
  return success();
}

namespace {
/// The masks that both the gradient and the decomposition need.
struct LabelMasks {
  /// A mask of the shape of the logits. It is true at the class that is the label
  /// of the row.
  Value oneHot;
  /// A mask of the shape of the labels. It is true for labels equal to
  /// ignoreIndex.
  Value ignored;
};
} // namespace

static LabelMasks buildMasks(Expressions e, CrossEntropyOp op) {
  Value labels = op.getLabels();
  RankedTensorType type = typeOf(labels);
  ArrayRef<int64_t> shape = typeOf(op.getLogits()).getShape();
  int64_t dimension = op.getDimension();
  Value classes = e.make<IotaOp>(withShape(type, shape), dimension);
  Value spread = e.broadcastAlong(labels, shape, {dimension});
  // ignoreIndex becomes an integer constant, because a double cannot represent
  // every 64-bit integer.
  Attribute ignore = IntegerAttr::get(type.getElementType(), int64_t(op.getIgnoreIndex()));
  Value ignoreIndex =
      e.make<ConstantOp>(type, cast<ElementsAttr>(DenseElementsAttr::get(type, ignore)));
  return {e.compare(Comparison::eq, classes, spread),
          e.compare(Comparison::eq, labels, ignoreIndex)};
}

/// The logit of each label. It is 0 for labels that are no class, e.g. ignoreIndex.
static Value pickLabels(Expressions e, CrossEntropyOp op) {
  Value x = op.getLogits(), labels = op.getLabels();
  SmallVector<int64_t> column(typeOf(x).getShape());
  const auto dimension = static_cast<int64_t>(op.getDimension());
  const int64_t classes = std::exchange(column[dimension], 1);
  Value isClass = e.make<AndOp>(e.compare(Comparison::ge, labels, 0),
                                e.compare(Comparison::lt, labels, static_cast<double>(classes)));
  Value safe = e.reshape(e.select(isClass, labels, e.splatLike(labels, 0)), column);
  Value taken = e.reshape(e.make<GatherElementsOp>(x, safe, dimension), typeOf(labels).getShape());
  return e.select(isClass, taken, e.splatLike(taken, 0));
}

SmallVector<Value> CrossEntropyOp::decompose(OpBuilder &builder) {
  Expressions e{builder, getLoc()};
  Value x = getLogits();
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  int64_t dimension = getDimension(), classes = shape[dimension];
  double smoothing = getLabelSmoothing().convertToDouble();
  Value largest = e.reduce(ReduceKind::max, x, {dimension});
  Value shifted = e.sub(x, e.broadcastAlong(largest, shape, {dimension}));
  Value logSumExp = e.add(largest, e.log(e.sum(e.exp(shifted), {dimension})));
  LabelMasks masks = buildMasks(e, *this);
  Value picked = pickLabels(e, *this);
  Value losses = e.sub(logSumExp, picked);
  if (smoothing != 0) {
    Value mean = e.mul(e.sum(x, {dimension}), 1.0 / classes);
    losses = e.add(e.mul(losses, 1 - smoothing), e.mul(e.sub(logSumExp, mean), smoothing));
  }
  losses = e.select(masks.ignored, e.splatLike(losses, 0), losses);
  return {losses, logSumExp};
}

LogicalResult CrossEntropyOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                       ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  if (!wanted[0])
    return success();
  Expressions e{builder, getLoc()};
  Value x = getLogits();
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  int64_t dimension = getDimension(), classes = shape[dimension];
  auto spread = [&](Value value) { return e.broadcastAlong(value, shape, {dimension}); };
  Value softmax = e.exp(e.sub(x, spread(getLogSumExp())));
  Value total;
  if (Value g = resultGrads[0]) {
    double smoothing = getLabelSmoothing().convertToDouble();
    LabelMasks masks = buildMasks(e, *this);
    Value target = e.select(masks.oneHot, e.splatLike(x, 1 - smoothing + smoothing / classes),
                            e.splatLike(x, smoothing / classes));
    Value product = e.mul(e.sub(softmax, target), spread(g));
    // Select 0 for ignored rows. Multiplying by 0 would give NaN if a row has
    // infinities.
    total = e.select(spread(masks.ignored), e.splatLike(x, 0), product);
  }
  if (Value g = resultGrads[1]) {
    Value part = e.mul(softmax, spread(g));
    total = total ? e.add(total, part) : part;
  }
  grads[0] = total;
  return success();
}
