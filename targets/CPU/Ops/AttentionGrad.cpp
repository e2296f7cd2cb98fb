// Fill rule of nn.attention_grad (after Dao, "FlashAttention-2", 2023). It divides
// the queries into parts. For each part, it computes the probabilities and the
// gradients of the scores, which stay in cache. From them it computes dq, which
// sums over keys, and adds to dk and dv, which sum over queries.

#include "dialects/NN/IR/Attention.h"
#include "targets/CPU/Ops/AttentionTiles.h"
#include "targets/CPU/Ops/Ops.h"
#include "targets/CPU/Vectors/TileGrid.h"
#include "targets/CPU/Vectors/VectorFill.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
class GradientNest {
public:
  GradientNest(VectorEmitter &emitter, AttentionGradOp op)
      : op(op), shape(op.getAttentionShape()), e(emitter),
        t(emitter, typeOf(op.getQ()).getElementType(), shape, op.getMask(), op.getMaskDimensions(),
          op.getScale().convertToDouble()),
        code(t.code), vectors(t.width / code.lanes), parts(t), partRows(parts.rows),
        isWhole(parts.isWhole) {}

  void emit() {
    queries = t.makeRows(shape.queries, shape.depth, /*isOfPairs=*/false);
    keys = t.makeRows(shape.keys, shape.depth, /*isOfPairs=*/false);
    grads = t.makeRows(shape.queries, shape.valueDepth, /*isOfPairs=*/false);
    keyPanels = t.makePanels(shape.depth);
    valuePanels = t.makePanels(shape.valueDepth);
    probabilities = code.scratch(t.countOfScores(partRows));
    scoreGrads = code.scratch(t.countOfScores(partRows));
    logSumExp = code.scratch(shape.queries);
    delta = code.scratch(shape.queries);
    queryFactors = queries;
    gradFactors = grads;
    if (t.inPairs) {
      queryFactors = t.makeRows(shape.queries, shape.depth, /*isOfPairs=*/true);
      gradFactors = t.makeRows(shape.queries, shape.valueDepth, /*isOfPairs=*/true);
      inverseSums = code.scratch(shape.queries);
    }
    dq = inResult(op.getDq());
    dk = isWhole ? inResult(op.getDk()) : inSums(op.getDk(), shape.keys, shape.depth);
    dv = isWhole ? inResult(op.getDv()) : inSums(op.getDv(), shape.keys, shape.valueDepth);
    e.sequence(shape.batches(), [&](Index batch) {
      t.setBatch(batch);
      // The copies of q and of k are multiplied by the scale of the scores, because dk
      // sums scaled rows of q, and dq sums scaled rows of k. The scores are products of
      // scaled rows of q with the panels of k, which are not scaled. Pairs are not scaled
      // either, because this would round them.
      t.copyRows(queries, op.getQ(), shape.queries, shape.depth, t.scale);
      t.copyRows(keys, op.getK(), shape.keys, shape.depth, t.scale);
      t.copyRows(grads, op.getResultGrad(), shape.queries, shape.valueDepth, 1);
      if (t.inPairs) {
        t.copyRows(queryFactors, op.getQ(), shape.queries, shape.depth, 1);
        t.copyRows(gradFactors, op.getResultGrad(), shape.queries, shape.valueDepth, 1);
      }
      t.packPanels(keyPanels, op.getK(), shape.depth);
      t.packPanels(valuePanels, op.getV(), shape.valueDepth);
      e.forEach({shape.queries}, [&](ArrayRef<Index> i) {
        ElementIndex at(e, shape.logSumExp(), batch * shape.queries + i[0]);
        e.storeAt(logSumExp, e.read(op.getLogSumExp(), at), i[0]);
        e.storeAt(delta, e.read(op.getDelta(), at), i[0]);
      });
      if (!isWhole) {
        clear(dk, shape.keys, shape.depth);
        clear(dv, shape.keys, shape.valueDepth);
      }
      inBlocks(e, shape.queries, partRows, [&](Index query, int64_t count) { part(query, count); });
      if (dk.sums)
        for (auto [result, elements] :
             {std::pair(&dk, shape.depth), std::pair(&dv, shape.valueDepth)})
          roundSums(*result, shape.keys, elements);
    });
  }

private:
  /// The memory in which a result is summed: its buffer, or scratch memory of a
  /// wider type, from which the sums are rounded to the buffer after the last part.
  struct Place {
    Value tensor, sums;
    int64_t stride = 0;
  };
  static Place inResult(Value tensor) { return {tensor, nullptr}; }
  Place inSums(Value tensor, int64_t rows, int64_t elements) {
    if (t.factorType == code.elementType)
      return inResult(tensor);
    return {tensor, code.scratch(rows * elements), elements};
  }
  StridedMatrix matrixOf(const Place &place) {
    if (place.sums)
      return {place.sums, e.constant(0), place.stride, 1};
    return t.matrixOf(place.tensor);
  }
  Type typeAt(const Place &place) const { return place.sums ? code.elementType : t.factorType; }
  Value addressIn(const Place &place, Index row, Index element) {
    StridedMatrix matrix = matrixOf(place);
    return code.at(matrix.address, matrix.at(row, element), typeAt(place));
  }
  void roundSums(const Place &place, int64_t rows, int64_t elements) {
    e.sequence(rows, [&](Index row) {
      inBlocks(e, elements, code.lanes, [&](Index element, int64_t lanes) {
        Value sums = code.load(addressIn(place, row, element), lanes);
        code.storeAs(t.factorType, sums, addressIn(inResult(place.tensor), row, element), lanes);
      });
    });
  }

