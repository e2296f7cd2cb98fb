// Rules of the reductions.

#include "dialects/NN/IR/Reduction.h"
#include "targets/Loops/Combiner.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
/// Combines `element` over every multi-index of some extents, in the accumulator's
/// type. A long floating-point sum is a sum of block sums, which are added in f64.
/// Its rounding error is that of one block (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 4.2).
class BlockedFold {
public:
  BlockedFold(LoopEmitter &e, Combiner &combiner, function_ref<Value(ArrayRef<Index>)> element)
      : kBlock(e.getSumTerms()), e(e), combiner(combiner),
        total(e, ReduceKind::sum, e.builder.getF64Type()), element(element) {}

  Value run(ArrayRef<int64_t> extents, bool isFloatSum) {
    if (!isFloatSum || ShapedType::getNumElements(extents) <= kBlock)
      return runBlock(extents, {});
    Value sum = runBlocks(extents);
    Type type = combiner.identity().getType();
    return type == sum.getType() ? sum : e.make<arith::TruncFOp>(type, sum);
  }

private:
  /// Combines the elements `outer`, `start` + i, j, ... for i, j, ... in `extents`.
  Value runBlock(ArrayRef<int64_t> extents, std::optional<Index> start) {
    return combiner.reduce(extents, [&](ArrayRef<Index> ivs, ValueRange carried) {
      SmallVector<Index> all(outer);
      llvm::append_range(all, ivs);
      if (start)
        all[outer.size()] = *start + ivs[0];
      return Values{combiner.combine(carried[0], element(all))};
    });
  }

  /// The sum, in f64, of the results of `block`. They are added one after the
  /// other, because each is a reduction of its own.
  Value addUp(int64_t blocks, function_ref<Value(Index)> block) {
    return e.loop(blocks, total.identity(), [&](Index i, ValueRange carried) {
      return Values{total.combine(carried[0], block(i))};
    })[0];
  }

  /// The sum of blocks over `extents`, in f64.
  Value runBlocks(ArrayRef<int64_t> extents) {
    int64_t first = extents.front(), inner = ShapedType::getNumElements(extents.drop_front());
    if (inner > kBlock)
      return addUp(first, [&](Index i) {
        outer.push_back(i);
        Value sum = runBlocks(extents.drop_front());
        outer.pop_back();
        return sum;
      });
    int64_t rounds = kBlock / inner;
    SmallVector<int64_t> block(extents), rest(extents);
    block[0] = rounds;
    rest[0] = first % rounds;
    Value sum = addUp(first / rounds, [&](Index i) { return widen(runBlock(block, i * rounds)); });
    if (rest[0] == 0)
      return sum;
    Index start = e.constant(first - rest[0]);
    return total.combine(sum, widen(runBlock(rest, start)));
  }

  Value widen(Value sum) {
    Type type = e.builder.getF64Type();
    return sum.getType() == type ? sum : e.make<arith::ExtFOp>(type, sum);
  }

  const int64_t kBlock;
  LoopEmitter &e;
  Combiner &combiner;
  Combiner total;
  function_ref<Value(ArrayRef<Index>)> element;
  SmallVector<Index> outer;
};

struct ReduceRule : ElementRule<ReduceRule, ReduceOp> {
  int64_t getElementCost(Operation *self) const {
    auto op = cast<ReduceOp>(self);
    int64_t kept = std::max<int64_t>(1, typeOf(op.getResult()).getNumElements());
    return std::max<int64_t>(1, typeOf(op.getInput()).getNumElements() / kept);
  }
  int64_t getReadsPerElement(Operation *, unsigned) const { return 1; }

  static bool isReduced(ReduceOp op, int64_t dimension) {
    return llvm::is_contained(op.getDimensions(), dimension);
  }

  /// The number of the first operand element that is combined: all reduced
  /// positions are 0.
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

  void reads(ReduceOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    ArrayRef<int64_t> shape = typeOf(op.getInput()).getShape();
    SmallVector<int64_t> strides = rowMajorStrides(shape);
    Index number = firstElement(op, space, index);
    for (int64_t d : op.getDimensions())
      number = number + space.variable(0, shape[d] - 1) * strides[d];
    read(0, ElementIndex(space, shape, number));
  }

