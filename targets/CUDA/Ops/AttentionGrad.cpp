// Grid fill rule of nn.attention_grad, in two launches. In the first launch, a
// block has a tile of queries and loops over the keys. It computes dq, and passes
// the sum of each query's exponentials to the second launch. In the second launch,
// a block has a tile of keys and loops over the queries. It computes dk and dv.
// Therefore no two blocks add to one sum.

#include "dialects/NN/IR/Attention.h"
#include "targets/CUDA/Ops/AttentionBlock.h"
#include "targets/CUDA/Ops/AttentionWarps.h"
#include "targets/CUDA/Ops/Ops.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {

/// The work of a block. A block of the first launch computes a tile of dq. A block of
/// the second launch computes a tile of dk and a tile of dv.
class AttentionBackward {
public:
  AttentionBackward(GridEmitter &emitter, AttentionGradOp op)
      : op(op), shape(op.getAttentionShape()),
        b(emitter, shape, typeOf(op.getQ()).getElementType(), op.getMask(), op.getMaskDimensions(),
          op.getScale().convertToDouble()),
        e(emitter), lanes(TileShape::kThreads / b.tile) {}

  static int64_t countColumns(const AttentionShape &shape, Type type) {
    return AttentionBlock::countColumns(type, shape.depth);
  }
  static int64_t countKeyColumns(const AttentionShape &shape, Type type) {
    return std::max(countColumns(shape, type),
                    AttentionBlock::countColumns(type, shape.valueDepth));
  }

  void emitQueries() {
    TileProduct dq = tileOf(op.getDq(), shape.depth);
    b.forEachBlock(shape.queries, countColumns(shape, b.elementType),
                   [&](Index rowTile, Index columnTile, Index thread) {
                     queryBlock(dq, rowTile * b.tile, columnTile, thread);
                   });
  }

  void emitKeys() {
    TileProduct dk = tileOf(op.getDk(), shape.depth), dv = tileOf(op.getDv(), shape.valueDepth);
    b.forEachBlock(shape.keys, countKeyColumns(shape, b.elementType),
                   [&](Index rowTile, Index columnTile, Index thread) {
                     keyBlock(dk, dv, rowTile * b.tile, columnTile, thread);
                   });
  }

private:
  /// The tile of the gradient `result`, which has `elements` columns.
  TileProduct tileOf(Value result, int64_t elements) {
    return b.tileOfResult(result, AttentionBlock::widthOf(b.elementType, elements));
  }

  /// The gradient of a score whose probability is `weight`. If `weight` is a
  /// multiple of the probability, the result is this multiple of the gradient. 0
  /// if `query` is after the last query.
  Value gradientOf(Value weight, Value product, Index query) {
    return e.branch(
        b.isThere(query, shape.queries),
        [&] {
          Value delta = b.readOfQuery(op.getDelta(), b.bound(query, shape.queries));
          return e.make<arith::MulFOp>(weight, e.make<arith::SubFOp>(product, delta)).getResult();
        },
        [&] { return b.number(0); });
  }
  /// e^(score - logSumExp), or 0 if `query` is after the last query.
  Value exponentialOf(Value product, Index query, Index key) {
    return e.branch(
        b.isThere(query, shape.queries),
        [&] {
          Value all = b.readOfQuery(op.getLogSumExp(), b.bound(query, shape.queries));
          return b.exponential(e.make<arith::SubFOp>(b.score(product, query, key), all));
        },
        [&] { return b.number(0); });
  }

  //===--------------------------------------------------------------------===//
  // Tiles of queries
  //===--------------------------------------------------------------------===//

  void queryBlock(TileProduct &dq, Index query, Index columnTile, Index thread) {
    const Index column = columnTile * dq.getColumns();
    Values state = dq.getZeros();
    state.push_back(b.number(0));
    const int64_t tiles = llvm::divideCeil(shape.keys, b.tile);
    state = e.loopBetween(e.materialize(e.constant(0)), b.endOfKeys(query, b.tile, b.tile), tiles,
                          state, [&](Index tile, ValueRange carried) {
                            return addKeys(dq, query, tile * b.tile, column, thread, carried);
                          });
    finishQueries(dq, query, columnTile, thread, state);
  }

