// Rules of the ops that read or write at positions from an index tensor. An index
// out of range occurs only in padding, whose contents are not used. Reads clamp an
// index out of range, and writes skip it.

#include "dialects/NN/IR/Indexing.h"
#include "targets/Loops/Combiner.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

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
  /// The index tensor says from which row of the table the result element at `index` is
  /// read. Returns the position of the number of this row in the index tensor.
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
  /// A tuple in the index tensor says from where the result element at `index` is read.
  /// Returns the position of component `i` of this tuple in the index tensor.
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

/// Combines `update` with element `number` of `result`, and returns the combined value. For
/// ScatterKind::none, this is `update`.
static Value combineWith(LoopEmitter &e, ScatterKind kind, Value result, Index number,
                         Value update) {
  if (kind == ScatterKind::none)
    return update;
  static const ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::prod,
                                     ReduceKind::max, ReduceKind::min};
  Combiner combiner(e, kinds[unsigned(kind)], typeOf(result).getElementType());
  return combiner.narrow(
      combiner.combine(combiner.widen(e.load(result, number)), combiner.widen(update)));
}

/// As combineWith. Stores the combined value.
static void combineInto(LoopEmitter &e, ScatterKind kind, Value result, Index number,
                        Value update) {
  e.store(result, combineWith(e, kind, result, number, update), number);
}

namespace {

/// Divides the result of a scatter into lines, each line into units, and the units among
/// parts. An index says which unit of a line an update writes. Each unit belongs to one
/// part, and only this part (the owner) writes it. Every part goes through all updates of
/// its line in order, and applies the updates of its own units. Therefore updates of one
/// element are combined in order, even if parts run in parallel.
struct Owners {
  /// Divides `lines` lines, which have `units` units each, into about `wanted`
  /// parts.
  Owners(int64_t lines, int64_t units, int64_t wanted)
      : perLine(std::clamp<int64_t>(wanted / std::max<int64_t>(1, lines), 1,
                                    std::max<int64_t>(1, units))),
        units(units), most(llvm::divideCeil(units, perLine)) {
    perLine = llvm::divideCeil(std::max<int64_t>(1, units), std::max<int64_t>(1, most));
    count = lines * perLine;
  }

  Index lineOf(LoopEmitter &e, Index part) const { return e.floorDiv(part, perLine); }
  /// The number of the first unit of a part in its line.
  Index firstOf(LoopEmitter &e, Index part) const { return e.mod(part, perLine) * most; }
  /// Whether part `part` owns unit `unit`. Null if it always does.
  Value owns(LoopEmitter &e, Index part, Index unit) const {
    return e.inRange(unit - firstOf(e, part), 0, most);
  }
  /// Emits loops that run `body` for each unit of part `part`, and for each
  /// multi-index of `inner`.
  void forEachUnit(LoopEmitter &e, Index part, ArrayRef<int64_t> inner,
                   function_ref<void(Index unit, ArrayRef<Index> inner)> body) const {
    SmallVector<int64_t> shape{most};
    llvm::append_range(shape, inner);
    e.forEach(shape, [&](ArrayRef<Index> i) {
      Index unit = firstOf(e, part) + i[0];
      e.when(e.inRange(unit, 0, units), [&] { body(unit, i.drop_front()); });
    });
  }

  int64_t perLine; ///< number of parts per line
  int64_t units;   ///< number of units of a line
  int64_t most;    ///< largest number of units of a part
  int64_t count;   ///< number of parts
};

struct ScatterAddRule : FillRule<ScatterAddRule, ScatterAddOp> {
  /// The number of lines, whose units are rows, and the number of elements of a
  /// row.
  static std::pair<int64_t, int64_t> sizes(ScatterAddOp op) {
    int64_t outer = 1, inner = 1;
    for (auto [d, extent] : llvm::enumerate(typeOf(op.getResult()).getShape()))
      if (static_cast<int64_t>(d) != static_cast<int64_t>(op.getDimension()))
        (d < op.getDimension() ? outer : inner) *= extent;
    return {outer, inner};
  }
  /// The number of neighbours of a row that a thread adds to together. Where LLVM joins their
  /// accesses, they have 16 bytes.
  static int64_t neighboursOf(const LoopEmitter &e, ScatterAddOp op) {
    const int64_t kWidestAccess = 16;
    const int64_t bytes = llvm::divideCeil(typeOf(op.getResult()).getElementTypeBitWidth(), 8);
    return e.joinsNeighbours ? std::gcd(sizes(op).second, kWidestAccess / bytes) : 1;
  }
  static Owners owners(ScatterAddOp op, int64_t wanted) {
    return {sizes(op).first, typeOf(op.getResult()).getDimSize(op.getDimension()), wanted};
  }

