// Fill rule of nn.attention. It computes blocks of queries, so that the scores of a
// block stay in cache. It computes the softmax of a row from all scores of the row,
// as the decomposition of the op does.

#include "dialects/NN/IR/Attention.h"
#include "targets/CPU/Ops/AttentionTiles.h"
#include "targets/CPU/Ops/Ops.h"
#include "targets/CPU/Vectors/TileGrid.h"
#include "targets/CPU/Vectors/VectorFill.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
class AttentionNest {
public:
  AttentionNest(VectorEmitter &emitter, AttentionOp op)
      : op(op), shape(op.getAttentionShape()), e(emitter),
        t(emitter, typeOf(op.getQ()).getElementType(), shape, op.getMask(), op.getMaskDimensions(),
          op.getScale().convertToDouble()),
        code(t.code), vectors(t.width / code.lanes) {}

  void emit() {
    queries = t.makeRows(shape.queries, shape.depth, t.inPairs);
    keyPanels = t.makePanels(shape.depth);
    values = t.makeRows(shape.keys, shape.valueDepth, /*isOfPairs=*/false);
    scores = code.scratch(t.countOfScores(t.blockRows));
    largest = code.scratch(t.blockRows);
    sums = code.scratch(t.blockRows);
    e.sequence(shape.batches(), [&](Index batch) {
      t.setBatch(batch);
      t.copyRows(queries, op.getQ(), shape.queries, shape.depth, t.rowFactor());
      t.packPanels(keyPanels, op.getK(), shape.depth);
      t.copyRows(values, op.getV(), shape.keys, shape.valueDepth, 1);
      inBlocks(e, shape.queries, t.blockRows,
               [&](Index query, int64_t count) { block(batch, query, count); });
    });
  }

private:
  void block(Index batch, Index query, int64_t count) {
    AttentionTiles::Seen seen = t.keysSeenBy(query, count);
    TileRows cut(count, t.tileRows);
    t.prepareMask(query, count);
    t.forEachPanel(seen, [&](Index panel, bool isCut) {
      cut.forEach(e, [&](Index, Index row, int64_t height) {
        scoreTile(query, row, height, panel, isCut);
      });
    });
    Value end = e.materialize(seen.end);
    e.sequence(count, [&](Index row) { exponentials(row, end); });
    e.forEach({count}, [&](ArrayRef<Index> i) {
      Value sum = e.loadAt(sums, code.elementType, i[0]);
      Value top = e.loadAt(largest, code.elementType, i[0]);
      e.store(op.getLogSumExp(), e.make<arith::AddFOp>(top, e.make<math::LogOp>(sum)),
              batch * shape.queries + query + i[0]);
      Value one = e.constantLike(code.elementType, 1);
      e.storeAt(sums, e.make<arith::DivFOp>(one, sum), i[0]);
    });
    Panels columns(code, shape.valueDepth);
    Value units = e.materialize(seen.end * (t.width / t.unit));
    columns.forEach(e, [&](Index panel, int64_t across, int64_t) {
      cut.forEach(e, [&](Index, Index row, int64_t height) {
        resultTile(query, row, height, panel * columns.width, across, units);
      });
    });
  }

  /// Computes the scores of a tile of queries for a panel of keys. The score is
  /// -infinity if the query does not see the key.
  void scoreTile(Index query, Index row, int64_t height, Index panel, bool isCut) {
    Values tile = t.multiplyScaled(queries, query + row, height, keyPanels, panel, shape.depth);
    Value never = t.splatOf(-std::numeric_limits<double>::infinity());
    for (int64_t r = 0; r < height; ++r)
      for (int64_t v = 0; v < vectors; ++v) {
        Index key = panel * t.width + v * code.lanes, own = query + row + r;
        Value score = t.addMask(tile[r * vectors + v], own, key);
        if (isCut)
          score = e.make<arith::SelectOp>(t.sees(own, key), score, never);
        code.store(score, code.at(scores, (row + r) * t.scoreStride + key));
      }
  }

