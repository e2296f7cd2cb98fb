// Imports ONNX batch normalisation.

#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Model/ExporterMetadata.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// The operands of a node, converted to one element type. In the file, three types may
/// differ: that of the input, that of scale and bias, and that of the statistics.
struct BatchNorm {
  /// [N, C, ..]; an input of rank 1 has one channel.
  Value x, scale, bias, mean, variance;
  double epsilon, momentum;
  bool training;
};

/// Whether the node is in training mode. From opset 14 on, an attribute says so; the node
/// has three results in training mode and one otherwise. Before opset 14, a node with
/// five results is in training mode, and a node with one result is not. nullopt after an
/// error.
std::optional<bool> readTraining(Conversion &c) {
  size_t results = c.node.outputs.size();
  bool saves = c.node.opset < 14, training = saves ? results > 1 : c.intAttr("training_mode") != 0;
  size_t expected = !training ? 1 : saves ? 5 : 3;
  if (results == expected)
    return training;
  (void)c.error(
      "has " + Twine(results) + " outputs but must have " +
      (saves ? Twine("1 or 5") : Twine(expected) + " with training_mode " + Twine(int(training))));
  return std::nullopt;
}

/// The widest element type of the operands.
Type widestType(Conversion &c) {
  auto widest = cast<FloatType>(nn::typeOf(c.operand(0)).getElementType());
  for (unsigned i = 1; i < 5; ++i) {
    auto type = cast<FloatType>(nn::typeOf(c.operand(i)).getElementType());
    if (type.getWidth() > widest.getWidth())
      widest = type;
    else if (type.getWidth() == widest.getWidth() && type != widest)
      widest = c.builder.getF32Type(); // no 16-bit type holds both F16 and BF16
  }
  return widest;
}

/// If operand `i` (3 or 4) is a running statistic: the initializer that holds it. The
/// operand may be the initializer itself, or its value after updates by earlier nodes.
/// kNoValue for any other operand.
ValueId findStatistic(const Graph &graph, const Node &node, unsigned i) {
  ValueId value = node.input(i);
  while (!graph.initializerOf(value)) {
    const Node *maker = graph.makerOf(value);
    if (!maker || !maker->is("BatchNormalization") || maker->output(i - 2) != value)
      return kNoValue;
    value = maker->input(i);
  }
  return value;
}

/// The value of operand `i`, a running statistic, after the updates by earlier nodes;
/// null if no node has updated it, or if the operand is no running statistic.
Value findMoved(Conversion &c, unsigned i) {
  ValueId held = findStatistic(c.graph(), c.node, i);
  return held == kNoValue ? Value() : c.getNextState(held);
}

/// The running statistic that a node in training mode updates. If a module is called
/// several times, the file may let all its nodes read the initializer. Each node must
/// then start from the statistic that the previous node has updated.
Value readStatistic(Conversion &c, unsigned i) {
  Value moved = findMoved(c, i);
  if (!moved)
    return c.operand(i);
  if (!c.graph().initializerOf(c.node.input(i)) && moved != c.operand(i))
    (void)c.error("input " + Twine(i) +
                  " is a running statistic as it was before another node moved it");
  return moved;
}

std::optional<BatchNorm> readBatchNorm(Conversion &c) {
  ArrayRef<int64_t> shape = shapeOf(c.operand(0));
  if (shape.empty()) {
    (void)c.error("input has rank 0 but must have 1 or more");
    return std::nullopt;
  }
  int64_t channels = shape.size() == 1 ? 1 : shape[1];
  for (unsigned i = 1; i < 5; ++i)
    if (shapeOf(c.operand(i)) != ArrayRef<int64_t>{channels}) {
      (void)c.error("input " + Twine(i) + " has shape " + printed(shapeOf(c.operand(i))) +
                    " but must have [" + Twine(channels) + "]");
      return std::nullopt;
    }
  std::optional<bool> training = readTraining(c);
  if (!training)
    return std::nullopt;
  Type type = widestType(c);
  auto operand = [&](unsigned i) {
    Value value = *training && i >= 3 ? readStatistic(c, i) : c.operand(i);
    return c.e.convert(value, type);
  };
  BatchNorm norm{operand(0),
                 operand(1),
                 operand(2),
                 operand(3),
                 operand(4),
                 c.floatAttr("epsilon"),
                 c.floatAttr("momentum"),
                 *training};
  if (shape.size() == 1)
    norm.x = c.e.reshape(norm.x, {shape[0], 1});
  return c.failed ? std::nullopt : std::optional(norm);
}

/// x * scale + bias per channel, in the shape and type of the input.
Value finish(Conversion &c, const BatchNorm &norm, Value x) {
  ArrayRef<int64_t> shape = shapeOf(x);
  Value y = c.e.add(c.e.mul(x, c.e.broadcast(norm.scale, shape, {1})),
                    c.e.broadcast(norm.bias, shape, {1}));
  RankedTensorType given = nn::typeOf(c.operand(0));
  return c.e.reshape(c.e.convert(y, given.getElementType()), given.getShape());
}

