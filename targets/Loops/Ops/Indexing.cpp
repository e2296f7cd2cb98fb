// Rules of the ops that read or write where an index tensor says. Reads
// clamp an index that is out of range and writes skip it: only padding, whose
// content nobody uses, has such indices.

#include "dialects/NN/IR/Indexing.h"
#include "targets/Loops/Combiner.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {

struct GatherRule : MoveRule<GatherRule, GatherOp> {
  void reads(GatherOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    read(1, place(op, space, index));
    read(0, source(op, space, index));
  }
  /// Where the index lies.
  static ElementIndex place(GatherOp op, IndexSpace &space, const ElementIndex &index) {
    RankedTensorType indices = typeOf(op.getIndices());
    return elementOf(space, op.getIndices(),
                     index.positions().slice(op.getDimension(), indices.getRank()));
  }
  ElementIndex source(GatherOp op, IndexSpace &space, const ElementIndex &index) const {
    int64_t dimension = op.getDimension(), indexRank = typeOf(op.getIndices()).getRank();
    ArrayRef<Index> at = index.positions();
    SmallVector<Index> positions(at.take_front(dimension));
    positions.push_back(space.readIndex(op.getIndices(), place(op, space, index),
                                        typeOf(op.getTable()).getDimSize(dimension)));
    llvm::append_range(positions, at.drop_front(dimension + indexRank));
    return elementOf(space, op.getTable(), positions);
  }
};

struct GatherElementsRule : MoveRule<GatherElementsRule, GatherElementsOp> {
  void reads(GatherElementsOp op, IndexSpace &space, const ElementIndex &index,
             VisitRead read) const {
    read(1, index);
    read(0, source(op, space, index));
  }
  ElementIndex source(GatherElementsOp op, IndexSpace &space, const ElementIndex &index) const {
    SmallVector<Index> positions(index.positions());
    positions[op.getDimension()] = space.readIndex(
        op.getIndices(), index, typeOf(op.getInput()).getDimSize(op.getDimension()));
    return elementOf(space, op.getInput(), positions);
  }
};

struct GatherNDRule : MoveRule<GatherNDRule, GatherNDOp> {
  void reads(GatherNDOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    int64_t length = typeOf(op.getIndices()).getShape().back();
    for (int64_t i = 0; i < length; ++i)
      read(1, place(op, space, index, i));
    read(0, source(op, space, index));
  }
  /// Where index `i` of the tuple lies.
  static ElementIndex place(GatherNDOp op, IndexSpace &space, const ElementIndex &index,
                            int64_t i) {
    int64_t rank = typeOf(op.getIndices()).getRank();
    SmallVector<Index> tuple(index.positions().take_front(rank - 1));
    tuple.push_back(space.constant(i));
    return elementOf(space, op.getIndices(), tuple);
  }
  ElementIndex source(GatherNDOp op, IndexSpace &space, const ElementIndex &index) const {
    ArrayRef<int64_t> input = typeOf(op.getInput()).getShape(),
                      indices = typeOf(op.getIndices()).getShape();
    int64_t batch = op.getBatchDims();
    ArrayRef<Index> at = index.positions();
    SmallVector<Index> positions(at.take_front(batch));
    for (int64_t i = 0; i < indices.back(); ++i)
      positions.push_back(
          space.readIndex(op.getIndices(), place(op, space, index, i), input[batch + i]));
    llvm::append_range(positions, at.drop_front(indices.size() - 1));
    return elementOf(space, op.getInput(), positions);
  }
};

} // namespace

/// Copies an operand into the result of its type.
static void copyWhole(LoopEmitter &e, Value from, Value to) {
  ArrayRef<int64_t> shape = typeOf(from).getShape();
  e.forEach(shape, [&](ArrayRef<Index> i) {
    ElementIndex index(e, shape, i);
    e.store(to, e.read(from, index), index.number());
  });
}

