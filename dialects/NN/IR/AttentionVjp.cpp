// Decomposes nn.attention and nn.attention_grad into core ops, and builds the
// gradient of nn.attention.

#include "dialects/NN/IR/Attention.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/SumTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

namespace {
/// Builds the steps of an attention from core ops. Scores, and all values of the
/// shape of scores, have the dimensions [batch.., queries, keys] and the element
/// type of sums.
template <typename Op> struct AttentionExpressions {
  Expressions e;
  Op op;
  AttentionShape shape = op.getAttentionShape();
  int64_t batches = shape.batch.size();
  /// The element type of q, k and v, and the type in which their elements are
  /// summed.
  Type element = typeOf(op.getQ()).getElementType(), sum = accumulatorType(element);

  SmallVector<int64_t> scoreBatch() const {
    return llvm::to_vector(llvm::seq<int64_t>(0, batches));
  }

  /// The products of each row of `x` with each row of `y`: [batch.., rows of x,
  /// rows of y].
  Value products(Value x, Value y) {
    int64_t last = shape.rank() - 1;
    return e.dot(x, y, shape.operandBatch(), shape.operandBatch(), {last}, {last}, sum);
  }

  /// Sums the rows of `x`, weighted along dimension `contracted` of `weights`, and
  /// multiplies the sums by `scale`. The result has the dimensions of an operand
  /// and the element type `type`.
  Value weighted(Value weights, int64_t contracted, Value x, Type type, double scale = 1) {
    Value sums = e.dot(e.convert(weights, element), x, scoreBatch(), shape.operandBatch(),
                       {contracted}, {shape.rows}, sum);
    SmallVector<int64_t> permutation = scoreBatch();
    permutation.insert(permutation.begin() + shape.rows, batches);
    permutation.push_back(batches + 1);
    Value rows = e.transpose(sums, permutation);
    return e.convert(scale == 1 ? rows : e.mul(rows, scale), type);
  }

  Value scores() {
    SmallVector<int64_t> extents = shape.scores();
    double scale = op.getScale().convertToDouble();
    Value scores = e.mul(products(op.getQ(), op.getK()), scale);
    if (Value mask = op.getMask())
      scores = e.add(scores, e.broadcast(e.convert(mask, sum), extents, op.getMaskDimensions()));
    if (!op.getCausal())
      return scores;
    auto numbers = RankedTensorType::get(extents, e.builder.getI64Type());
    Value query = e.make<IotaOp>(numbers, batches), key = e.make<IotaOp>(numbers, batches + 1);
    Value visible = e.compare(Comparison::le, key, e.add(query, double(shape.offset())));
    return e.select(visible, scores, e.splatLike(scores, -std::numeric_limits<double>::infinity()));
  }

  /// Broadcasts `rows`, which has one value per row of the scores, along the keys.
  Value alongKeys(Value rows) { return e.broadcastAlong(rows, shape.scores(), {batches + 1}); }

  Value guard(Value probabilities) {
    if (!op.getGuarded())
      return probabilities;
    Value isNan = e.make<IsNanOp>(RankedTensorType::get(shape.scores(), e.builder.getI1Type()),
                                  probabilities);
    return e.select(isNan, e.splatLike(probabilities, 0), probabilities);
  }

  Value probabilities(Value logSumExp) {
    Value p = e.exp(e.sub(scores(), alongKeys(logSumExp)));
    return guard(e.div(p, alongKeys(e.sum(p, {batches + 1}))));
  }

  Value scoreGrads(Value probabilities, Value resultGrad, Value delta) {
    return e.mul(probabilities, e.sub(products(resultGrad, op.getV()), alongKeys(delta)));
  }
};
} // namespace

SmallVector<Value> AttentionOp::decompose(OpBuilder &builder) {
  AttentionExpressions<AttentionOp> a{{builder, getLoc()}, *this};
  Expressions e = a.e;
  int64_t keys = a.batches + 1;
  Value scores = a.scores(), largest = e.reduce(ReduceKind::max, scores, {keys});
  Value exponentials = e.exp(e.sub(scores, a.alongKeys(largest)));
  Value sum = e.sum(exponentials, {keys});
  Value probabilities = a.guard(e.div(exponentials, a.alongKeys(sum)));
  return {a.weighted(probabilities, keys, getV(), typeOf(getResult()).getElementType()),
          e.add(largest, e.log(sum))};
}

SmallVector<Value> AttentionGradOp::decompose(OpBuilder &builder) {
  AttentionExpressions<AttentionGradOp> a{{builder, getLoc()}, *this};
  int64_t queries = a.batches, keys = a.batches + 1;
  double scale = getScale().convertToDouble();
  Value p = a.probabilities(getLogSumExp());
  Value ds = a.scoreGrads(p, getResultGrad(), getDelta());
  return {a.weighted(ds, keys, getK(), a.element, scale),
          a.weighted(ds, queries, getQ(), a.element, scale),
          a.weighted(p, queries, getResultGrad(), a.element)};
}

LogicalResult AttentionOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                    ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  AttentionExpressions<AttentionOp> a{{builder, getLoc()}, *this};
  Expressions e = a.e;
  Value g = resultGrads[0], delta;
  if (g) {
    g = e.convert(g, a.element);
    // `sums` has the dimensions of an operand without the last. Permute them to
    // [batch.., queries].
    Value wide = e.convert(g, a.sum), result = e.convert(getResult(), a.sum);
    Value sums = e.sum(e.mul(wide, result), {a.shape.rank() - 1});
    SmallVector<int64_t> permutation = a.shape.operandBatch();
    permutation.push_back(a.shape.rows);
    delta = e.transpose(sums, permutation);
  } else {
    g = e.convert(e.splatLike(getResult(), 0), a.element);
    delta = e.splatLike(getLogSumExp(), 0);
  }
  if (Value ofSums = resultGrads[1])
    delta = e.sub(delta, ofSums);
  if (wanted[0] || wanted[1] || wanted[2]) {
    auto op = e.make<AttentionGradOp>(getQ(), getK(), getV(), getLogSumExp(), delta, g, getMask(),
                                      getMaskDimensions(), getRows(), getScale(), getCausal(),
                                      getGuarded());
    for (unsigned i = 0; i < 3; ++i)
      if (wanted[i])
        grads[i] = op->getResult(i);
  }
  if (getMask() && wanted[3]) {
    Value ds = a.scoreGrads(a.probabilities(getLogSumExp()), g, delta);
    SmallVector<int64_t> others;
    for (int64_t d = 0; d < a.batches + 2; ++d)
      if (!llvm::is_contained(getMaskDimensions(), d))
        others.push_back(d);
    grads[3] = e.convert(e.sum(ds, others), typeOf(getMask()).getElementType());
  }
  return success();
}