/// Sets `result`, a statistic, to `value`, converted to the type of the running
/// statistics.
void setStatistic(Conversion &c, unsigned result, Value value) {
  c.setResult(result, c.e.convert(value, nn::typeOf(c.operand(3)).getElementType()));
}

nn::NormalizeOp normalizeBatch(Conversion &c, const BatchNorm &norm) {
  SmallVector<int64_t> dimensions = range(2, rankOf(norm.x));
  dimensions.insert(dimensions.begin(), 0);
  return c.e.make<nn::NormalizeOp>(norm.x, dimensions, llvm::APFloat(norm.epsilon), false);
}

/// Normalizes by the statistics of the batch. Results 1 and 2 are the statistics that the
/// node reads (operands 3 and 4), updated by those of the batch. No state is kept.
LogicalResult normalizeByBatch(Conversion &c, const BatchNorm &norm, bool unbiased) {
  nn::NormalizeOp normal = normalizeBatch(c, norm);
  auto moved = [&](Value statistic, Value of, double factor) {
    return c.e.add(c.e.mul(statistic, norm.momentum), c.e.mul(of, (1 - norm.momentum) * factor));
  };
  double count = double(normal.getReducedCount());
  setStatistic(c, 1, moved(norm.mean, normal.getMean(), 1));
  setStatistic(
      c, 2,
      moved(norm.variance, normal.getVariance(), unbiased ? count / std::max(count - 1, 1.0) : 1));
  return c.done(finish(c, norm, normal.getResult()));
}

/// Computes (x - mean) / sqrt(variance + epsilon) * scale + bias, with the running
/// statistics as mean and variance.
LogicalResult normalizeByRunning(Conversion &c, BatchNorm norm) {
  // PyTorch updates the statistics in place, without a gradient.
  for (auto [i, statistic] : {std::pair(3u, &norm.mean), std::pair(4u, &norm.variance)})
    if (Value moved = exporterOf(c.graph()) == Exporter::Other ? Value() : findMoved(c, i))
      *statistic =
          c.e.convert(c.e.make<nn::StopGradientOp>(moved), nn::typeOf(*statistic).getElementType());
  ArrayRef<int64_t> shape = shapeOf(norm.x);
  Value deviation = c.e.rsqrt(c.e.add(norm.variance, norm.epsilon)),
        centred = c.e.sub(norm.x, c.e.broadcast(norm.mean, shape, {1}));
  return c.done(finish(c, norm, c.e.mul(centred, c.e.broadcast(deviation, shape, {1}))));
}

/// A node in training mode becomes nn.batch_norm, whose new statistics are the next
/// values of the buffers in operands 3 and 4. If neither operand is a buffer (both are
/// inputs or computed values), no state is kept, and the statistics of the batch are
/// used in training and in evaluation. A module that is called several times updates its
/// statistics at each call. PyTorch updates the running variance with the unbiased
/// variance of the batch.
LogicalResult convertBatchNorm(Conversion &c) {
  std::optional<BatchNorm> norm = readBatchNorm(c);
  if (!norm)
    return failure();
  if (!norm->training)
    return normalizeByRunning(c, *norm);
  if (nn::typeOf(norm->x).getNumElements() == 0)
    return c.error("shape " + printed(shapeOf(norm->x)) + " is empty");
  // Before opset 14, results 3 and 4 are the statistics of the batch.
  if (c.wantsResult(3) || c.wantsResult(4)) {
    nn::NormalizeOp batch = normalizeBatch(c, *norm);
    setStatistic(c, 3, batch.getMean());
    setStatistic(c, 4, batch.getVariance());
  }
  bool unbiased = exporterOf(c.graph()) != Exporter::Other;
  const ValueId mean = findStatistic(c.graph(), c.node, 3),
                variance = findStatistic(c.graph(), c.node, 4);
  if (mean == kNoValue && variance == kNoValue)
    return normalizeByBatch(c, *norm, unbiased);
  Type channel = norm->scale.getType();
  auto op = c.e.make<nn::BatchNormOp>(
      TypeRange{norm->x.getType(), channel, channel}, norm->x, norm->scale, norm->bias, norm->mean,
      norm->variance, llvm::APFloat(norm->epsilon), llvm::APFloat(norm->momentum), unbiased);
  RankedTensorType given = nn::typeOf(c.operand(0));
  c.setResult(0,
              c.e.reshape(c.e.convert(op->getResult(0), given.getElementType()), given.getShape()));
  for (unsigned i : {1u, 2u})
    setStatistic(c, i, op->getResult(i));
  for (auto [i, held] : {std::pair(1u, mean), std::pair(2u, variance)})
    if (held != kNoValue)
      c.setNextState(held, c.results[i]);
  return success();
}

} // namespace

void dpc::onnx::registerBatchNormOps(Registry &registry) {
  registry.add("BatchNormalization", convertBatchNorm);
}