/// Combines `update` into element `number` of `result`.
static void combineInto(LoopEmitter &e, ScatterKind kind, Value result, Index number,
                        Value update) {
  if (kind != ScatterKind::none) {
    static const ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::prod,
                                       ReduceKind::max, ReduceKind::min};
    Combiner combiner(e, kinds[unsigned(kind)], typeOf(result).getElementType());
    update = combiner.narrow(
        combiner.combine(combiner.widen(e.load(result, number)), combiner.widen(update)));
  }
  e.store(result, update, number);
}

namespace {

struct ScatterAddRule : FillRule<ScatterAddRule, ScatterAddOp> {
  void fill(ScatterAddOp op, LoopEmitter &e) const {
    RankedTensorType type = typeOf(op.getResult());
    ArrayRef<int64_t> shape = type.getShape(), indexShape = typeOf(op.getIndices()).getShape(),
                      updateShape = typeOf(op.getUpdates()).getShape();
    int64_t dimension = op.getDimension(), outer = 1, inner = 1, count = 1;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != dimension)
        (d < dimension ? outer : inner) *= shape[d];
    for (int64_t extent : indexShape)
      count *= extent;
    int64_t extent = shape[dimension];
    Value zero = e.constantLike(registerType(type.getElementType()), 0);
    e.forEach({type.getNumElements()},
              [&](ArrayRef<Index> i) { e.store(op.getResult(), zero, i[0]); });
    e.sequence(outer, [&](Index a) {
      e.sequence(count, [&](Index i) {
        auto [row, inside] =
            e.readCheckedIndex(op.getIndices(), ElementIndex(e, indexShape, i), extent);
        Index to = row;
        e.when(inside, [&] {
          e.forEach({inner}, [&](ArrayRef<Index> b) {
            ElementIndex from(e, updateShape, (a * count + i) * inner + b[0]);
            combineInto(e, ScatterKind::add, op.getResult(), (a * extent + to) * inner + b[0],
                        e.read(op.getUpdates(), from));
          });
        });
      });
    });
  }
};

struct ScatterElementsRule : FillRule<ScatterElementsRule, ScatterElementsOp> {
  void fill(ScatterElementsOp op, LoopEmitter &e) const {
    ArrayRef<int64_t> shape = typeOf(op.getResult()).getShape(),
                      indexShape = typeOf(op.getIndices()).getShape();
    copyWhole(e, op.getInput(), op.getResult());
    std::function<void(SmallVector<Index> &)> nest = [&](SmallVector<Index> &at) {
      if (at.size() < indexShape.size()) {
        e.sequence(indexShape[at.size()], [&](Index i) {
          at.push_back(i);
          nest(at);
          at.pop_back();
        });
        return;
      }
      ElementIndex place(e, indexShape, at);
      auto [row, inside] = e.readCheckedIndex(op.getIndices(), place, shape[op.getDimension()]);
      SmallVector<Index> positions(at);
      positions[op.getDimension()] = row;
      e.when(inside, [&] {
        combineInto(e, op.getKind(), op.getResult(), e.linearize(positions, shape),
                    e.read(op.getUpdates(), place));
      });
    };
    SmallVector<Index> at;
    nest(at);
  }
};

struct ScatterNDRule : FillRule<ScatterNDRule, ScatterNDOp> {
  void fill(ScatterNDOp op, LoopEmitter &e) const {
    ArrayRef<int64_t> shape = typeOf(op.getResult()).getShape(),
                      indexShape = typeOf(op.getIndices()).getShape(),
                      updateShape = typeOf(op.getUpdates()).getShape();
    int64_t batch = op.getBatchDims(), length = indexShape.back(), slice = 1, tuples = 1;
    for (int64_t extent : shape.drop_front(batch + length))
      slice *= extent;
    for (int64_t extent : indexShape.drop_back())
      tuples *= extent;
    SmallVector<int64_t> strides = rowMajorStrides(shape);
    copyWhole(e, op.getInput(), op.getResult());
    e.sequence(tuples, [&](Index tuple) {
      SmallVector<Index> at = e.delinearize(tuple, indexShape.drop_back());
      Index base = e.constant(0);
      Value inside;
      for (int64_t d = 0; d < batch; ++d)
        base = base + at[d] * strides[d];
      for (int64_t i = 0; i < length; ++i) {
        auto [row, isInside] = e.readCheckedIndex(
            op.getIndices(), ElementIndex(e, indexShape, tuple * length + i), shape[batch + i]);
        inside = e.both(inside, isInside);
        base = base + row * strides[batch + i];
      }
      e.when(inside, [&] {
        e.forEach({slice}, [&](ArrayRef<Index> b) {
          ElementIndex from(e, updateShape, tuple * slice + b[0]);
          combineInto(e, op.getKind(), op.getResult(), base + b[0], e.read(op.getUpdates(), from));
        });
      });
    });
  }
};

