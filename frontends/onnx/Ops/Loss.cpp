//===- Loss.cpp - ONNX losses, dropout and attention ----------------------===//

#include "frontends/onnx/Registry.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// Reduces one loss an element by `reduction`; the mean is over the sum of
/// `weights`.
LogicalResult finishLoss(Conversion &c, Value losses, Value weights) {
  std::string reduction = c.stringAttr("reduction", "mean");
  if (reduction == "none")
    return c.done(losses);
  if (reduction != "mean" && reduction != "sum")
    return c.error("reduction '" + reduction +
                   "' is none of none, mean and sum");
  SmallVector<int64_t> all = range(0, rankOf(losses));
  Value total = c.e.sum(losses, all);
  return c.done(reduction == "sum" ? total
                                   : c.e.div(total, c.e.sum(weights, all)));
}

/// The weight of each label: of its class, 0 where it is ignored.
Value labelWeights(Conversion &c, Value labels, Type element, bool ignores,
                   int64_t ignored) {
  Value weights;
  Value safe = labels;
  Value isIgnored;
  if (ignores) {
    isIgnored = c.e.compare(nn::Comparison::eq, labels, double(ignored));
    safe = c.e.select(isIgnored, c.e.splatLike(labels, 0), labels);
  }
  auto type = RankedTensorType::get(shapeOf(labels), element);
  weights = c.has(2)
                ? Value(c.e.make<nn::GatherOp>(c.operand(2), safe, int64_t(0)))
                : c.e.splat(type, 1);
  return ignores ? c.e.select(isIgnored, c.e.splat(type, 0), weights) : weights;
}

LogicalResult checkLabels(Conversion &c, Value scores, Value labels) {
  SmallVector<int64_t> expected(shapeOf(scores));
  if (rankOf(scores) >= 2)
    expected.erase(expected.begin() + 1);
  Type element = nn::typeOf(labels).getElementType();
  if (rankOf(scores) < 2 || shapeOf(labels) != ArrayRef<int64_t>(expected))
    return c.error("scores " + printed(shapeOf(scores)) + " and labels " +
                   printed(shapeOf(labels)) + " do not match");
  if (!element.isSignlessInteger(32) && !element.isSignlessInteger(64))
    return c.error("labels must be INT32 or INT64");
  if (c.has(2) && (rankOf(c.operand(2)) != 1 ||
                   shapeOf(c.operand(2))[0] != shapeOf(scores)[1]))
    return c.error("weights have shape " + printed(shapeOf(c.operand(2))) +
                   " but there are " + Twine(shapeOf(scores)[1]) + " classes");
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
    c.setResult(
        1, c.e.make<nn::LogSoftmaxOp>(scores.getType(), scores, int64_t(1)));
  auto loss = c.e.make<nn::CrossEntropyOp>(scores, labels, int64_t(1), ignored,
                                           llvm::APFloat(0.0));
  // Without ignore_index every label counts; -100 is then out of range anyway.
  Value weights = labelWeights(c, labels, nn::typeOf(scores).getElementType(),
                               ignores, ignored);
  Value losses =
      c.has(2) ? c.e.mul(loss.getLosses(), weights) : Value(loss.getLosses());
  return finishLoss(c, losses, weights);
}

/// -log p of the label: one element of each row taken by index.
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
  Value taken = c.e.make<nn::GatherElementsOp>(
      scores, c.e.reshape(safe, column), int64_t(1));
  Value weights = labelWeights(c, labels, nn::typeOf(scores).getElementType(),
                               ignores, ignored);
  Value losses = c.e.mul(c.e.neg(c.e.reshape(taken, shapeOf(labels))), weights);
  return finishLoss(c, losses, weights);
}

/// In training mode nn.dropout, numbered by the node's place in the file; else
/// the input.
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
    int64_t ordinal = &c.node - c.graph().nodes.data();
    auto maskType = RankedTensorType::get(shapeOf(x), c.builder.getI1Type());
    auto dropout = c.e.make<nn::DropoutOp>(TypeRange{x.getType(), maskType}, x,
                                           llvm::APFloat(ratio), ordinal);
    c.setResult(0, dropout.getResult());
    c.setResult(1, dropout.getMask());
    return success();
  }
  c.setResult(0, x);
  if (c.wantsResult(1))
    c.setResult(
        1,
        c.e.splat(RankedTensorType::get(shapeOf(x), c.builder.getI1Type()), 1));
  return success();
}

/// [B, T, heads * d] to [B, heads, T, d].
Value splitHeads(Conversion &c, Value x, int64_t heads) {
  ArrayRef<int64_t> s = shapeOf(x);
  return c.e.transpose(c.e.reshape(x, {s[0], s[1], heads, s[2] / heads}),
                       {0, 2, 1, 3});
}

