// Emits attention whose scores stay in registers. A block loops over tiles of keys, and keeps
// the softmax over the keys so far: the largest score of each query, and the sum of
// exponentials relative to it.

#include "targets/CUDA/Ops/AttentionWarps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
/// The state of a thread: its sums of the result, then for each of the two rows of its quad the
/// largest exponent, and then for each the sum of powers in the thread's own columns.
class WarpForward {
public:
  WarpForward(GridEmitter &emitter, AttentionOp op, const AttentionTiles &tiles)
      : op(op), shape(op.getAttentionShape()), maskDimensions(op.getMaskDimensions()),
        b(emitter, shape, typeOf(op.getQ()).getElementType(), tiles, op.getMask(), maskDimensions,
          op.getScale().convertToDouble()),
        e(emitter), count(static_cast<size_t>(WarpProduct::countSums(tiles.columns))) {}

  void emit() {
    b.forEachBlock([&](Index query, Index columnTile) { block(query, columnTile); });
  }

private:
  Value lowest() { return b.number(-std::numeric_limits<double>::infinity()); }

  void block(Index query, Index columnTile) {
    const Index column = columnTile * b.tiles.columns;
    b.loadOwn(op.getQ(), query);
    Values state = b.products->getZeros(b.tiles.columns);
    llvm::append_values(state, lowest(), lowest(), b.number(0), b.number(0));
    AttentionWarps::Loop loop{{op.getK(), op.getV()}, {e.constant(0), column}, {}, {}, {}, {}};
    Values weights, next;
    loop.addFirst = [&](Index key, Value stage, ValueRange now) {
      weights = b.multiply(0, 0, stage);
      next = takePowers(weights, query, key, now);
    };
    loop.addSecond = [&](Index, Value stage, ValueRange) {
      Values sums = b.addWeighted(weights, 1, e.constant(0), b.tiles.columns, stage,
                                  ValueRange(next).take_front(count));
      llvm::append_range(sums, ValueRange(next).drop_front(count));
      return sums;
    };
    state = b.loop(loop, query, state);
    finish(query, column, columnTile, state);
  }

  /// Replaces the products of a tile by the powers of their exponents. Returns the state with the
  /// new largest exponents, to which sums are adapted.
  Values takePowers(Values &scores, Index query, Index key, ValueRange state) {
    Value tops[2] = {}, bases[2], rescales[2], sums[2];
    e.alone(nullptr, [&] {
      for (auto [n, score] : llvm::enumerate(scores)) {
        const int64_t row = WarpProduct::rowOf(static_cast<int64_t>(n));
        score = b.exponentOf(score, b.ownRow(query, row),
                             key + b.products->columnOf(static_cast<int64_t>(n)));
        tops[row] = tops[row] ? b.largest(tops[row], score) : score;
      }
    });
    for (int64_t row : {0, 1}) {
      Value top = state[count + static_cast<size_t>(row)];
      tops[row] = b.combineQuad(tops[row], [&](Value x, Value y) { return b.largest(x, y); });
      tops[row] = b.largest(tops[row], top);
      // If a mask hides all keys so far, the largest exponent is -infinity. Then subtract 0,
      // because -infinity minus -infinity is NaN.
      Value base = tops[row];
      if (op.getMask())
        base = b.select(e.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, base, lowest()),
                        b.number(0), base);
      bases[row] = b.baseOf(base);
      rescales[row] = b.power(top, bases[row]);
      sums[row] = b.times(state[count + 2 + static_cast<size_t>(row)], rescales[row]);
    }
    for (auto [n, score] : llvm::enumerate(scores)) {
      const int64_t row = WarpProduct::rowOf(static_cast<int64_t>(n));
      score = b.power(score, bases[row]);
      sums[row] = b.add(sums[row], score);
    }
    Values next;
    for (auto [n, sum] : llvm::enumerate(state.take_front(count)))
      next.push_back(b.times(sum, rescales[WarpProduct::rowOf(static_cast<int64_t>(n))]));
    llvm::append_values(next, tops[0], tops[1], sums[0], sums[1]);
    return next;
  }

  /// Stores the results, and for each query the logarithm of the sum of e^score.
  void finish(Index query, Index column, Index columnTile, ValueRange state) {
    Value totals[2], factors[2];
    for (int64_t row : {0, 1}) {
      Value total = b.combineQuad(state[count + 2 + static_cast<size_t>(row)],
                                  [&](Value x, Value y) { return b.add(x, y); });
      // If all scores of a row are -infinity, its softmax is NaN.
      Value isEmpty = e.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, total, b.number(0));
      total = b.select(isEmpty, b.number(std::numeric_limits<double>::quiet_NaN()), total);
      totals[row] = total;
      factors[row] = b.inverse(total);
      const Index own = b.ownRow(query, row);
      Value isOwn = e.both(b.isFirstOfQuad(), e.inRange(columnTile, 0, 1));
      e.alone(e.both(isOwn, b.isThere(own, shape.queries)), [&] {
        Value top = b.times(state[count + static_cast<size_t>(row)],
                            b.number(b.getUnit() / llvm::numbers::log2e));
        e.store(op.getLogSumExp(), b.add(top, e.make<math::LogOp>(total)),
                b.numberOfQuery(b.known(own, shape.queries)));
      });
    }
    b.store(op.getResult(), query, column, shape.valueDepth, state.take_front(count),
            [&](int64_t row, Value sum) {
              Value element = b.times(sum, factors[row]);
              return op.getGuarded() ? b.select(b.isNan(totals[row]), b.number(0), element)
                                     : element;
            });
  }

  AttentionOp op;
  const AttentionShape shape;
  const SmallVector<int64_t> maskDimensions;
  AttentionWarps b;
  GridEmitter &e;
  const size_t count; // of the sums of a thread
};
} // namespace

void dpc::emitWarpAttention(GridEmitter &emitter, AttentionOp op, const AttentionTiles &tiles) {
  WarpForward(emitter, op, tiles).emit();
}