  void part(Index query, int64_t count) {
    inBlocks(e, count, t.blockRows, [&](Index row, int64_t rows) { block(query, row, rows); });
    TileRows cut(shape.keys, t.tileRows);
    cut.forEach(e, [&](Index, Index key, int64_t height) {
      // Skip a tile of keys if no query of this part sees them.
      Value isSeen;
      if (shape.causal && !isWhole)
        isSeen = e.make<arith::CmpIOp>(arith::CmpIPredicate::sle, e.materialize(key - query),
                                       e.materialize(e.constant(shape.offset() + count - 1)));
      e.when(isSeen, [&] {
        keyTile(dk, scoreGrads, queries, shape.depth, query, count, key, height);
        keyTile(dv, probabilities, grads, shape.valueDepth, query, count, key, height);
      });
    });
  }

  /// Computes probabilities, score gradients and dq for a block of `count` queries.
  /// The block begins `row` rows after query `first`, which is the first query of
  /// the part.
  void block(Index first, Index row, int64_t count) {
    Index query = first + row;
    AttentionTiles::Seen seen = t.keysSeenBy(query, count);
    TileRows cut(count, t.tileRows);
    t.prepareMask(query, count);
    t.forEachPanel(seen, [&](Index panel, bool isCut) {
      cut.forEach(e, [&](Index, Index tile, int64_t height) {
        probabilityTile(query + tile, row + tile, height, panel, isCut);
      });
    });
    Value end = e.materialize(seen.end);
    e.sequence(count, [&](Index r) { divideBySum(query + r, row + r, end); });
    e.loopBetween(e.materialize(e.constant(0)), end, t.panels, {}, [&](Index panel, ValueRange) {
      cut.forEach(e, [&](Index, Index tile, int64_t height) {
        scoreGradTile(query + tile, row + tile, height, panel);
      });
      return Values();
    });
    if (shape.causal)
      clearPanelAfter(seen.end, row, count);
    Panels columns(code, shape.depth);
    Value units = e.materialize(seen.end * (t.width / t.unit)), zero = e.materialize(e.constant(0));
    columns.forEach(e, [&](Index panel, int64_t across, int64_t) {
      Index column = panel * columns.width;
      int64_t some = llvm::divideCeil(across, code.lanes);
      cut.forEach(e, [&](Index, Index tile, int64_t height) {
        Values sums = t.addUnits({code.at(scoreGrads, (row + tile) * t.scoreStride), t.scoreStride,
                                  1, height, code.at(keys.address, column), keys.stride, some},
                                 zero, units, t.panels * (t.width / t.unit),
                                 Values(height * some, code.zero()));
        storeTile(dq, query + tile, height, column, across, sums);
      });
    });
  }

  Value placeOf(Value to, Index row, Index panel, int64_t v) {
    return code.at(to, row * t.scoreStride + panel * t.width + v * code.lanes);
  }
  Value ofQuery(Value rows, Index query) {
    return code.splat(code.loadScalar(code.at(rows, query)));
  }

