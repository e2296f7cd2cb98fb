// Builds the metrics that evaluation reports in addition to the loss: the share of right answers,
// perplexity, and means of outputs. Padding samples do not count, except in an output that is one
// number per batch. Ignored labels do not count in metrics of labels.

#include "passes/Autodiff/Metrics.h"
#include "passes/Autodiff/SampleDim.h"

#include "dialects/NN/IR/Indexing.h"
#include "dialects/NN/IR/Loss.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

/// Builds the mean of `terms` (i1, of the labels' shape) over the labels that count.
static Value meanOverLabels(Expressions e, Value terms, const EvaluatedLoss &loss) {
  if (loss.value.counts)
    terms = e.make<AndOp>(terms, loss.value.counts);
  Type element = typeOf(loss.value.loss).getElementType();
  return e.div(sumAll(e, e.convert(terms, element)), loss.value.count);
}

/// Builds the share of labels that equal the class with the largest logit. If several logits are
/// the largest, the first of them decides.
static Value buildAccuracy(Expressions e, const EvaluatedLoss &loss) {
  auto type = RankedTensorType::get(typeOf(loss.value.label).getShape(), e.builder.getI64Type());
  Value guess = e.make<ArgReduceOp>(type, ReduceKind::max, loss.output, loss.classAxis,
                                    /*selectLast=*/false);
  // meanOverLabels masks ignored labels. Without the mask, an ignored label could count as a right
  // answer, because `ignoreIndex` may be the number of a class.
  return meanOverLabels(e, e.compare(Comparison::eq, guess, loss.value.label), loss);
}

constexpr int64_t kTop = 5;

/// Builds the share of labels whose class is among the five classes with the largest logits. A
/// class comes before the class of the label if its logit is larger, or if its logit is equal and
/// its index is lower. A NaN logit counts as infinity. The classes that come before the class of
/// the label are counted by a sum over the classes. Unlike a sort, a sum also works if the classes
/// are sharded.
static Value buildTop5(Expressions e, const EvaluatedLoss &loss) {
  ArrayRef<int64_t> shape = typeOf(loss.output).getShape();
  const int64_t axis = loss.classAxis;
  Value infinite = e.splatLike(loss.output, std::numeric_limits<double>::infinity());
  Value isNumber = e.compare(Comparison::le, loss.output, infinite);
  Value logits = e.select(isNumber, loss.output, infinite);
  auto indexType = RankedTensorType::get(shape, e.builder.getI64Type());
  Value index = e.make<IotaOp>(indexType, axis);
  Value label = e.broadcastAlong(loss.value.label, shape, {axis});
  Value isLabel = e.compare(Comparison::eq, index, label);
  Value own = e.sum(e.select(isLabel, logits, e.splatLike(logits, 0)), {axis});
  own = e.broadcastAlong(own, shape, {axis});
  Value isEqual = e.compare(Comparison::eq, logits, own);
  Value isEarlier = e.make<AndOp>(isEqual, e.compare(Comparison::lt, index, label));
  Value isLarger = e.compare(Comparison::gt, logits, own);
  Value isBefore = e.make<OrOp>(isLarger, isEarlier);
  Value count = e.sum(e.convert(isBefore, e.builder.getI64Type()), {axis});
  return meanOverLabels(e, e.compare(Comparison::lt, count, double(kTop)), loss);
}

/// Builds exp of the mean cross-entropy, without label smoothing. If the loss has label smoothing,
/// a second cross-entropy is built for the metric.
static Value buildPerplexity(Expressions e, const EvaluatedLoss &loss) {
  if (loss.options.labelSmoothing == 0)
    return e.exp(loss.value.loss);
  auto entropy = e.make<CrossEntropyOp>(
      loss.output, loss.value.label, e.builder.getI64IntegerAttr(loss.classAxis),
      e.builder.getI64IntegerAttr(loss.options.ignoreIndex), e.builder.getF64FloatAttr(0));
  return e.exp(e.div(sumAll(e, entropy.getLosses()), loss.value.count));
}

/// Builds the share of right binary answers. The guess is 1 if the logit is positive, and the true
/// answer is 1 if the label is above 0.5.
static Value buildBinaryAccuracy(Expressions e, const EvaluatedLoss &loss) {
  Value guess = e.compare(Comparison::gt, loss.output, 0.0);
  Value truth = e.compare(Comparison::gt, loss.value.label, 0.5);
  return meanOverLabels(e, e.compare(Comparison::eq, guess, truth), loss);
}