  /// Computes the largest score of a row. Replaces each score by the exponential of
  /// the score minus the largest, and sums the exponentials.
  void exponentials(Index row, Value end) {
    Value base = code.at(scores, row * t.scoreStride);
    auto at = [&](Index panel, int64_t v) {
      return code.at(base, panel * t.width + v * code.lanes);
    };
    // This select becomes one instruction. It may drop a NaN, but the sum of the
    // exponentials will be NaN.
    auto larger = [&](Value x, Value y) -> Value {
      return e.make<arith::SelectOp>(e.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, y), x, y);
    };
    auto pass = [&](Value initial, function_ref<Value(Value old, Value address)> step) {
      return e.loopBetween(e.materialize(e.constant(0)), end, t.panels, Values(vectors, initial),
                           [&](Index panel, ValueRange now) {
                             Values next;
                             for (int64_t v = 0; v < vectors; ++v)
                               next.push_back(step(now[v], at(panel, v)));
                             return next;
                           });
    };
    auto combined = [&](Values parts, function_ref<Value(Value, Value)> fn) {
      Value all = parts[0];
      for (Value part : ArrayRef(parts).drop_front())
        all = fn(all, part);
      return code.combineLanes(all, fn);
    };
    Value top =
        combined(pass(t.splatOf(-std::numeric_limits<double>::infinity()),
                      [&](Value old, Value address) { return larger(old, code.load(address)); }),
                 larger);
    Value tops = code.splat(top);
    Value sum = combined(pass(code.zero(),
                              [&](Value old, Value address) {
                                Value x = t.exponential(t.subtracted(code.load(address), tops));
                                code.store(x, address);
                                return code.add(old, x);
                              }),
                         [&](Value x, Value y) { return e.make<arith::AddFOp>(x, y); });
    e.storeAt(largest, top, row);
    e.storeAt(sums, sum, row);
  }

  /// Computes a tile of the result: sums of rows of v, weighted by the
  /// exponentials, divided by the sum of the exponentials. If the op is guarded, a
  /// row becomes 0 if the sum of its exponentials is NaN.
  void resultTile(Index query, Index row, int64_t height, Index column, int64_t across,
                  Value units) {
    int64_t count = llvm::divideCeil(across, code.lanes);
    Values tile = t.addUnits({code.at(scores, row * t.scoreStride), t.scoreStride, 1, height,
                              code.at(values.address, column), values.stride, count},
                             e.materialize(e.constant(0)), units, t.panels * (t.width / t.unit),
                             Values(height * count, code.zero()));
    StridedMatrix to = t.matrixOf(op.getResult());
    Type type = typeOf(op.getResult()).getElementType();
    for (int64_t r = 0; r < height; ++r) {
      Value inverse = code.splat(code.loadScalar(code.at(sums, row + r)));
      Value isNan;
      if (op.getGuarded())
        isNan = e.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, inverse, inverse);
      for (int64_t v = 0; v < count; ++v) {
        Value x = t.multiplied(tile[r * count + v], inverse);
        if (isNan)
          x = e.make<arith::SelectOp>(isNan, code.zero(), x);
        Value address = code.at(to.address, to.at(query + row + r, column + v * code.lanes), type);
        code.storeAs(type, x, address, std::min(code.lanes, across - v * code.lanes));
      }
    }
  }

  AttentionOp op;
  const AttentionShape shape;
  VectorEmitter &e;
  AttentionTiles t;
  VectorCode &code;
  int64_t vectors; // the number of vectors in a panel
  AttentionTiles::Rows queries, values;
  Value keyPanels, scores, largest, sums;
};

struct AttentionFill : VectorFillRule<AttentionFill, AttentionOp> {
  bool pays(Operation *) const { return true; }

  ScratchSizes scratch(AttentionOp op, const VectorSite &site) const {
    const AttentionShape shape = op.getAttentionShape();
    AttentionSizes t(site.unit, typeOf(op.getQ()).getElementType(), shape, op.getMask(),
                     op.getMaskDimensions(), site.isInMemory);
    return t.format.bytesOf({t.maskElements, t.countOfRows(shape.queries, t.pointsOf(shape.depth)),
                             t.countOfPackedPanels(shape.depth),
                             t.countOfRows(shape.keys, shape.valueDepth),
                             t.countOfScores(t.blockRows), t.blockRows, t.blockRows});
  }

  void fill(AttentionOp op, VectorEmitter &e) const { AttentionNest(e, op).emit(); }
};
} // namespace

void dpc::attachAttentionFill(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionFill>(context);
}
