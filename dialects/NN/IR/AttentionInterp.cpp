// Interpreter rules of nn.attention and nn.attention_grad.

#include "dialects/NN/IR/Attention.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

namespace {
/// Computes with the operands of one batch element, which are matrices of rows.
class AttentionReference {
public:
  AttentionReference(const AttentionShape &shape, ArrayRef<int64_t> index, double scale,
                     bool guarded)
      : shape(shape), index(index), scale(scale), guarded(guarded) {}

  /// The offset of the first element of row `row` in a tensor with `rowCount` rows
  /// of `elements` elements.
  int64_t rowAt(int64_t rowCount, int64_t elements, int64_t row) const {
    SmallVector<int64_t> at(index);
    at.insert(at.begin() + shape.rows, row);
    at.push_back(0);
    return linearize(at, rowMajorStrides(shape.operand(rowCount, elements)));
  }
  /// The row-major number of a query among the queries of all batch elements.
  int64_t queryAt(int64_t query) const {
    return linearize(index, rowMajorStrides(shape.batch)) * shape.queries + query;
  }

  static double dot(const double *x, const double *y, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum += x[i] * y[i];
    return sum;
  }

  /// The scores of one query for all keys.
  std::vector<double> scores(const HostTensor &q, const HostTensor &k, const HostTensor *mask,
                             ArrayRef<int64_t> maskDimensions, int64_t query) const {
    std::vector<double> s(shape.keys);
    const double *row = q.floats.data() + rowAt(shape.queries, shape.depth, query);
    SmallVector<int64_t> at(index);
    at.append({query, 0});
    for (int64_t key = 0; key < shape.keys; ++key) {
      s[key] = scale * dot(row, k.floats.data() + rowAt(shape.keys, shape.depth, key), shape.depth);
      at.back() = key;
      if (mask) {
        SmallVector<int64_t> own;
        for (int64_t d : maskDimensions)
          own.push_back(at[d]);
        s[key] += mask->floats[linearize(own, rowMajorStrides(mask->getShape()))];
      }
      if (shape.causal && key > query + shape.offset())
        s[key] = -std::numeric_limits<double>::infinity();
    }
    return s;
  }

  double guard(double p) const { return guarded && std::isnan(p) ? 0 : p; }

private:
  const AttentionShape &shape;
  ArrayRef<int64_t> index;
  double scale;
  bool guarded;
};
} // namespace

LogicalResult AttentionOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                     MutableArrayRef<HostTensor> out) {
  AttentionShape shape = getAttentionShape();
  const HostTensor *mask = getMask() ? in[3] : nullptr;
  forEachIndex(shape.batch, [&](ArrayRef<int64_t> index) {
    AttentionReference r(shape, index, getScale().convertToDouble(), getGuarded());
    for (int64_t i = 0; i < shape.queries; ++i) {
      std::vector<double> s = r.scores(*in[0], *in[1], mask, getMaskDimensions(), i);
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (double score : s)
        largest = std::max(largest, score);
      for (double score : s)
        sum += std::exp(score - largest);
      out[1].floats[r.queryAt(i)] = largest + std::log(sum);
      double *to = out[0].floats.data() + r.rowAt(shape.queries, shape.valueDepth, i);
      for (int64_t j = 0; j < shape.keys; ++j) {
        double p = r.guard(std::exp(s[j] - largest) / sum);
        const double *v = in[2]->floats.data() + r.rowAt(shape.keys, shape.valueDepth, j);
        for (int64_t d = 0; d < shape.valueDepth; ++d)
          to[d] += p * v[d];
      }
    }
  });
  return success();
}

LogicalResult AttentionGradOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                         MutableArrayRef<HostTensor> out) {
  AttentionShape shape = getAttentionShape();
  const HostTensor *mask = getMask() ? in[6] : nullptr;
  const double scale = getScale().convertToDouble();
  forEachIndex(shape.batch, [&](ArrayRef<int64_t> index) {
    AttentionReference r(shape, index, scale, getGuarded());
    for (int64_t i = 0; i < shape.queries; ++i) {
      std::vector<double> s = r.scores(*in[0], *in[1], mask, getMaskDimensions(), i);
      int64_t query = r.rowAt(shape.queries, shape.depth, i),
              grad = r.rowAt(shape.queries, shape.valueDepth, i);
      const double *g = in[5]->floats.data() + grad;
      double sum = 0;
      for (double &score : s)
        sum += score = std::exp(score - in[3]->floats[r.queryAt(i)]);
      for (int64_t j = 0; j < shape.keys; ++j) {
        int64_t key = r.rowAt(shape.keys, shape.depth, j),
                value = r.rowAt(shape.keys, shape.valueDepth, j);
        double p = r.guard(s[j] / sum);
        double ds = p * (r.dot(g, in[2]->floats.data() + value, shape.valueDepth) -
                         in[4]->floats[r.queryAt(i)]);
        for (int64_t d = 0; d < shape.depth; ++d) {
          out[0].floats[query + d] += scale * ds * in[1]->floats[key + d];
          out[1].floats[key + d] += scale * ds * in[0]->floats[query + d];
        }
        for (int64_t d = 0; d < shape.valueDepth; ++d)
          out[2].floats[value + d] += p * g[d];
      }
    }
  });
  return success();
}