  // If there is only one line, the index is read outside of loops and branches. Updates are
  // always read in a branch.
  bool readsInOpen(Operation *self, unsigned operand) const {
    return operand == 1 && sizes(cast<ScatterAddOp>(self)).first == 1;
  }

  FillParts parts(ScatterAddOp op, int64_t wanted) const {
    return {owners(op, wanted).count, sizes(op).second};
  }

  void fill(ScatterAddOp op, LoopEmitter &e, FillParts parts) const {
    RankedTensorType type = typeOf(op.getResult());
    ArrayRef<int64_t> indexShape = typeOf(op.getIndices()).getShape(),
                      updateShape = typeOf(op.getUpdates()).getShape();
    auto [outer, inner] = sizes(op);
    int64_t count = ShapedType::getNumElements(indexShape),
            extent = type.getDimSize(op.getDimension());
    Owners owners = ScatterAddRule::owners(op, parts.count);
    Value zero = e.constantLike(registerType(type.getElementType()), 0);
    const int64_t wide = neighboursOf(e, op);
    // `inner` is captured by value, because structured bindings cannot be captured
    // by reference.
    auto add = [&, inner = inner](Index part) {
      Index line = owners.lineOf(e, part);
      owners.forEachUnit(e, part, {inner / wide}, [&](Index row, ArrayRef<Index> piece) {
        for (int64_t n = 0; n < wide; ++n)
          e.store(op.getResult(), zero, (line * extent + row) * inner + piece[0] * wide + n);
      });
      e.meet();
      auto find = [&](Index i) -> LoopEmitter::Found {
        auto [row, inside] =
            e.readCheckedIndex(op.getIndices(), ElementIndex(e, indexShape, i), extent);
        return {e.both(inside, owners.owns(e, part, row)), row};
      };
      e.sequenceOfFound(count, find, [&](Index i, Index to) {
        e.forEach({inner / wide}, [&](ArrayRef<Index> piece) {
          // Load all neighbours before a store, so that their accesses are joined.
          SmallVector<Value> updates, sums;
          const Index from = (line * count + i) * inner + piece[0] * wide,
                      target = (line * extent + to) * inner + piece[0] * wide;
          for (int64_t n = 0; n < wide; ++n)
            updates.push_back(e.read(op.getUpdates(), ElementIndex(e, updateShape, from + n)));
          for (auto [n, update] : llvm::enumerate(updates))
            sums.push_back(combineWith(e, ScatterKind::add, op.getResult(),
                                       target + static_cast<int64_t>(n), update));
          for (auto [n, sum] : llvm::enumerate(sums))
            e.store(op.getResult(), sum, target + static_cast<int64_t>(n));
        });
      });
    };
    e.forEach({owners.count}, [&](ArrayRef<Index> part) { add(part[0]); });
  }
};

/// Fill rule of nn.scatter_elements. A line is the elements along the indexed
/// dimension, and a unit is one element.
struct ScatterElementsRule : FillRule<ScatterElementsRule, ScatterElementsOp> {
  static Owners owners(ScatterElementsOp op, int64_t wanted) {
    RankedTensorType type = typeOf(op.getResult());
    int64_t extent = type.getDimSize(op.getDimension());
    return {type.getNumElements() / std::max<int64_t>(1, extent), extent, wanted};
  }

  // Only the input and the index are read outside of branches; updates are read in a
  // branch.
  bool readsInOpen(Operation *, unsigned operand) const { return operand < 2; }

  FillParts parts(ScatterElementsOp op, int64_t wanted) const {
    return {wanted > 1 ? owners(op, wanted).count : 1, 1};
  }

  void fill(ScatterElementsOp op, LoopEmitter &e, FillParts parts) const {
    if (parts.count > 1)
      return fillByOwners(op, e, parts);
    e.forEach({1}, [&](ArrayRef<Index>) { fillInOrder(op, e); });
  }

