// Rules of nn.reduce and nn.arg_reduce.

#include "dialects/NN/IR/Reduction.h"
#include "targets/Loops/Combiner.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
/// Combines `elements` over all multi-indices of some extents, in the type of the
/// accumulator. They are elements of `count` reductions. A long sum of floats is divided into
/// blocks, whose sums are added in f64. Its rounding error is that of one block (Higham, "Accuracy
/// and Stability of Numerical Algorithms", 4.2).
class BlockedFold {
public:
  BlockedFold(LoopEmitter &e, Combiner &combiner, size_t count,
              function_ref<Values(ArrayRef<Index>)> elements)
      : kBlock(e.getSumTerms()), e(e), combiner(combiner),
        total(e, ReduceKind::sum, e.builder.getF64Type()), count(count), elements(elements) {}

  Values run(ArrayRef<int64_t> extents, bool isFloatSum) {
    if (!isFloatSum || ShapedType::getNumElements(extents) <= kBlock)
      return runBlock(extents, {});
    Values sums = runBlocks(extents);
    const Type type = combiner.identity().getType();
    for (Value &sum : sums)
      if (type != sum.getType())
        sum = e.make<arith::TruncFOp>(type, sum);
    return sums;
  }

private:
  static Values combine(Combiner &by, ValueRange one, ValueRange other) {
    Values combined;
    for (auto [x, y] : llvm::zip_equal(one, other))
      combined.push_back(by.combine(x, y));
    return combined;
  }

  /// Combines the elements at (outer.., start + i, j, ..) for all multi-indices (i, j,
  /// ..) of `extents`.
  Values runBlock(ArrayRef<int64_t> extents, std::optional<Index> start) {
    return combiner.reduce(extents, count, [&](ArrayRef<Index> ivs, ValueRange carried) {
      SmallVector<Index> all(outer);
      llvm::append_range(all, ivs);
      if (start)
        all[outer.size()] = *start + ivs[0];
      return combine(combiner, carried, elements(all));
    });
  }

  /// Adds the sums that `block` returns for 0, .., `blocks` - 1 in f64, one after the
  /// other.
  Values addUp(int64_t blocks, function_ref<Values(Index)> block) {
    return e.loop(blocks, Values(count, total.identity()),
                  [&](Index i, ValueRange carried) { return combine(total, carried, block(i)); });
  }

  /// Divides `extents` into blocks, and returns the sum of the blocks in f64.
  Values runBlocks(ArrayRef<int64_t> extents) {
    int64_t first = extents.front(), inner = ShapedType::getNumElements(extents.drop_front());
    if (inner > kBlock)
      return addUp(first, [&](Index i) {
        outer.push_back(i);
        Values sums = runBlocks(extents.drop_front());
        outer.pop_back();
        return sums;
      });
    int64_t rounds = kBlock / inner;
    SmallVector<int64_t> block(extents), rest(extents);
    block[0] = rounds;
    rest[0] = first % rounds;
    Values sums =
        addUp(first / rounds, [&](Index i) { return widen(runBlock(block, i * rounds)); });
    if (rest[0] == 0)
      return sums;
    Index start = e.constant(first - rest[0]);
    return combine(total, sums, widen(runBlock(rest, start)));
  }

  Values widen(Values sums) {
    const Type type = e.builder.getF64Type();
    for (Value &sum : sums)
      if (sum.getType() != type)
        sum = e.make<arith::ExtFOp>(type, sum);
    return sums;
  }

  const int64_t kBlock;
  LoopEmitter &e;
  Combiner &combiner;
  Combiner total;
  size_t count;
  function_ref<Values(ArrayRef<Index>)> elements;
  SmallVector<Index> outer;
};

struct ReduceRule : NeighboursRule<ReduceRule, ReduceOp> {
  int64_t getElementCost(Operation *self) const {
    auto op = cast<ReduceOp>(self);
    int64_t kept = std::max<int64_t>(1, typeOf(op.getResult()).getNumElements());
    return std::max<int64_t>(1, typeOf(op.getInput()).getNumElements() / kept);
  }
  int64_t getReadsPerElement(Operation *, unsigned) const { return 1; }
  bool joinsNeighbours(Operation *self) const {
    auto op = cast<ReduceOp>(self);
    return !op.getDimensions().empty() &&
           op.getDimensions().back() + 1 < typeOf(op.getInput()).getRank();
  }

  static bool isReduced(ReduceOp op, int64_t dimension) {
    return llvm::is_contained(op.getDimensions(), dimension);
  }

  /// The number of the first operand element that is combined for the result at `index`.
  /// Its positions along reduced dimensions are 0.
  static Index firstElement(ReduceOp op, IndexSpace &space, const ElementIndex &index) {
    ArrayRef<int64_t> shape = typeOf(op.getInput()).getShape();
    SmallVector<int64_t> strides = rowMajorStrides(shape);
    Index first = space.constant(0);
    int64_t kept = 0, rank = shape.size();
    for (int64_t d = 0; d < rank; ++d) {
      int64_t begin = d;
      while (d < rank && !isReduced(op, d))
        ++d;
      if (int64_t count = d - begin) {
        first = first + space.offsetOf(index.positions().slice(kept, count),
                                       shape.slice(begin, count), strides[d - 1]);
        kept += count;
      }
    }
    return first;
  }

  /// The loops over the operand elements of one result element, and the steps from one
  /// element to the next in each of them. Neighbouring reduced dimensions become one
  /// loop, unless the operand requires nested loops (splitStrides).
  struct Loops {
    SmallVector<int64_t> extents, steps;