  void probabilityTile(Index query, Index row, int64_t height, Index panel, bool isCut) {
    Values tile = t.multiplyScaled(queryFactors, query, height, keyPanels, panel, shape.depth);
    for (int64_t r = 0; r < height; ++r) {
      Value sum = ofQuery(logSumExp, query + r);
      for (int64_t v = 0; v < vectors; ++v) {
        Index key = panel * t.width + v * code.lanes;
        Value score = t.addMask(tile[r * vectors + v], query + r, key);
        Value p = t.exponential(t.subtracted(score, sum));
        if (isCut)
          p = e.make<arith::SelectOp>(t.sees(query + r, key), p, code.zero());
        if (op.getGuarded())
          p = e.make<arith::SelectOp>(e.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, p, p),
                                      code.zero(), p);
        code.store(p, placeOf(probabilities, row + r, panel, v));
      }
    }
  }

  /// Has the effect of dividing the exponentials of a row by their sum, which makes
  /// them probabilities. The probabilities occur only in products with `delta` and with
  /// the row of `grads`, so this function divides `delta` and that row of `grads`. The
  /// row is usually shorter: it has one element per column of v, not one per key. A row of
  /// pairs is not divided, because this would round it; scoreGradTile divides its products.
  void divideBySum(Index query, Index row, Value end) {
    Values parts = e.loopBetween(
        e.materialize(e.constant(0)), end, t.panels, Values(vectors, code.zero()),
        [&](Index panel, ValueRange now) {
          Values next;
          for (int64_t v = 0; v < vectors; ++v)
            next.push_back(code.add(now[v], code.load(placeOf(probabilities, row, panel, v))));
          return next;
        });
    for (int64_t v = 1; v < vectors; ++v)
      parts[0] = code.add(parts[0], parts[v]);
    Value sum = code.sumOfLanes(parts[0]), one = e.constantLike(code.elementType, 1);
    if (op.getGuarded()) // the sum is 0 if the mask hides all keys of the row
      sum = e.make<arith::SelectOp>(e.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, sum,
                                                          e.constantLike(code.elementType, 0)),
                                    one, sum);
    Value inverse = e.make<arith::DivFOp>(one, sum), inverses = code.splat(inverse);
    if (t.inPairs)
      e.storeAt(inverseSums, inverse, query);
    else
      e.storeAt(delta, t.multiplied(e.loadAt(delta, code.elementType, query), inverse), query);
    // Complete vectors may be stored, because each row is followed by zeros.
    e.sequence(llvm::divideCeil(shape.valueDepth, code.lanes), [&](Index i) {
      Value at = code.at(grads.address, query * grads.stride + i * code.lanes);
      code.store(t.multiplied(code.load(at), inverses), at);
    });
  }

  void scoreGradTile(Index query, Index row, int64_t height, Index panel) {
    Values tile = t.multiply(gradFactors, query, height, valuePanels, panel, shape.valueDepth);
    for (int64_t r = 0; r < height; ++r) {
      Value less = ofQuery(delta, query + r), inverse;
      if (t.inPairs)
        inverse = ofQuery(inverseSums, query + r);
      for (int64_t v = 0; v < vectors; ++v) {
        Value x = t.subtracted(tile[r * vectors + v], less);
        if (inverse)
          x = t.multiplied(x, inverse);
        code.store(t.multiplied(code.load(placeOf(probabilities, row + r, panel, v)), x),
                   placeOf(scoreGrads, row + r, panel, v));
      }
    }
  }

  /// Sets to zero the panel after the last panel that the block has computed. keyTile
  /// reads a complete tile of keys for each query, and a tile may begin in the last
  /// computed panel and end in the next one.
  void clearPanelAfter(Index end, Index row, int64_t count) {
    Value first = e.materialize(end), last = e.materialize(e.constant(t.panels));
    Value next = e.make<arith::MinSIOp>(e.materialize(end + 1), last);
    e.loopBetween(first, next, t.panels, {}, [&](Index panel, ValueRange) {
      e.sequence(count, [&](Index r) {
        for (int64_t v = 0; v < vectors; ++v)
          for (Value to : {probabilities, scoreGrads})
            code.store(code.zero(),
                       code.at(to, (row + r) * t.scoreStride + panel * t.width + v * code.lanes));
      });
      return Values();
    });
  }

  /// Computes the products of a part of the queries for `height` rows of dk or dv. Adds
  /// them to the rows, or stores them there if all queries are one part.
  void keyTile(const Place &result, Value weights, const AttentionTiles::Rows &rows,
               int64_t elements, Index query, int64_t count, Index key, int64_t height) {
    int64_t whole = count / t.unit, rest = count % t.unit;
    Value first = e.materialize(e.constant(0));
    if (shape.causal) {
      // Begin with the unit of queries that has the first query which sees a key of
      // the tile.
      Value distance = e.make<arith::MaxSIOp>(e.materialize(key - query - shape.offset()), first);
      first = e.make<arith::DivUIOp>(distance, e.materialize(e.constant(t.unit)));
    }
    Value end = e.materialize(e.constant(whole));
    Panels columns(code, elements);
    columns.forEach(e, [&](Index panel, int64_t across, int64_t) {
      Index column = panel * columns.width;
      int64_t some = llvm::divideCeil(across, code.lanes);
      Values sums;
      for (int64_t r = 0; r < height; ++r)
        for (int64_t v = 0; v < some; ++v)
          sums.push_back(isWhole ? code.zero()
                                 : code.load(addressIn(result, key + r, column + v * code.lanes),
                                             std::min(code.lanes, across - v * code.lanes)));
      AttentionTiles::Sum sum{code.at(weights, key),
                              1,
                              t.scoreStride,
                              height,
                              code.at(rows.address, query * rows.stride + column),
                              rows.stride,
                              some};
      sums = t.addUnits(sum, first, end, whole, sums);
      if (rest) {
        Index from = e.constant(whole * t.unit);
        sum.weights = code.at(sum.weights, from * t.scoreStride);
        sum.vectors = code.at(sum.vectors, from * rows.stride);
        sums = t.addPoints(sum, rest, sums);
      }
      storeTile(result, key, height, column, across, sums);
    });
  }

  void storeTile(const Place &result, Index row, int64_t height, Index column, int64_t across,
                 ArrayRef<Value> sums) {
    int64_t some = llvm::divideCeil(across, code.lanes);
    for (int64_t r = 0; r < height; ++r)
      for (int64_t v = 0; v < some; ++v)
        code.storeAs(typeAt(result), sums[r * some + v],
                     addressIn(result, row + r, column + v * code.lanes),
                     std::min(code.lanes, across - v * code.lanes));
  }

  void clear(const Place &result, int64_t rows, int64_t elements) {
    e.sequence(rows,
               [&](Index row) { code.fillZero(addressIn(result, row, e.constant(0)), elements); });
  }

  AttentionGradOp op;
  const AttentionShape shape;
  VectorEmitter &e;
  AttentionTiles t;
  VectorCode &code;
  int64_t vectors;
  const AttentionParts parts;
  const int64_t partRows;
  const bool isWhole;
  AttentionTiles::Rows queries, keys, grads;
  /// The rows of q and of the result's gradient as factors of scores and score gradients:
  /// pairs, or the rows above.
  AttentionTiles::Rows queryFactors, gradFactors;
  Value inverseSums; // only with pairs
  Value keyPanels, valuePanels, probabilities, scoreGrads, logSumExp, delta;
  Place dq, dk, dv;
};

struct AttentionGradFill : VectorFillRule<AttentionGradFill, AttentionGradOp> {
  bool pays(Operation *) const { return true; }

  ScratchSizes scratch(AttentionGradOp op, const VectorSite &site) const {
    const AttentionShape shape = op.getAttentionShape();
    Type factorType = typeOf(op.getQ()).getElementType();
    AttentionSizes t(site.unit, factorType, shape, op.getMask(), op.getMaskDimensions(),
                     site.isInMemory);
    return AttentionParts(t).getScratch(t, factorType);
  }

  void fill(AttentionGradOp op, VectorEmitter &e) const { GradientNest(e, op).emit(); }
};
} // namespace

void dpc::attachAttentionGradFill(MLIRContext &context) {
  AttentionGradOp::attachInterface<AttentionGradFill>(context);
}