  /// For one part: copies the input to the result, then applies the updates in
  /// row-major order.
  static void fillInOrder(ScatterElementsOp op, LoopEmitter &e) {
    ArrayRef<int64_t> shape = typeOf(op.getResult()).getShape(),
                      indexShape = typeOf(op.getIndices()).getShape();
    e.forEach(shape, [&](ArrayRef<Index> i) {
      ElementIndex index(e, shape, i);
      e.store(op.getResult(), e.read(op.getInput(), index), index.number());
    });
    auto update = [&](ArrayRef<Index> at, ValueRange) {
      ElementIndex place(e, indexShape, at);
      auto [row, inside] = e.readCheckedIndex(op.getIndices(), place, shape[op.getDimension()]);
      SmallVector<Index> positions(at);
      positions[op.getDimension()] = row;
      e.when(inside, [&] {
        combineInto(e, op.getKind(), op.getResult(), e.linearize(positions, shape),
                    e.read(op.getUpdates(), place));
      });
      return Values();
    };
    e.loop(indexShape, {}, update);
  }

  static void fillByOwners(ScatterElementsOp op, LoopEmitter &e, FillParts parts) {
    ArrayRef<int64_t> shape = typeOf(op.getResult()).getShape(),
                      indexShape = typeOf(op.getIndices()).getShape();
    int64_t dimension = op.getDimension();
    Owners owners = ScatterElementsRule::owners(op, parts.count);
    SmallVector<int64_t> lines(shape);
    lines[dimension] = 1;
    e.forEach({owners.count}, [&](ArrayRef<Index> part) {
      SmallVector<Index> at = e.delinearize(owners.lineOf(e, part[0]), lines);
      auto numberOf = [&](Index row) {
        at[dimension] = row;
        return e.linearize(at, shape);
      };
      owners.forEachUnit(e, part[0], {}, [&](Index row, ArrayRef<Index>) {
        ElementIndex index(e, shape, numberOf(row));
        e.store(op.getResult(), e.read(op.getInput(), index), index.number());
      });
      e.meet();
      Value hasUpdates;
      for (auto [d, extent] : llvm::enumerate(indexShape))
        if (static_cast<int64_t>(d) != dimension)
          hasUpdates = e.both(hasUpdates, e.inRange(at[d], 0, extent));
      e.when(hasUpdates, [&] {
        e.sequence(indexShape[dimension], [&](Index i) {
          at[dimension] = i;
          ElementIndex place(e, indexShape, at);
          auto [row, inside] = e.readCheckedIndex(op.getIndices(), place, shape[dimension]);
          Index to = row;
          e.when(e.both(inside, owners.owns(e, part[0], row)), [&] {
            combineInto(e, op.getKind(), op.getResult(), numberOf(to),
                        e.read(op.getUpdates(), place));
          });
        });
      });
    });
  }
};

/// Fill rule of nn.scatter_nd. A unit is a slice: the elements that one index tuple
/// selects.
struct ScatterNDRule : FillRule<ScatterNDRule, ScatterNDOp> {
  /// The number of elements of a slice.
  static int64_t sliceOf(ScatterNDOp op) {
    int64_t known = op.getBatchDims() + typeOf(op.getIndices()).getShape().back();
    return ShapedType::getNumElements(typeOf(op.getResult()).getShape().drop_front(known));
  }
  static Owners owners(ScatterNDOp op, int64_t wanted) {
    int64_t elements = typeOf(op.getResult()).getNumElements();
    return {1, elements / std::max<int64_t>(1, sliceOf(op)), wanted};
  }

  bool readsInOpen(Operation *, unsigned operand) const { return operand < 2; }

  FillParts parts(ScatterNDOp op, int64_t wanted) const {
    return {owners(op, wanted).count, sliceOf(op)};
  }