// Selection: round j finds the best of the elements that come after the one
// round j - 1 found.
struct TopKRule : FillRule<TopKRule, TopKOp> {
  void fill(TopKOp op, LoopEmitter &e) const {
    RankedTensorType type = typeOf(op.getInput());
    ArrayRef<int64_t> shape = type.getShape(), kept = typeOf(op.getValues()).getShape();
    int64_t dimension = op.getDimension(), extent = shape[dimension], k = op.getK();
    if (extent == 0 || k == 0)
      return;
    SmallVector<int64_t> rows(shape);
    rows[dimension] = 1;
    Ordering ordering(e, type.getElementType());
    Type indexType = typeOf(op.getIndices()).getElementType();
    auto precedes = [&](Value x, Value i, Value y, Value j) {
      Value less = ordering.lessNanLast(x, y), more = ordering.lessNanLast(y, x);
      if (op.getLargest())
        std::swap(less, more);
      Value earlier = e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, i, j);
      Value same = e.make<arith::XOrIOp>(ordering.either(less, more),
                                         e.constantInt(e.builder.getI1Type(), APInt(1, 1)));
      return ordering.either(less, ordering.all(same, earlier));
    };
    e.forEach(rows, [&](ArrayRef<Index> row) {
      auto at = [&](Index i) {
        SmallVector<Index> positions(row);
        positions[dimension] = i;
        return e.read(op.getInput(), positions);
      };
      Value first = at(e.constant(0)), none = e.materialize(e.constant(-1));
      e.loop(k, {first, none}, [&](Index j, ValueRange previous) {
        Value isFirst = e.make<arith::CmpIOp>(arith::CmpIPredicate::eq, e.materialize(j),
                                              e.materialize(e.constant(0)));
        auto best = e.loop(extent, {first, none}, [&](Index i, ValueRange carried) {
          Value now = at(i), place = e.materialize(i);
          Value open = ordering.either(isFirst, precedes(previous[0], previous[1], now, place));
          Value empty = e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, carried[1],
                                              e.materialize(e.constant(0)));
          Value better = ordering.all(
              open, ordering.either(empty, precedes(now, place, carried[0], carried[1])));
          return Values{e.make<arith::SelectOp>(better, now, carried[0]),
                        e.make<arith::SelectOp>(better, place, carried[1])};
        });
        SmallVector<Index> positions(row);
        positions[dimension] = j;
        Index to = e.linearize(positions, kept);
        e.store(op.getValues(), best[0], to);
        Value place = best[1];
        if (!indexType.isInteger(64))
          place = e.make<arith::TruncIOp>(indexType, place);
        e.store(op.getIndices(), place, to);
        return Values{best[0], best[1]};
      });
    });
  }
};

} // namespace

void dpc::attachIndexingRules(MLIRContext &context) {
  GatherOp::attachInterface<GatherRule>(context);
  GatherElementsOp::attachInterface<GatherElementsRule>(context);
  GatherNDOp::attachInterface<GatherNDRule>(context);
  ScatterAddOp::attachInterface<ScatterAddRule>(context);
  ScatterElementsOp::attachInterface<ScatterElementsRule>(context);
  ScatterNDOp::attachInterface<ScatterNDRule>(context);
  TopKOp::attachInterface<TopKRule>(context);
}