/// Grouped key and value heads repeated for the query heads that share them.
Value repeatHeads(Conversion &c, Value x, int64_t times) {
  ArrayRef<int64_t> s = shapeOf(x);
  if (times == 1)
    return x;
  return c.e.reshape(
      c.e.broadcast(x, {s[0], s[1], times, s[2], s[3]}, {0, 1, 3, 4}),
      {s[0], s[1] * times, s[2], s[3]});
}

/// softmax(q k^T scale + mask) v, without key-value cache.
LogicalResult convertAttention(Conversion &c) {
  Value q = c.operand(0), k = c.operand(1), v = c.operand(2);
  if (c.has(4) || c.has(5) || c.has(6))
    return c.error("a key-value cache (inputs 4 to 6) is not supported");
  for (unsigned i : {1u, 2u, 3u})
    if (c.wantsResult(i) && !c.graph().values[c.node.output(i)].uses.empty())
      return c.error("output " + Twine(i) + " is not supported");
  bool packed = rankOf(q) == 3;
  if (rankOf(q) != rankOf(k) || rankOf(q) != rankOf(v) ||
      (!packed && rankOf(q) != 4))
    return c.error("Q, K and V must all have rank 3 or all have rank 4");
  if (packed) {
    int64_t heads = c.requiredInt("q_num_heads"),
            groups = c.requiredInt("kv_num_heads");
    if (c.failed)
      return failure();
    if (heads < 1 || groups < 1 || shapeOf(q)[2] % heads ||
        shapeOf(k)[2] % groups || shapeOf(v)[2] % groups)
      return c.error("heads do not divide the last dimension of Q, K or V");
    q = splitHeads(c, q, heads);
    k = splitHeads(c, k, groups);
    v = splitHeads(c, v, groups);
  }
  ArrayRef<int64_t> qs = shapeOf(q), ks = shapeOf(k), vs = shapeOf(v);
  if (ks[1] < 1 || qs[1] % ks[1] || ks[1] != vs[1] || qs[0] != ks[0] ||
      qs[0] != vs[0] || ks[2] != vs[2] || qs[3] != ks[3])
    return c.error("Q " + printed(qs) + ", K " + printed(ks) + " and V " +
                   printed(vs) + " do not match");
  int64_t times = qs[1] / ks[1];
  k = repeatHeads(c, k, times);
  v = repeatHeads(c, v, times);
  double scale = c.floatAttr("scale", 1 / std::sqrt(double(qs[3]))),
         softcap = c.floatAttr("softcap", 0);
  Value scores = c.e.mul(c.e.dot(q, k, {0, 1}, {0, 1}, {3}, {3}), scale);
  if (softcap > 0)
    scores =
        c.e.mul(c.e.make<nn::TanhOp>(c.e.mul(scores, 1 / softcap)), softcap);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (c.has(3)) {
    Value mask = c.broadcastTo(c.operand(3), shapeOf(scores));
    if (!mask)
      return failure();
    scores = nn::typeOf(mask).getElementType().isInteger(1)
                 ? c.e.select(mask, scores, c.e.splatLike(scores, -infinity))
                 : c.e.add(scores, mask);
  }
  if (c.intAttr("is_causal", 0)) {
    auto index = RankedTensorType::get(shapeOf(scores), c.builder.getI64Type());
    Value row = c.e.make<nn::IotaOp>(index, int64_t(2)),
          column = c.e.make<nn::IotaOp>(index, int64_t(3));
    scores = c.e.select(c.e.compare(nn::Comparison::le, column, row), scores,
                        c.e.splatLike(scores, -infinity));
  }
  if (c.failed)
    return failure();
  Value weights = c.e.make<nn::SoftmaxOp>(scores.getType(), scores, int64_t(3));
  Value result = c.e.dot(weights, v, {0, 1}, {0, 1}, {3}, {2});
  if (packed) {
    ArrayRef<int64_t> s = shapeOf(result);
    result = c.e.reshape(c.e.transpose(result, {0, 2, 1, 3}),
                         {s[0], s[2], s[1] * s[3]});
  }
  return c.done(result);
}

} // namespace

void dpc::onnx::registerLossOps(Registry &registry) {
  registry.add({"SoftmaxCrossEntropyLoss", convertCrossEntropy, 2, 3, 2});
  registry.add(
      {"NegativeLogLikelihoodLoss", convertNegativeLogLikelihood, 2, 3});
  registry.add({"Dropout", convertDropout, 1, 3, 2});
  registry.add({"Attention", convertAttention, 3, 7, 4, 23});
}