  /// Processes a tile of keys: updates the sums of dq, and the sum of the row's
  /// exponentials.
  Values addKeys(TileProduct &dq, Index query, Index key, Index column, Index thread,
                 ValueRange state) {
    const size_t count = state.size() - 1;
    Values scores = b.multiply(thread, b.rowsOf(op.getQ(), query, shape.queries),
                               b.rowsOf(op.getK(), key, shape.keys), shape.depth),
           grads = b.multiply(thread, b.rowsOf(op.getResultGrad(), query, shape.queries),
                              b.rowsOf(op.getV(), key, shape.keys), shape.valueDepth);
    Values exponentials;
    b.products.forEachSum(thread, scores, [&](int64_t, Index row, Index at, Value product) {
      e.alone(nullptr, [&] {
        exponentials.push_back(exponentialOf(product, query + row, key + at));
        b.scores.store(exponentials.back(), at, row);
      });
    });
    e.meet();
    Value sum = e.make<arith::AddFOp>(state[count], sumOfRow(thread));
    // Wait until all threads have read `weights`, because it is overwritten now.
    e.meet();
    b.products.forEachSum(thread, grads, [&](int64_t n, Index row, Index at, Value product) {
      e.alone(nullptr, [&] {
        Value weight = gradientOf(exponentials[static_cast<size_t>(n)], product, query + row);
        b.storeWeight(dq, weight, at, row);
      });
    });
    e.meet();
    Values sums = dq.add(thread, b.weights, b.columnsOf(op.getK(), column, shape.depth), key,
                         shape.keys, state.take_front(count));
    sums.push_back(sum);
    return sums;
  }

  /// The sum of the row of this thread in the tile. All threads of the row get it.
  Value sumOfRow(Index thread) {
    const Index row = e.floorDiv(thread, lanes), lane = e.mod(thread, lanes);
    Value sum = b.number(0);
    for (int64_t n = 0; n < b.tile / lanes; ++n)
      sum = e.make<arith::AddFOp>(sum, b.scores.load(lane + n * lanes, row));
    return e.combineLanes(sum, lanes,
                          [&](Value x, Value y) { return e.make<arith::AddFOp>(x, y); });
  }

  void finishQueries(TileProduct &dq, Index query, Index columnTile, Index thread,
                     ValueRange state) {
    const size_t count = state.size() - 1;
    const Index row = e.floorDiv(thread, lanes), own = query + row;
    Value isFirstLane = e.inRange(e.mod(thread, lanes), 0, 1);
    e.alone(isFirstLane, [&] { e.storeAt(b.rowNumbers, state[count], row); });
    Value isFirst = e.both(isFirstLane, e.inRange(columnTile, 0, 1));
    e.alone(e.both(isFirst, b.isThere(own, shape.queries)), [&] {
      e.storeAt(e.phaseScratch, state[count], b.numberOfQuery(b.bound(own, shape.queries)));
    });
    e.meet();
    store(dq, op.getDq(), query, shape.queries, columnTile, shape.depth, thread,
          state.take_front(count), [&](Index at, Value element) {
            Value total = e.loadAt(b.rowNumbers, b.elementType, at);
            Value made = e.make<arith::DivFOp>(scaled(element), total);
            return op.getGuarded() ? b.select(b.isNan(total), b.number(0), made) : made;
          });
  }

  //===--------------------------------------------------------------------===//
  // Tiles of keys
  //===--------------------------------------------------------------------===//

  void keyBlock(TileProduct &dk, TileProduct &dv, Index key, Index columnTile, Index thread) {
    const Index column = columnTile * dk.getColumns(), valueColumn = columnTile * dv.getColumns();
    Values state = dk.getZeros();
    const size_t count = state.size();
    llvm::append_range(state, dv.getZeros());
    const int64_t tiles = llvm::divideCeil(shape.queries, b.tile);
    state = e.loopBetween(b.firstOfQueries(key, b.tile), e.materialize(e.constant(tiles)), tiles,
                          state, [&](Index tile, ValueRange carried) {
                            return addQueries(dk, dv, key, tile * b.tile, column, valueColumn,
                                              thread, carried);
                          });
    auto asIs = [](Index, Value element) { return element; };
    store(dv, op.getDv(), key, shape.keys, columnTile, shape.valueDepth, thread,
          ValueRange(state).drop_front(count), asIs);
    store(dk, op.getDk(), key, shape.keys, columnTile, shape.depth, thread,
          ValueRange(state).take_front(count),
          [&](Index, Value element) { return scaled(element); });
  }

  /// Processes a tile of queries: updates the sums of dk and dv.
  Values addQueries(TileProduct &dk, TileProduct &dv, Index key, Index query, Index column,
                    Index valueColumn, Index thread, ValueRange state) {
    const size_t count = dk.getZeros().size();
    Values scores = b.multiply(thread, b.rowsOf(op.getK(), key, shape.keys),
                               b.rowsOf(op.getQ(), query, shape.queries), shape.depth),
           grads = b.multiply(thread, b.rowsOf(op.getV(), key, shape.keys),
                              b.rowsOf(op.getResultGrad(), query, shape.queries), shape.valueDepth);
    Values probabilities;
    b.products.forEachSum(thread, scores, [&](int64_t, Index row, Index at, Value product) {
      e.alone(nullptr, [&] {
        probabilities.push_back(probabilityOf(product, query + at, key + row));
        b.storeWeight(dv, probabilities.back(), at, row);
      });
    });
    e.meet();
    Values ofValues =
        dv.add(thread, b.weights, b.columnsOf(op.getResultGrad(), valueColumn, shape.valueDepth),
               query, shape.queries, state.drop_front(count));
    b.products.forEachSum(thread, grads, [&](int64_t n, Index row, Index at, Value product) {
      e.alone(nullptr, [&] {
        Value weight = gradientOf(probabilities[static_cast<size_t>(n)], product, query + at);
        b.storeWeight(dk, weight, at, row);
      });
    });
    e.meet();
    Values sums = dk.add(thread, b.weights, b.columnsOf(op.getQ(), column, shape.depth), query,
                         shape.queries, state.take_front(count));
    llvm::append_range(sums, ofValues);
    return sums;
  }

