// Grid fill rule of nn.attention. A block computes a tile of queries. It loops over
// tiles of keys, and keeps the softmax over the keys so far: the largest score, and
// the sum of exponentials relative to it.

#include "dialects/NN/IR/Attention.h"
#include "targets/CUDA/Ops/AttentionBlock.h"
#include "targets/CUDA/Ops/AttentionWarps.h"
#include "targets/CUDA/Ops/Ops.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {

/// The work of a block. `lanes` consecutive threads share each row of the tile. All
/// of these threads have the largest score of the row and its sum of exponentials.
class AttentionForward {
public:
  AttentionForward(GridEmitter &emitter, AttentionOp op)
      : op(op), shape(op.getAttentionShape()),
        b(emitter, shape, typeOf(op.getQ()).getElementType(), op.getMask(), op.getMaskDimensions(),
          op.getScale().convertToDouble()),
        e(emitter), width(AttentionBlock::widthOf(b.elementType, shape.valueDepth)),
        results(b.tileOfResult(op.getResult(), width)), lanes(TileShape::kThreads / b.tile) {}

  void emit() {
    b.forEachBlock(shape.queries, AttentionBlock::countColumns(b.elementType, shape.valueDepth),
                   [&](Index rowTile, Index columnTile, Index thread) {
                     block(rowTile * b.tile, columnTile, thread);
                   });
  }

private:
  void block(Index query, Index columnTile, Index thread) {
    const Index column = columnTile * width;
    Value none = b.number(-std::numeric_limits<double>::infinity());
    Values state = results.getZeros();
    llvm::append_values(state, none, b.number(0));
    const int64_t tiles = llvm::divideCeil(shape.keys, b.tile);
    state = e.loopBetween(e.materialize(e.constant(0)), b.endOfKeys(query, b.tile, b.tile), tiles,
                          state, [&](Index tile, ValueRange carried) {
                            return addKeys(query, tile * b.tile, column, thread, carried);
                          });
    finish(query, columnTile, thread, state);
  }

  /// Processes a tile of keys: updates the sums of the results, the largest score,
  /// and the sum of exponentials.
  Values addKeys(Index query, Index key, Index column, Index thread, ValueRange state) {
    const size_t count = state.size() - 2;
    Values made = b.multiply(thread, b.rowsOf(op.getQ(), query, shape.queries),
                             b.rowsOf(op.getK(), key, shape.keys), shape.depth);
    b.products.forEachSum(thread, made, [&](int64_t, Index row, Index at, Value product) {
      e.alone(nullptr, [&] { b.scores.store(b.score(product, query + row, key + at), at, row); });
    });
    e.meet();
    auto [top, sum, rescale] = takeExponentials(thread, state[count], state[count + 1]);
    const Index row = e.floorDiv(thread, lanes);
    e.alone(isFirstLane(thread), [&] { e.storeAt(b.rowNumbers, rescale, row); });
    e.meet();
    Values sums;
    results.forEachSum(thread, state.take_front(count), [&](int64_t, Index own, Index, Value old) {
      sums.push_back(e.make<arith::MulFOp>(old, e.loadAt(b.rowNumbers, b.elementType, own)));
    });
    sums = results.add(thread, b.weights, b.columnsOf(op.getV(), column, shape.valueDepth), key,
                       shape.keys, sums);
    llvm::append_values(sums, top, sum);
    return sums;
  }

