// Loop rules of the ops that read or write where an index tensor says. Reads
// clamp an index that is out of range and writes skip it: only padding, whose
// content nobody uses, has such indices.

#include "dialects/NN/IR/Indexing.h"
#include "dialects/NN/IR/Loops.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

Value GatherOp::emitElementAt(LoopEmitter &e, unsigned,
                              const ElementIndex &index) {
  int64_t dimension = getDimension(),
          indexRank = typeOf(getIndices()).getRank();
  ArrayRef<int64_t> table = typeOf(getTable()).getShape();
  ArrayRef<Index> at = index.positions();
  SmallVector<Index> positions(at.take_front(dimension));
  ElementIndex place(e, typeOf(getIndices()).getShape(),
                     at.slice(dimension, indexRank));
  positions.push_back(e.readIndex(getIndices(), place, table[dimension]));
  llvm::append_range(positions, at.drop_front(dimension + indexRank));
  return e.read(getTable(), positions);
}

Value GatherElementsOp::emitElementAt(LoopEmitter &e, unsigned,
                                      const ElementIndex &index) {
  SmallVector<Index> positions(index.positions());
  positions[getDimension()] = e.readIndex(
      getIndices(), index, typeOf(getInput()).getDimSize(getDimension()));
  return e.read(getInput(), positions);
}

Value GatherNDOp::emitElementAt(LoopEmitter &e, unsigned,
                                const ElementIndex &index) {
  ArrayRef<int64_t> input = typeOf(getInput()).getShape(),
                    indices = typeOf(getIndices()).getShape();
  int64_t batch = getBatchDims(), length = indices.back();
  ArrayRef<Index> at = index.positions();
  SmallVector<Index> positions(at.take_front(batch));
  for (int64_t i = 0; i < length; ++i) {
    SmallVector<Index> tuple(at.take_front(indices.size() - 1));
    tuple.push_back(e.constant(i));
    positions.push_back(e.readIndex(
        getIndices(), ElementIndex(e, indices, tuple), input[batch + i]));
  }
  llvm::append_range(positions, at.drop_front(indices.size() - 1));
  return e.read(getInput(), positions);
}

/// Copies an operand into the result of its type.
static void copyWhole(LoopEmitter &e, Value from, Value to) {
  ArrayRef<int64_t> shape = typeOf(from).getShape();
  e.forEach(shape, [&](ArrayRef<Index> i) {
    ElementIndex index(e, shape, i);
    e.store(to, e.read(from, index), index.number());
  });
}

/// Combines `update` into element `number` of `result`.
static void combineInto(LoopEmitter &e, ScatterKind kind, Value result,
                        Index number, Value update) {
  if (kind != ScatterKind::none) {
    static const ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum,
                                       ReduceKind::prod, ReduceKind::max,
                                       ReduceKind::min};
    Combiner combiner(e, kinds[unsigned(kind)],
                      typeOf(result).getElementType());
    update = combiner.narrow(combiner.combine(
        combiner.widen(e.load(result, number)), combiner.widen(update)));
  }
  e.store(result, update, number);
}

bool ScatterAddOp::isPushed() { return true; }
bool ScatterElementsOp::isPushed() { return true; }
bool ScatterNDOp::isPushed() { return true; }
bool TopKOp::isPushed() { return true; }

LogicalResult ScatterAddOp::emitLoops(LoopEmitter &e) {
  RankedTensorType type = typeOf(getResult());
  ArrayRef<int64_t> shape = type.getShape(),
                    indexShape = typeOf(getIndices()).getShape(),
                    updateShape = typeOf(getUpdates()).getShape();
  int64_t dimension = getDimension(), outer = 1, inner = 1, count = 1;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != dimension)
      (d < dimension ? outer : inner) *= shape[d];
  for (int64_t extent : indexShape)
    count *= extent;
  int64_t extent = shape[dimension];
  Value zero = e.constantLike(registerType(type.getElementType()), 0);
  e.forEach({type.getNumElements()},
            [&](ArrayRef<Index> i) { e.store(getResult(), zero, i[0]); });
  e.sequence(outer, [&](Index a) {
    e.sequence(count, [&](Index i) {
      auto [row, inside] = e.readCheckedIndex(
          getIndices(), ElementIndex(e, indexShape, i), extent);
      Index to = row;
      e.when(inside, [&] {
        e.forEach({inner}, [&](ArrayRef<Index> b) {
          ElementIndex from(e, updateShape, (a * count + i) * inner + b[0]);
          combineInto(e, ScatterKind::add, getResult(),
                      (a * extent + to) * inner + b[0],
                      e.read(getUpdates(), from));
        });
      });
    });
  });
  return success();
}

