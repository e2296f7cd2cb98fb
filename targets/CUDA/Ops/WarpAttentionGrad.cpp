// Emits the two launches of the gradient of attention whose scores stay in registers. Blocks
// of the first launch have queries and loop over keys. Blocks of the second launch have keys
// and loop over queries: there, scores are products of keys with queries, so that the sums of
// a thread are factors of the products that sum over the queries.

#include "targets/CUDA/Ops/AttentionWarps.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
/// What both launches share.
class WarpBackward {
public:
  WarpBackward(GridEmitter &emitter, AttentionGradOp op, const AttentionTiles &tiles)
      : op(op), shape(op.getAttentionShape()), maskDimensions(op.getMaskDimensions()),
        b(emitter, shape, typeOf(op.getQ()).getElementType(), tiles, op.getMask(), maskDimensions,
          op.getScale().convertToDouble()),
        e(emitter) {}

protected:
  Value scale() { return b.number(op.getScale().convertToDouble()); }
  /// The element of a query, or 0 if the query is not there.
  Value ofQuery(Value tensor, Index query, Value isNeeded = {}) {
    return e.branch(
        e.both(isNeeded, b.isThere(query, shape.queries)),
        [&] { return b.readOfQuery(tensor, b.known(query, shape.queries)); },
        [&] { return b.number(0); });
  }

  AttentionGradOp op;
  const AttentionShape shape;
  const SmallVector<int64_t> maskDimensions;
  AttentionWarps b;
  GridEmitter &e;
};

/// The first launch: dq, and the sum of each query's exponentials. The state of a thread is its
/// sums of dq, then for each of the two rows of its quad the sum of exponentials in the thread's
/// own columns.
class WarpQueryGrads : public WarpBackward {
public:
  using WarpBackward::WarpBackward;

  void emit() {
    b.forEachBlock([&](Index query, Index columnTile) { block(query, columnTile); });
  }

private:
  void block(Index query, Index columnTile) {
    const Index column = columnTile * b.tiles.columns;
    b.loadOwn({op.getQ(), op.getResultGrad()}, query);
    Value bases[2], deltas[2];
    e.alone(nullptr, [&] {
      for (int64_t row : {0, 1}) {
        bases[row] = b.baseOfLogarithm(ofQuery(op.getLogSumExp(), b.ownRow(query, row)));
        deltas[row] = ofQuery(op.getDelta(), b.ownRow(query, row));
      }
    });
    Values state = b.products->getZeros(b.tiles.columns);
    const size_t count = state.size();
    llvm::append_values(state, b.number(0), b.number(0));
    AttentionWarps::Loop loop{
        {op.getK(), op.getV()}, {e.constant(0), e.constant(0)}, {}, {}, {}, {}};
    Values exponentials;
    loop.addFirst = [&](Index key, Value stage, ValueRange) {
      exponentials = b.multiply(0, 0, stage);
      e.alone(nullptr, [&] {
        for (auto [n, value] : llvm::enumerate(exponentials)) {
          const int64_t row = WarpProduct::rowOf(static_cast<int64_t>(n));
          value = b.power(b.exponentOf(value, b.ownRow(query, row),
                                       key + b.products->columnOf(static_cast<int64_t>(n))),
                          bases[row]);
        }
      });
    };
    loop.addSecond = [&](Index, Value stage, ValueRange now) {
      Values weights = b.multiply(1, 1, stage);
      Value sums[2] = {now[count], now[count + 1]};
      for (auto [n, weight] : llvm::enumerate(weights)) {
        const int64_t row = WarpProduct::rowOf(static_cast<int64_t>(n));
        sums[row] = b.add(sums[row], exponentials[n]);
        weight = b.times(exponentials[n], b.subtract(weight, deltas[row]));
      }
      Values next =
          b.addWeighted(weights, 0, column, b.tiles.columns, stage, now.take_front(count));
      llvm::append_values(next, sums[0], sums[1]);
      return next;
    };
    state = b.loop(loop, query, state);
    finish(query, column, columnTile, ValueRange(state).take_front(count),
           ValueRange(state).drop_front(count));
  }

  void finish(Index query, Index column, Index columnTile, ValueRange sums, ValueRange totals) {
    Value all[2], factors[2];
    for (int64_t row : {0, 1}) {
      all[row] = b.combineQuad(totals[static_cast<size_t>(row)],
                               [&](Value x, Value y) { return b.add(x, y); });
      factors[row] = e.make<arith::DivFOp>(scale(), all[row]);
      const Index own = b.ownRow(query, row);
      Value isOwn = e.both(b.isFirstOfQuad(), e.inRange(columnTile, 0, 1));
      e.alone(e.both(isOwn, b.isThere(own, shape.queries)), [&] {
        e.storeAt(e.phaseScratch, all[row], b.numberOfQuery(b.known(own, shape.queries)));
      });
    }
    b.store(op.getDq(), query, column, shape.depth, sums, [&](int64_t row, Value sum) {
      Value made = b.times(sum, factors[row]);
      return op.getGuarded() ? b.select(b.isNan(all[row]), b.number(0), made) : made;
    });
  }
};

/// The second launch: dk and dv. Shared memory has three numbers per query: the logarithm of the
/// sum of e^score as a base, delta, and the inverse of the sum of exponentials.
class WarpKeyGrads : public WarpBackward {
public:
  using WarpBackward::WarpBackward;

  void emit() {
    b.forEachBlock([&](Index key, Index columnTile) { block(key, columnTile); });
  }

private:
  enum Line { base, delta, inverse };