    Loops(ReduceOp op, IndexSpace &space) {
      ArrayRef<int64_t> shape = typeOf(op.getInput()).getShape();
      SmallVector<int64_t> strides = rowMajorStrides(shape),
                           cuts = space.splitStrides(op.getInput());
      for (int64_t d : op.getDimensions()) {
        bool joins = d > 0 && isReduced(op, d - 1) && !llvm::is_contained(cuts, strides[d - 1]);
        if (joins) {
          extents.back() *= shape[d];
          steps.back() = strides[d];
        } else {
          extents.push_back(shape[d]);
          steps.push_back(strides[d]);
        }
      }
    }

    ElementIndex at(ReduceOp op, IndexSpace &space, Index first, ArrayRef<Index> ivs) const {
      for (auto [iv, step] : llvm::zip_equal(ivs, steps))
        first = first + iv * step;
      return ElementIndex(space, typeOf(op.getInput()).getShape(), first);
    }
  };

  void reads(ReduceOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    Loops loops(op, space);
    Index first = firstElement(op, space, index);
    space.inLoops(loops.extents,
                  [&](ArrayRef<Index> ivs) { read(0, loops.at(op, space, first, ivs)); });
  }

  Values elements(ReduceOp op, LoopEmitter &e, ArrayRef<ElementIndex> indices) const {
    RankedTensorType type = typeOf(op.getInput());
    Loops loops(op, e);
    SmallVector<Index> first;
    for (const ElementIndex &index : indices)
      first.push_back(firstElement(op, e, index));
    Combiner combiner(e, op.getKind(), type.getElementType());
    auto terms = [&](ArrayRef<Index> ivs) {
      Values terms;
      for (auto [n, own] : llvm::enumerate(first)) {
        if (first.size() > 1)
          e.turnTo(n);
        terms.push_back(combiner.widen(e.read(op.getInput(), loops.at(op, e, own, ivs))));
      }
      return terms;
    };
    bool isFloatSum = op.getKind() == ReduceKind::sum && isa<FloatType>(type.getElementType());
    Values made = BlockedFold(e, combiner, first.size(), terms).run(loops.extents, isFloatSum);
    for (Value &element : made)
      element = combiner.narrow(element);
    return made;
  }
};

struct ArgReduceRule : ElementRule<ArgReduceRule, ArgReduceOp> {
  int64_t getElementCost(Operation *self) const {
    auto op = cast<ArgReduceOp>(self);
    return std::max<int64_t>(1, typeOf(op.getInput()).getDimSize(op.getDimension()));
  }
  int64_t getReadsPerElement(Operation *, unsigned) const { return 1; }

  static SmallVector<Index> positions(ArgReduceOp op, const ElementIndex &index, Index i) {
    SmallVector<Index> positions(index.positions());
    positions.insert(positions.begin() + op.getDimension(), i);
    return positions;
  }

  void reads(ArgReduceOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    int64_t extent = typeOf(op.getInput()).getDimSize(op.getDimension());
    auto visit = [&](ArrayRef<Index> i) {
      read(0, elementOf(space, op.getInput(), positions(op, index, i[0])));
    };
    // The code reads the first element before the loop.
    visit({space.constant(0)});
    space.inLoops({extent}, visit);
  }

  Value element(ArgReduceOp op, LoopEmitter &e, const ElementIndex &index) const {
    RankedTensorType type = typeOf(op.getInput());
    auto at = [&](Index i) { return e.read(op.getInput(), positions(op, index, i)); };
    Ordering ordering(e, type.getElementType());
    auto isBetter = [&](Value now, Value old) {
      return op.getKind() == ReduceKind::max ? ordering.less(old, now) : ordering.less(now, old);
    };
    auto choose = [&](Value better, ValueRange old, Value now, Value place) {
      better = ordering.unlessNan(better, old[0], now);
      return Values{e.make<arith::SelectOp>(better, now, old[0]),
                    e.make<arith::SelectOp>(better, place, old[1])};
    };
    auto consider = [&](ArrayRef<Index> i, ValueRange old) {
      Value now = at(i[0]), better = isBetter(now, old[0]);
      if (op.getSelectLast())
        better = ordering.either(better, ordering.equal(now, old[0]));
      return choose(better, old, now, e.materialize(i[0]));
    };
    // Among equal elements, the first or the last position is chosen; among several NaN,
    // the first. Every partial result starts with element 0, which does not change the
    // result.
    auto combine = [&](ValueRange one, ValueRange other) {
      using arith::CmpIPredicate;
      auto isPlace = [&](CmpIPredicate predicate) -> Value {
        return e.make<arith::CmpIOp>(predicate, other[1], one[1]);
      };
      Value isEarlier = isPlace(CmpIPredicate::slt),
            isPreferred = op.getSelectLast() ? isPlace(CmpIPredicate::sgt) : isEarlier;
      Value isTie = ordering.all(ordering.equal(other[0], one[0]), isPreferred),
            isNanTie = ordering.all(ordering.areNan(other[0], one[0]), isEarlier);
      Value better =
          ordering.unlessNan(ordering.either(isBetter(other[0], one[0]), isTie), one[0], other[0]);
      better = ordering.either(better, isNanTie);
      return Values{e.make<arith::SelectOp>(better, other[0], one[0]),
                    e.make<arith::SelectOp>(better, other[1], one[1])};
    };
    Value zero = e.materialize(e.constant(0));
    Values best = e.reduce({type.getDimSize(op.getDimension())}, {at(e.constant(0)), zero},
                           consider, combine);
    Type result = typeOf(op.getResult()).getElementType();
    if (result.isInteger(64))
      return best[1];
    return e.make<arith::TruncIOp>(result, best[1]);
  }
};

} // namespace

void dpc::attachReductionRules(MLIRContext &context) {
  ReduceOp::attachInterface<ReduceRule>(context);
  ArgReduceOp::attachInterface<ArgReduceRule>(context);
}