namespace {
/// A metric that is computed from the output and the labels of a loss.
struct MetricRule {
  StringLiteral name, key, kind; ///< name in options, name in the log, and the loss that it needs
  MetricMean mean;
  Value (*build)(Expressions, const EvaluatedLoss &);
  StringLiteral needs; ///< for messages: the property of the loss that the metric needs
  int64_t leastClasses;
};

constexpr MetricRule rules[] = {
    {"accuracy", "accuracy", "cross-entropy", MetricMean::labels, buildAccuracy,
     "a loss that has classes", 0},
    {"top-5", "top_5", "cross-entropy", MetricMean::labels, buildTop5, "a loss that has classes",
     kTop + 1},
    {"binary-accuracy", "binary_accuracy", "bce-with-logits", MetricMean::labels,
     buildBinaryAccuracy, "a loss of logits that are each of two classes", 0},
    {"perplexity", "perplexity", "cross-entropy", MetricMean::geometric, buildPerplexity,
     "the cross-entropies", 0},
};
} // namespace

static const MetricRule *findRule(StringRef name) {
  const MetricRule *found = llvm::find_if(rules, [&](auto &rule) { return rule.name == name; });
  return found == std::end(rules) ? nullptr : found;
}

std::string dpc::findMetricDefect(StringRef name, StringRef kind) {
  if (name.starts_with("output:"))
    return "";
  const MetricRule *rule = findRule(name);
  if (!rule) {
    std::string known;
    for (const MetricRule &each : rules)
      known += (each.name + ", ").str();
    return ("unknown metric '" + name + "'; known: " + known + "output:NAME").str();
  }
  if (rule->kind == kind)
    return "";
  return (name + " needs " + rule->needs + ", --loss=" + rule->kind + ", not --loss=" + kind).str();
}

std::string dpc::getOutputNames(func::FuncOp function) {
  std::string names;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (ResultAttr attr = nn::getResult(function, i); attr && attr.getKind() == ResultKind::output)
      names += (names.empty() ? "" : ", ") + attr.getName().str();
  return names;
}

/// Builds the mean of an output. If the output is one number per batch, the metric is this number,
/// and the host averages the numbers of batches. Otherwise the metric is the mean over the samples
/// that count and over all other dimensions.
static FailureOr<MetricValue> buildOutputMean(func::FuncOp function, OpBuilder &builder,
                                              StringRef name, const EvaluatedLoss &loss) {
  Value output;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (ResultAttr attr = nn::getResult(function, i);
        attr && attr.getKind() == ResultKind::output && attr.getName() == name.substr(7))
      output = function.front().getTerminator()->getOperand(i);
  if (!output)
    return function.emitError("metric ")
               << name << ": the graph has no such output; it has " << getOutputNames(function),
           failure();
  RankedTensorType type = typeOf(output);
  Type element = typeOf(loss.value.loss).getElementType();
  Expressions e{builder, output.getLoc()};
  if (type.getNumElements() == 1)
    return MetricValue{name.str(), e.convert(e.reshape(output, {}), element), MetricMean::batches};
  const int64_t batch = getBatch(function).value_or(0);
  const int64_t dim = findSampleDim(function, output, /*except=*/-1).value_or(0);
  if (dim >= type.getRank() || batch == 0 || type.getDimSize(dim) != batch ||
      !type.getNumElements())
    return function.emitError("metric ")
               << name << ": output has type " << type
               << ", which is neither one number nor has a sample in each row of a batch of "
               << batch,
           failure();
  Value terms = e.convert(output, element);
  Value rows = e.splat(RankedTensorType::get({}, element), batch);
  if (loss.validRows) {
    Value valid = rowIsValid(e, type.getShape(), loss.validRows, dim);
    terms = e.select(valid, terms, e.splatLike(terms, 0));
    rows = e.convert(loss.validRows, element);
  }
  const int64_t rowElements = type.getNumElements() / batch;
  Value mean = e.div(sumAll(e, terms), e.mul(rows, double(rowElements)));
  return MetricValue{name.str(), mean, MetricMean::samples};
}

FailureOr<MetricValue> dpc::buildMetric(func::FuncOp function, OpBuilder &builder, StringRef name,
                                        const EvaluatedLoss &loss) {
  if (const std::string defect = findMetricDefect(name, loss.kind); !defect.empty())
    return function.emitError(defect), failure();
  if (name.starts_with("output:"))
    return buildOutputMean(function, builder, name, loss);
  const MetricRule &rule = *findRule(name);
  if (loss.classAxis >= 0)
    if (const int64_t classes = typeOf(loss.output).getDimSize(loss.classAxis);
        classes < rule.leastClasses)
      return function.emitError("metric ")
                 << name << " needs at least " << rule.leastClasses << " classes, but output "
                 << loss.outputName << " has " << classes << " along axis " << loss.classAxis,
             failure();
  Expressions e{builder, loss.value.loss.getLoc()};
  return MetricValue{rule.key.str(), rule.build(e, loss), rule.mean};
}