  struct RowState {
    Value top, sum, rescale;
  };
  /// Replaces the scores in the row of this thread by their exponentials. Returns the new
  /// largest score, the new sum, and the factor that adapts earlier sums to the new
  /// largest score.
  RowState takeExponentials(Index thread, Value top, Value sum) {
    const Index row = e.floorDiv(thread, lanes), lane = e.mod(thread, lanes);
    SmallVector<Index> keys;
    Values scores;
    for (int64_t n = 0; n < b.tile / lanes; ++n) {
      keys.push_back(lane + n * lanes);
      scores.push_back(b.scores.load(keys.back(), row));
    }
    Value newTop = scores[0];
    for (Value score : ArrayRef(scores).drop_front())
      newTop = b.larger(newTop, score);
    newTop = e.combineLanes(newTop, lanes, [&](Value x, Value y) { return b.larger(x, y); });
    newTop = b.larger(newTop, top);
    // If all scores so far are -infinity, the largest score is -infinity. Then
    // subtract 0 from the scores, because -infinity minus -infinity is NaN.
    Value isNone = e.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, newTop,
                                         b.number(-std::numeric_limits<double>::infinity()));
    Value base = b.select(isNone, b.number(0), newTop);
    Value added = b.number(0);
    for (auto [key, score] : llvm::zip_equal(keys, scores)) {
      Value x = b.exponential(e.make<arith::SubFOp>(score, base));
      added = e.make<arith::AddFOp>(added, x);
      b.storeWeight(results, x, key, row);
    }
    added =
        e.combineLanes(added, lanes, [&](Value x, Value y) { return e.make<arith::AddFOp>(x, y); });
    Value rescale = b.exponential(e.make<arith::SubFOp>(top, base));
    return {newTop, e.make<arith::AddFOp>(e.make<arith::MulFOp>(sum, rescale), added), rescale};
  }

  Value isFirstLane(Index thread) { return e.inRange(e.mod(thread, lanes), 0, 1); }

  /// Stores the results, and for each query the logarithm of the sum of e^score.
  void finish(Index query, Index columnTile, Index thread, ValueRange state) {
    const size_t count = state.size() - 2;
    const Index row = e.floorDiv(thread, lanes), own = query + row;
    // If all scores of a row are -infinity, its softmax is NaN.
    Value top = state[count];
    Value isEmpty = e.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, state[count + 1], b.number(0));
    Value sum =
        b.select(isEmpty, b.number(std::numeric_limits<double>::quiet_NaN()), state[count + 1]);
    e.alone(isFirstLane(thread), [&] { e.storeAt(b.rowNumbers, sum, row); });
    Value isFirst = e.both(isFirstLane(thread), e.inRange(columnTile, 0, 1));
    e.alone(e.both(isFirst, b.isThere(own, shape.queries)), [&] {
      e.store(op.getLogSumExp(), e.make<arith::AddFOp>(top, e.make<math::LogOp>(sum)),
              b.numberOfQuery(b.bound(own, shape.queries)));
    });
    e.meet();
    results.forEachSum(
        thread, state.take_front(count), [&](int64_t, Index at, Index columnInTile, Value made) {
          const Index to = query + at, column = columnTile * width + columnInTile;
          e.alone(e.both(b.isThere(to, shape.queries), b.isThere(column, shape.valueDepth)), [&] {
            Value total = e.loadAt(b.rowNumbers, b.elementType, at);
            Value element = e.make<arith::DivFOp>(made, total);
            if (op.getGuarded())
              element = b.select(b.isNan(total), b.number(0), element);
            e.store(op.getResult(), results.narrow(element),
                    b.numberIn(op.getResult(), b.bound(to, shape.queries),
                               b.bound(column, shape.valueDepth)));
          });
        });
  }

  AttentionOp op;
  const AttentionShape shape;
  AttentionBlock b;
  GridEmitter &e;
  const int64_t width; // the number of columns in a tile of the result
  TileProduct results;
  const int64_t lanes;
};

struct AttentionGridFill : GridFillOpInterface::ExternalModel<AttentionGridFill, AttentionOp> {
  bool pays(Operation *self) const {
    auto op = cast<AttentionOp>(self);
    return AttentionBlock::pays(self, op.getAttentionShape(), {op.getQ(), op.getK(), op.getV()});
  }
  bool givesFinalElements(Operation *) const { return false; }
  SmallVector<TileGrid> getGrids(Operation *self, const GridOptions &options) const {
    AttentionShape shape = cast<AttentionOp>(self).getAttentionShape();
    Type type = typeOf(self->getOperand(0)).getElementType();
    if (auto tiles = AttentionTiles::of(shape, type, AttentionTiles::Work::result, options))
      return {tiles->getGrid(shape)};
    return {AttentionBlock::gridOf(shape, type, shape.queries,
                                   AttentionBlock::countColumns(type, shape.valueDepth))};
  }
  void emitTiles(Operation *self, GridEmitter &e, LaunchPhase, FinishTile) const {
    auto op = cast<AttentionOp>(self);
    if (auto tiles = AttentionTiles::of(op.getAttentionShape(), typeOf(op.getQ()).getElementType(),
                                        AttentionTiles::Work::result, GridOptions(e)))
      return emitWarpAttention(e, op, *tiles);
    AttentionForward(e, op).emit();
  }
};

} // namespace

void dpc::attachAttentionGridFills(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionGridFill>(context);
}
