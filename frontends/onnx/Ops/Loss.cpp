// Imports ONNX losses and dropout.

#include "frontends/onnx/Import/Registry.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// Reduces the losses of all elements as attribute `reduction` says. A mean is the sum
/// divided by the sum of `weights`.
LogicalResult finishLoss(Conversion &c, Value losses, Value weights) {
  std::string reduction = c.stringAttr("reduction", "mean");
  if (reduction == "none")
    return c.done(losses);
  if (reduction != "mean" && reduction != "sum")
    return c.error("reduction '" + reduction + "' is none of none, mean and sum");
  SmallVector<int64_t> all = range(0, rankOf(losses));
  Value total = c.e.sum(losses, all);
  return c.done(reduction == "sum" ? total : c.e.div(total, c.e.sum(weights, all)));
}

/// The weight of each label: the weight of its class (1 if the node has no
/// weights), or 0 if the label is ignored.
Value labelWeights(Conversion &c, Value labels, Type element, bool ignores, int64_t ignored) {
  Value weights;
  Value safe = labels;
  Value isIgnored;
  if (ignores) {
    isIgnored = c.e.compare(nn::Comparison::eq, labels, double(ignored));
    safe = c.e.select(isIgnored, c.e.splatLike(labels, 0), labels);
  }
  auto type = RankedTensorType::get(shapeOf(labels), element);
  weights =
      c.has(2) ? Value(c.e.make<nn::GatherOp>(c.operand(2), safe, int64_t(0))) : c.e.splat(type, 1);
  return ignores ? c.e.select(isIgnored, c.e.splat(type, 0), weights) : weights;
}

LogicalResult checkLabels(Conversion &c, Value scores, Value labels) {
  SmallVector<int64_t> expected(shapeOf(scores));
  if (rankOf(scores) >= 2)
    expected.erase(expected.begin() + 1);
  if (rankOf(scores) < 2 || shapeOf(labels) != ArrayRef<int64_t>(expected))
    return c.error("scores " + printed(shapeOf(scores)) + " and labels " +
                   printed(shapeOf(labels)) + " do not match");
  if (c.has(2) && (rankOf(c.operand(2)) != 1 || shapeOf(c.operand(2))[0] != shapeOf(scores)[1]))
    return c.error("weights have shape " + printed(shapeOf(c.operand(2))) + " but there are " +
                   Twine(shapeOf(scores)[1]) + " classes");
  return success();
}

LogicalResult convertCrossEntropy(Conversion &c) {
  Value scores = c.operand(0), labels = c.operand(1);
  if (failed(checkLabels(c, scores, labels)))
    return failure();
  bool ignores = c.hasAttr("ignore_index");
  int64_t ignored = c.intAttr("ignore_index", -100);
  if (c.failed)
    return failure();
  if (c.wantsResult(1))
    c.setResult(1, c.e.make<nn::LogSoftmaxOp>(scores.getType(), scores, int64_t(1)));
  auto loss = c.e.make<nn::CrossEntropyOp>(scores, labels, int64_t(1), ignored, llvm::APFloat(0.0));
  // Without ignore_index every label counts. The default -100 of nn.cross_entropy ignores
  // nothing then, because it is not a valid class.
  Value weights = labelWeights(c, labels, nn::typeOf(scores).getElementType(), ignores, ignored);
  Value losses = c.has(2) ? c.e.mul(loss.getLosses(), weights) : Value(loss.getLosses());
  return finishLoss(c, losses, weights);
}

/// Converts NegativeLogLikelihoodLoss: gathers the negated element of the label from each
/// row of log-probabilities.
LogicalResult convertNegativeLogLikelihood(Conversion &c) {
  Value scores = c.operand(0), labels = c.operand(1);
  if (failed(checkLabels(c, scores, labels)))
    return failure();
  bool ignores = c.hasAttr("ignore_index");
  int64_t ignored = c.intAttr("ignore_index", -100);
  if (c.failed)
    return failure();
  Value safe = labels;
  if (ignores)
    safe = c.e.select(c.e.compare(nn::Comparison::eq, labels, double(ignored)),
                      c.e.splatLike(labels, 0), labels);
  SmallVector<int64_t> column(shapeOf(labels));
  column.insert(column.begin() + 1, 1);
  Value taken = c.e.make<nn::GatherElementsOp>(scores, c.e.reshape(safe, column), int64_t(1));
  Value weights = labelWeights(c, labels, nn::typeOf(scores).getElementType(), ignores, ignored);
  Value losses = c.e.mul(c.e.neg(c.e.reshape(taken, shapeOf(labels))), weights);
  return finishLoss(c, losses, weights);
}

/// Converts Dropout: in training mode with a ratio above 0 to nn.dropout with
/// the next random stream, otherwise to its input.
LogicalResult convertDropout(Conversion &c) {
  Value x = c.operand(0);
  double ratio = 0.5;
  if (c.has(1)) {
    auto known = c.tryDoubles(1);
    if (!known || known->size() != 1)
      return c.error("ratio must be a scalar known at compile time");
    ratio = known->front();
  }
  if (!(ratio >= 0 && ratio < 1))
    return c.error("ratio must lie in [0, 1)");
  bool training = c.has(2) && c.scalarInt(2, "training_mode") != 0;
  if (c.failed)
    return failure();
  if (training && ratio > 0) {
    auto maskType = RankedTensorType::get(shapeOf(x), c.builder.getI1Type());
    auto dropout = c.e.make<nn::DropoutOp>(TypeRange{x.getType(), maskType}, x,
                                           llvm::APFloat(ratio), c.randomStream());
    c.setResult(0, dropout.getResult());
    c.setResult(1, dropout.getMask());
    return success();
  }
  c.setResult(0, x);
  if (c.wantsResult(1))
    c.setResult(1, c.e.splat(RankedTensorType::get(shapeOf(x), c.builder.getI1Type()), 1));
  return success();
}

} // namespace

void dpc::onnx::registerLossOps(Registry &registry) {
  registry.add("SoftmaxCrossEntropyLoss", convertCrossEntropy);
  registry.add("NegativeLogLikelihoodLoss", convertNegativeLogLikelihood);
  registry.add("Dropout", convertDropout);
}