  /// The columns of a result with rows of `elements` elements that a block computes, and the first
  /// one. If rows of the other result are longer, some blocks have no columns of this one; they
  /// compute others, and do not store them.
  int64_t columnsOf(int64_t elements) const { return std::min(b.tiles.columns, elements); }
  Index firstColumnOf(Index columnTile, int64_t elements) {
    const int64_t columns = columnsOf(elements), last = elements - columns;
    const Index first = columnTile * columns;
    if (e.isInRange(first, 0, last + 1))
      return first;
    Value bounded = e.make<arith::MinSIOp>(e.materialize(first), e.materialize(e.constant(last)));
    return e.bind(bounded, 0, last);
  }

  void block(Index key, Index columnTile) {
    const int64_t columns = columnsOf(b.tiles.depth), valueColumns = columnsOf(b.tiles.valueDepth);
    const Index column = firstColumnOf(columnTile, b.tiles.depth),
                valueColumn = firstColumnOf(columnTile, b.tiles.valueDepth);
    b.loadOwn({op.getK(), op.getV()}, key);
    Values state = b.products->getZeros(columns);
    const size_t count = state.size();
    llvm::append_range(state, b.products->getZeros(valueColumns));
    AttentionWarps::Loop loop{
        {op.getQ(), op.getResultGrad()}, {e.constant(0), e.constant(0)}, {}, {}, {}, {}};
    Value loaded[3];
    loop.begin = [&](Index query, Value isNeeded) { loadNumbers(loaded, query, isNeeded); };
    loop.end = [&](Value stage) { storeNumbers(loaded, stage); };
    Values probabilities;
    loop.addFirst = [&](Index query, Value stage, ValueRange) {
      probabilities = b.multiply(0, 0, stage);
      takeProbabilities(probabilities, query, key, stage);
    };
    loop.addSecond = [&](Index, Value stage, ValueRange now) {
      Values weights = b.multiply(1, 1, stage),
             ofValues = b.addWeighted(probabilities, 1, valueColumn, valueColumns, stage,
                                      now.drop_front(count));
      for (auto [n, weight] : llvm::enumerate(weights))
        weight = b.times(probabilities[n],
                         b.subtract(weight, numberOf(delta, static_cast<int64_t>(n), stage)));
      Values sums = b.addWeighted(weights, 0, column, columns, stage, now.take_front(count));
      llvm::append_range(sums, ofValues);
      return sums;
    };
    state = b.loop(loop, key, state);
    b.store(op.getDv(), key, columnTile * valueColumns, shape.valueDepth,
            ValueRange(state).drop_front(count), [](int64_t, Value sum) { return sum; });
    b.store(op.getDk(), key, columnTile * columns, shape.depth, ValueRange(state).take_front(count),
            [&](int64_t, Value sum) { return b.times(sum, scale()); });
  }

  /// Replaces products by probabilities. They are 0 for queries that are not there.
  void takeProbabilities(Values &products, Index query, Index key, Value stage) {
    e.alone(nullptr, [&] {
      for (auto [number, value] : llvm::enumerate(products)) {
        const auto n = static_cast<int64_t>(number);
        value = b.exponentOf(value, query + b.products->columnOf(n),
                             b.ownRow(key, WarpProduct::rowOf(n)));
        value = b.times(b.power(value, numberOf(base, n, stage)), numberOf(inverse, n, stage));
        if (op.getGuarded())
          value = b.select(b.isNan(value), b.number(0), value);
      }
    });
  }

  /// Each thread loads the numbers of one query.
  void loadNumbers(Value *loaded, Index query, Value isNeeded) {
    const Index own = query + b.thread;
    Value isMine = e.both(isNeeded, b.isThere(b.thread, b.tiles.others));
    e.alone(nullptr, [&] {
      loaded[base] = ofQuery(op.getLogSumExp(), own, isMine);
      loaded[delta] = ofQuery(op.getDelta(), own, isMine);
      loaded[inverse] = e.branch(
          e.both(isMine, b.isThere(own, shape.queries)),
          [&] {
            return e.loadAt(e.phaseScratch, b.elementType,
                            b.numberOfQuery(b.known(own, shape.queries)));
          },
          [&] { return b.number(std::numeric_limits<double>::infinity()); });
    });
  }

  void storeNumbers(Value *loaded, Value stage) {
    e.alone(b.isThere(b.thread, b.tiles.others), [&] {
      const Index own = b.known(b.thread, b.tiles.others);
      Value stored[] = {b.baseOfLogarithm(loaded[base]), loaded[delta], b.inverse(loaded[inverse])};
      for (int64_t line : {0, 1, 2})
        b.numbers->storeAt(stored[line], b.numbers->offsetOfStage(stage),
                           b.numbers->addressOf(own, e.constant(line)));
    });
  }

  /// The number of the query of sum number `n`.
  Value numberOf(Line line, int64_t n, Value stage) {
    const Slice &slice = *b.numbers;
    const Slice::Address address =
        slice.addressOf(b.products->columnOf(0), e.constant(static_cast<int64_t>(line)));
    Value pair = slice.loadVector(2, slice.offsetOfStage(stage), address, n / 4 * 8);
    return e.make<LLVM::ExtractElementOp>(pair, e.materialize(e.constant(n % 2)));
  }
};
} // namespace

void dpc::emitWarpQueryGrads(GridEmitter &emitter, AttentionGradOp op,
                             const AttentionTiles &tiles) {
  WarpQueryGrads(emitter, op, tiles).emit();
}

void dpc::emitWarpKeyGrads(GridEmitter &emitter, AttentionGradOp op, const AttentionTiles &tiles) {
  WarpKeyGrads(emitter, op, tiles).emit();
}