LogicalResult ScatterElementsOp::emitLoops(LoopEmitter &e) {
  ArrayRef<int64_t> shape = typeOf(getResult()).getShape(),
                    indexShape = typeOf(getIndices()).getShape();
  copyWhole(e, getInput(), getResult());
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
    auto [row, inside] =
        e.readCheckedIndex(getIndices(), place, shape[getDimension()]);
    SmallVector<Index> positions(at);
    positions[getDimension()] = row;
    e.when(inside, [&] {
      combineInto(e, getKind(), getResult(), e.linearize(positions, shape),
                  e.read(getUpdates(), place));
    });
  };
  SmallVector<Index> at;
  nest(at);
  return success();
}

LogicalResult ScatterNDOp::emitLoops(LoopEmitter &e) {
  ArrayRef<int64_t> shape = typeOf(getResult()).getShape(),
                    indexShape = typeOf(getIndices()).getShape(),
                    updateShape = typeOf(getUpdates()).getShape();
  int64_t batch = getBatchDims(), length = indexShape.back(), slice = 1,
          tuples = 1;
  for (int64_t extent : shape.drop_front(batch + length))
    slice *= extent;
  for (int64_t extent : indexShape.drop_back())
    tuples *= extent;
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  copyWhole(e, getInput(), getResult());
  e.sequence(tuples, [&](Index tuple) {
    SmallVector<Index> at = e.delinearize(tuple, indexShape.drop_back());
    Index base = e.constant(0);
    Value inside;
    for (int64_t d = 0; d < batch; ++d)
      base = base + at[d] * strides[d];
    for (int64_t i = 0; i < length; ++i) {
      auto [row, isInside] = e.readCheckedIndex(
          getIndices(), ElementIndex(e, indexShape, tuple * length + i),
          shape[batch + i]);
      inside = e.both(inside, isInside);
      base = base + row * strides[batch + i];
    }
    e.when(inside, [&] {
      e.forEach({slice}, [&](ArrayRef<Index> b) {
        ElementIndex from(e, updateShape, tuple * slice + b[0]);
        combineInto(e, getKind(), getResult(), base + b[0],
                    e.read(getUpdates(), from));
      });
    });
  });
  return success();
}

// Selection: round j finds the best of the elements that come after the one
// round j - 1 found.
LogicalResult TopKOp::emitLoops(LoopEmitter &e) {
  RankedTensorType type = typeOf(getInput());
  ArrayRef<int64_t> shape = type.getShape(),
                    kept = typeOf(getValues()).getShape();
  int64_t dimension = getDimension(), extent = shape[dimension], k = getK();
  if (extent == 0 || k == 0)
    return success();
  SmallVector<int64_t> rows(shape);
  rows[dimension] = 1;
  Ordering ordering(e, type.getElementType());
  Type indexType = typeOf(getIndices()).getElementType();
  auto precedes = [&](Value x, Value i, Value y, Value j) {
    Value less = ordering.lessNanLast(x, y), more = ordering.lessNanLast(y, x);
    if (getLargest())
      std::swap(less, more);
    Value earlier = e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, i, j);
    Value same = e.make<arith::XOrIOp>(
        ordering.either(less, more),
        e.constantInt(e.builder.getI1Type(), APInt(1, 1)));
    return ordering.either(less, ordering.all(same, earlier));
  };
  e.forEach(rows, [&](ArrayRef<Index> row) {
    auto at = [&](Index i) {
      SmallVector<Index> positions(row);
      positions[dimension] = i;
      return e.read(getInput(), positions);
    };
    Value first = at(e.constant(0)), none = e.materialize(e.constant(-1));
    e.loop(k, {first, none}, [&](Index j, ValueRange previous) {
      Value isFirst =
          e.make<arith::CmpIOp>(arith::CmpIPredicate::eq, e.materialize(j),
                                e.materialize(e.constant(0)));
      auto best =
          e.loop(extent, {first, none}, [&](Index i, ValueRange carried) {
            Value now = at(i), place = e.materialize(i);
            Value open = ordering.either(
                isFirst, precedes(previous[0], previous[1], now, place));
            Value empty =
                e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, carried[1],
                                      e.materialize(e.constant(0)));
            Value better = ordering.all(
                open, ordering.either(
                          empty, precedes(now, place, carried[0], carried[1])));
            return Values{e.make<arith::SelectOp>(better, now, carried[0]),
                          e.make<arith::SelectOp>(better, place, carried[1])};
          });
      SmallVector<Index> positions(row);
      positions[dimension] = j;
      Index to = e.linearize(positions, kept);
      e.store(getValues(), best[0], to);
      Value place = best[1];
      if (!indexType.isInteger(64))
        place = e.make<arith::TruncIOp>(indexType, place);
      e.store(getIndices(), place, to);
      return Values{best[0], best[1]};
    });
  });
  return success();
}