  Value element(ReduceOp op, LoopEmitter &e, const ElementIndex &index) const {
    RankedTensorType type = typeOf(op.getInput());
    ArrayRef<int64_t> shape = type.getShape();
    SmallVector<int64_t> strides = rowMajorStrides(shape), cuts = e.splitStrides(op.getInput());
    Index base = firstElement(op, e, index);
    // Neighbouring reduced dimensions become one loop if the operand's strides
    // allow it.
    SmallVector<int64_t> extents, steps;
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
    Combiner combiner(e, op.getKind(), type.getElementType());
    auto element = [&](ArrayRef<Index> ivs) {
      Index number = base;
      for (auto [iv, step] : llvm::zip_equal(ivs, steps))
        number = number + iv * step;
      return combiner.widen(e.read(op.getInput(), ElementIndex(e, shape, number)));
    };
    bool isFloatSum = op.getKind() == ReduceKind::sum && isa<FloatType>(type.getElementType());
    return combiner.narrow(BlockedFold(e, combiner, element).run(extents, isFloatSum));
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
    Index i = space.variable(0, extent - 1);
    read(0, elementOf(space, op.getInput(), positions(op, index, i)));
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
    // Among equal elements the first or the last position wins, and among NaN the
    // first. Every partial result has considered element 0, which does no harm.
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

/// A part is a line. If there are few lines, pieces of each are first summed side
/// by side. Then each piece is scanned, starting from the sum of the pieces before
/// it.
struct CumSumRule : FillRule<CumSumRule, CumSumOp> {
  static SmallVector<int64_t> linesOf(CumSumOp op) {
    SmallVector<int64_t> lines(typeOf(op.getInput()).getShape());
    lines[op.getDimension()] = 1;
    return lines;
  }

  FillParts parts(CumSumOp op, int64_t wanted) const {
    const int64_t shortPiece = 16, mostPieces = 256;
    int64_t lines = ShapedType::getNumElements(linesOf(op)),
            extent = typeOf(op.getInput()).getDimSize(op.getDimension());
    return {lines, lines >= wanted ? 1 : std::clamp<int64_t>(extent / shortPiece, 1, mostPieces)};
  }

  void fill(CumSumOp op, LoopEmitter &e, FillParts parts) const {
    RankedTensorType type = typeOf(op.getInput());
    ArrayRef<int64_t> shape = type.getShape();
    int64_t dimension = op.getDimension(), extent = shape[dimension],
            length = llvm::divideCeil(extent, parts.width);
    Combiner combiner(e, ReduceKind::sum, type.getElementType());
    Type sumType = combiner.identity().getType();
    e.forEach(linesOf(op), [&](ArrayRef<Index> line) {
      auto placeOf = [&](Index i) {
        SmallVector<Index> positions(line);
        positions[dimension] = op.getReverse() ? e.constant(extent - 1) - i : i;
        return ElementIndex(e, shape, positions);
      };
      auto add = [&](Value sum, const ElementIndex &index) {
        return combiner.combine(sum, combiner.widen(e.read(op.getInput(), index)));
      };
      auto run = [&](Index i, ValueRange carried) {
        ElementIndex index = placeOf(i);
        Value sum = add(carried[0], index);
        e.store(op.getResult(), combiner.narrow(op.getExclusive() ? carried[0] : sum),
                index.number());
        return Values{sum};
      };
      if (parts.width == 1 || e.orderedSums) {
        e.loop(extent, combiner.identity(), run);
        return;
      }
      Value sums = e.getScratch(parts.width * sumType.getIntOrFloatBitWidth() / 8);
      auto overPiece = [&](Index piece, Value initial,
                           function_ref<Values(Index, ValueRange)> body) {
        Value first = e.materialize(piece * length),
              end = e.make<arith::MinSIOp>(e.materialize(piece * length + length),
                                           e.materialize(e.constant(extent)));
        // Pieces past the last element are empty.
        Value begin = e.make<arith::MinSIOp>(first, end);
        return e.loopBetween(begin, end, extent, initial, body)[0];
      };
      e.forEach({parts.width}, [&](ArrayRef<Index> piece) {
        Value sum = overPiece(piece[0], combiner.identity(), [&](Index i, ValueRange carried) {
          return Values{add(carried[0], placeOf(i))};
        });
        e.storeAt(sums, sum, piece[0]);
      });
      e.meet();
      e.forEach({parts.width}, [&](ArrayRef<Index> piece) {
        Value none = e.materialize(e.constant(0)), own = e.materialize(piece[0]);
        Value before = e.loopBetween(
            none, own, parts.width, combiner.identity(), [&](Index i, ValueRange carried) {
              return Values{combiner.combine(carried[0], e.loadAt(sums, sumType, i))};
            })[0];
        overPiece(piece[0], before, run);
      });
    });
  }
};

} // namespace

void dpc::attachReductionRules(MLIRContext &context) {
  ReduceOp::attachInterface<ReduceRule>(context);
  ArgReduceOp::attachInterface<ArgReduceRule>(context);
  CumSumOp::attachInterface<CumSumRule>(context);
}