  void fill(ScatterNDOp op, LoopEmitter &e, FillParts parts) const {
    ArrayRef<int64_t> shape = typeOf(op.getResult()).getShape(),
                      indexShape = typeOf(op.getIndices()).getShape(),
                      updateShape = typeOf(op.getUpdates()).getShape();
    int64_t batch = op.getBatchDims(), length = indexShape.back(), slice = sliceOf(op), tuples = 1;
    for (int64_t extent : indexShape.drop_back())
      tuples *= extent;
    SmallVector<int64_t> strides = rowMajorStrides(shape.take_front(batch + length));
    Owners owners = ScatterNDRule::owners(op, parts.count);
    e.forEach({owners.count}, [&](ArrayRef<Index> part) {
      owners.forEachUnit(e, part[0], {slice}, [&](Index unit, ArrayRef<Index> b) {
        ElementIndex index(e, shape, unit * slice + b[0]);
        e.store(op.getResult(), e.read(op.getInput(), index), index.number());
      });
      e.meet();
      auto find = [&](Index tuple) -> LoopEmitter::Found {
        SmallVector<Index> at = e.delinearize(tuple, indexShape.drop_back());
        Index unit = e.constant(0);
        Value inside;
        for (int64_t d = 0; d < batch; ++d)
          unit = unit + at[d] * strides[d];
        for (int64_t i = 0; i < length; ++i) {
          auto [row, isInside] = e.readCheckedIndex(
              op.getIndices(), ElementIndex(e, indexShape, tuple * length + i), shape[batch + i]);
          inside = e.both(inside, isInside);
          unit = unit + row * strides[batch + i];
        }
        return {e.both(inside, owners.owns(e, part[0], unit)), unit};
      };
      e.sequenceOfFound(tuples, find, [&](Index tuple, Index unit) {
        e.forEach({slice}, [&](ArrayRef<Index> b) {
          ElementIndex from(e, updateShape, tuple * slice + b[0]);
          combineInto(e, op.getKind(), op.getResult(), unit * slice + b[0],
                      e.read(op.getUpdates(), from));
        });
      });
    });
  }
};

// Fill rule of nn.top_k, by selection: iteration j finds the best of the elements
// that rank after the result of iteration j - 1.
struct TopKRule : FillRule<TopKRule, TopKOp> {
  static SmallVector<int64_t> rowsOf(TopKOp op) {
    SmallVector<int64_t> rows(typeOf(op.getInput()).getShape());
    rows[op.getDimension()] = 1;
    return rows;
  }

  bool readsInOpen(Operation *, unsigned) const { return true; }

  FillParts parts(TopKOp op, int64_t) const {
    return {ShapedType::getNumElements(rowsOf(op)),
            typeOf(op.getInput()).getDimSize(op.getDimension())};
  }

  void fill(TopKOp op, LoopEmitter &e, FillParts) const {
    RankedTensorType type = typeOf(op.getInput());
    ArrayRef<int64_t> shape = type.getShape(), kept = typeOf(op.getValues()).getShape();
    int64_t dimension = op.getDimension(), extent = shape[dimension], k = op.getK();
    if (extent == 0 || k == 0)
      return;
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
    e.forEach(rowsOf(op), [&](ArrayRef<Index> row) {
      auto at = [&](Index i) {
        SmallVector<Index> positions(row);
        positions[dimension] = i;
        return e.read(op.getInput(), positions);
      };
      Value first = at(e.constant(0)), none = e.materialize(e.constant(-1));
      e.loop(k, {first, none}, [&](Index j, ValueRange previous) {
        Value isFirst = e.make<arith::CmpIOp>(arith::CmpIPredicate::eq, e.materialize(j),
                                              e.materialize(e.constant(0)));
        // Returns the better of two elements. `open` says whether the new element
        // may be chosen.
        auto choose = [&](Value open, ValueRange one, Value now, Value place) {
          Value empty = e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, one[1],
                                              e.materialize(e.constant(0)));
          Value better =
              ordering.all(open, ordering.either(empty, precedes(now, place, one[0], one[1])));
          return Values{e.make<arith::SelectOp>(better, now, one[0]),
                        e.make<arith::SelectOp>(better, place, one[1])};
        };
        auto consider = [&](ArrayRef<Index> i, ValueRange carried) {
          Value now = at(i[0]), place = e.materialize(i[0]);
          return choose(ordering.either(isFirst, precedes(previous[0], previous[1], now, place)),
                        carried, now, place);
        };
        auto combine = [&](ValueRange one, ValueRange other) {
          Value isThere = e.make<arith::CmpIOp>(arith::CmpIPredicate::sge, other[1],
                                                e.materialize(e.constant(0)));
          return choose(isThere, one, other[0], other[1]);
        };
        Values best = e.reduce({extent}, {first, none}, consider, combine);
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