  Value probabilityOf(Value product, Index query, Index key) {
    return e.branch(
        b.isThere(query, shape.queries),
        [&] {
          Value total = e.loadAt(e.phaseScratch, b.elementType,
                                 b.numberOfQuery(b.bound(query, shape.queries)));
          Value made = e.make<arith::DivFOp>(exponentialOf(product, query, key), total);
          return op.getGuarded() ? b.select(b.isNan(made), b.number(0), made) : made;
        },
        [&] { return b.number(0); });
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  Value scaled(Value x) {
    return e.make<arith::MulFOp>(x, b.number(op.getScale().convertToDouble()));
  }

  /// Stores the elements of a tile of `result`. `finish` computes an element from
  /// its sum.
  void store(TileProduct &tile, Value result, Index firstRow, int64_t rows, Index columnTile,
             int64_t elements, Index thread, ValueRange sums,
             function_ref<Value(Index rowInTile, Value element)> finish) {
    tile.forEachSum(thread, sums, [&](int64_t, Index at, Index columnInTile, Value sum) {
      const Index row = firstRow + at, column = columnTile * tile.getColumns() + columnInTile;
      e.alone(e.both(b.isThere(row, rows), b.isThere(column, elements)), [&] {
        e.store(result, tile.narrow(finish(at, sum)),
                b.numberIn(result, b.bound(row, rows), b.bound(column, elements)));
      });
    });
  }

  AttentionGradOp op;
  const AttentionShape shape;
  AttentionBlock b;
  GridEmitter &e;
  const int64_t lanes; // the number of threads per row
};

struct AttentionGradGridFill
    : GridFillOpInterface::ExternalModel<AttentionGradGridFill, AttentionGradOp> {
  bool pays(Operation *self) const {
    auto op = cast<AttentionGradOp>(self);
    return AttentionBlock::pays(self, op.getAttentionShape(),
                                {op.getQ(), op.getK(), op.getV(), op.getResultGrad()});
  }
  bool givesFinalElements(Operation *) const { return false; }
  /// The tiles of a launch whose scores stay in registers.
  static std::optional<AttentionTiles> tilesOf(AttentionGradOp op, unsigned launch,
                                               const GridOptions &options) {
    return AttentionTiles::of(
        op.getAttentionShape(), typeOf(op.getQ()).getElementType(),
        launch == 0 ? AttentionTiles::Work::queryGrad : AttentionTiles::Work::keyGrads, options);
  }
  SmallVector<TileGrid> getGrids(Operation *self, const GridOptions &options) const {
    auto op = cast<AttentionGradOp>(self);
    AttentionShape shape = op.getAttentionShape();
    Type type = typeOf(self->getOperand(0)).getElementType();
    SmallVector<TileGrid> grids{
        AttentionBlock::gridOf(shape, type, shape.queries,
                               AttentionBackward::countColumns(shape, type)),
        AttentionBlock::gridOf(shape, type, shape.keys,
                               AttentionBackward::countKeyColumns(shape, type))};
    for (unsigned launch : {0u, 1u})
      if (auto tiles = tilesOf(op, launch, options))
        grids[launch] = tiles->getGrid(shape);
    return grids;
  }
  int64_t getScratchBytes(Operation *self) const {
    return tensorBytes(cast<AttentionGradOp>(self).getLogSumExp().getType());
  }
  void emitTiles(Operation *self, GridEmitter &e, LaunchPhase phase, FinishTile) const {
    auto op = cast<AttentionGradOp>(self);
    if (auto tiles = tilesOf(op, phase.number, GridOptions(e)))
      return phase.number == 0 ? emitWarpQueryGrads(e, op, *tiles)
                               : emitWarpKeyGrads(e, op, *tiles);
    AttentionBackward work(e, op);
    if (phase.number == 0)
      work.emitQueries();
    else
      work.emitKeys();
  }
};

} // namespace

void dpc::attachAttentionGradGridFill(MLIRContext &context) {
  AttentionGradOp::attachInterface<AttentionGradGridFill>(context);
}
