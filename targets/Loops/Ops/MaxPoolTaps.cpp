// Rules of nn.max_pool_taps. The fill rule processes one line of outputs (the outputs along the
// last dimension) at a time. For windows that are completely inside the input, the loop has no
// branches.

#include "dialects/NN/IR/Pooling.h"
#include "targets/Loops/Combiner.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Ops/WindowLines.h"
#include "targets/Loops/Ops/Windows.h"
#include "targets/Loops/Rules.h"

#include "dialects/Interfaces/HostTensor.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
class MaxPoolTapsNest {
public:
  MaxPoolTapsNest(LoopEmitter &emitter, MaxPoolTapsOp op)
      : e(emitter), op(op), input(typeOf(op.getInput())), window(op.getWindow()),
        lines(e, window, input, typeOf(op.getResult())), ordering(e, input.getElementType()),
        resultType(cast<IntegerType>(typeOf(op.getResult()).getElementType())) {
    Type element = registerType(input.getElementType());
    zero = e.constantLike(element, 0);
    // Vectors of taps have the lanes of vectors of elements.
    tapType = IntegerType::get(op.getContext(), std::max({16u, element.getIntOrFloatBitWidth(),
                                                          unsigned(resultType.getWidth())}));
  }

  void emit() {
    lines.forEachLine([&](SmallVector<Index> &y) {
      auto store = [&](Index at) {
        y.back() = at;
        e.store(op.getResult(), find(y, 1)[0], e.linearize(y, typeOf(op.getResult()).getShape()));
      };
      lines.inside(store);
      lines.onBorder(store);
    });
  }

  /// The taps with the largest elements, for `count` outputs that are neighbours along the last
  /// dimension. The first is `y`.
  Values find(ArrayRef<Index> y, size_t count) {
    Value none = e.constantLike(tapType, -1);
    // Each output has two values: the largest element and its tap.
    auto bestOf = [](ValueRange carried, size_t n) { return carried.slice(2 * n, 2); };
    auto consider = [&](ArrayRef<Index> k, ValueRange carried) {
      WindowLines::Place place = lines.placeOf(y, k);
      Value isInside = e.both(place.line, place.output);
      Value tap = e.materialize(e.linearize(k, window.kernel));
      if (tapType.getWidth() < 64)
        tap = e.make<arith::TruncIOp>(tapType, tap);
      Values chosen;
      for (size_t n = 0; n < count; ++n) {
        if (count > 1)
          e.turnTo(n);
        const ValueRange best = bestOf(carried, n);
        Value now = elementAt(elementAfter(place.at, n), isInside, count);
        Value better = e.both(isLarger(best, now), isInside);
        chosen.push_back(e.make<arith::SelectOp>(better, now, best[0]));
        chosen.push_back(e.make<arith::SelectOp>(better, tap, best[1]));
      }
      return chosen;
    };
    // Among equal elements, and among several NaN, the first tap is chosen.
    auto combine = [&](ValueRange ones, ValueRange others) {
      Values chosen;
      for (size_t n = 0; n < count; ++n) {
        const ValueRange one = bestOf(ones, n), other = bestOf(others, n);
        Value isThere =
            e.make<arith::CmpIOp>(arith::CmpIPredicate::sge, other[1], e.constantLike(tapType, 0));
        Value isEarlier = e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, other[1], one[1]);
        Value isAlike =
            ordering.either(ordering.equal(one[0], other[0]), ordering.areNan(one[0], other[0]));
        Value better = ordering.either(isLarger(one, other[0]), ordering.all(isAlike, isEarlier));
        better = e.both(better, isThere);
        chosen.push_back(e.make<arith::SelectOp>(better, other[0], one[0]));
        chosen.push_back(e.make<arith::SelectOp>(better, other[1], one[1]));
      }
      return chosen;
    };
    Values best;
    for (size_t n = 0; n < count; ++n)
      best.append({zero, none});
    if (lines.isUnrolled())
      forEachIndex(window.kernel,
                   [&](ArrayRef<int64_t> k) { best = consider(lines.constants(k), best); });
    else
      best = e.reduce(window.kernel, best, consider, combine);
    Values taps;
    for (size_t n = 0; n < count; ++n) {
      Value tap = best[2 * n + 1];
      taps.push_back(resultType == tapType ? tap : e.make<arith::TruncIOp>(resultType, tap));
    }
    return taps;
  }

private:
  /// The element at `at`. If `isInside` does not hold, the element is any other; the caller must
  /// not use it.
  Value elementAt(SmallVector<Index> at, Value isInside, size_t count) {
    Index number = e.linearize(at, input.getShape());
    if (!isInside)
      return e.read(op.getInput(), ElementIndex(e, input.getShape(), number));
    if (count > 1) {
      // The nearest elements, because neighbours must stay neighbours.
      for (int64_t d = 2; d < input.getRank(); ++d)
        at[d] = e.clamped(at[d], input.getDimSize(d));
      return e.read(op.getInput(), at);
    }
    Value safe =
        e.make<arith::SelectOp>(isInside, e.materialize(number), e.materialize(e.constant(0)));
    number = e.bind(safe, 0, input.getNumElements() - 1);
    return e.read(op.getInput(), ElementIndex(e, input.getShape(), number));
  }

  /// Whether the element `now` replaces `old`, which has the largest element so far
  /// and its tap.
  Value isLarger(ValueRange old, Value now) {
    Value empty =
        e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, old[1], e.constantLike(tapType, 0));
    return ordering.either(empty, ordering.unlessNan(ordering.less(old[0], now), old[0], now));
  }

  LoopEmitter &e;
  MaxPoolTapsOp op;
  RankedTensorType input;
  Window window;
  WindowLines lines;
  Ordering ordering;
  IntegerType resultType, tapType;
  Value zero;
};

struct MaxPoolTapsFill : FillRule<MaxPoolTapsFill, MaxPoolTapsOp> {
  FillParts parts(MaxPoolTapsOp, int64_t) const { return {}; }
  void fill(MaxPoolTapsOp op, LoopEmitter &e, FillParts) const {
    e.forEach({1}, [&](ArrayRef<Index>) { MaxPoolTapsNest(e, op).emit(); });
  }
};

struct MaxPoolTapsElement : NeighboursRule<MaxPoolTapsElement, MaxPoolTapsOp> {
  int64_t getElementCost(Operation *self) const {
    return cast<MaxPoolTapsOp>(self).getWindow().getTaps();
  }
  int64_t getReadsPerElement(Operation *self, unsigned) const {
    return getReadsPerOutput(cast<MaxPoolTapsOp>(self).getWindow());
  }
  bool joinsNeighbours(Operation *self) const {
    return hasNeighbours(cast<MaxPoolTapsOp>(self).getWindow());
  }
  void reads(MaxPoolTapsOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    readWindow(op.getWindow(), space, op.getInput(), index, read);
  }
  Values elements(MaxPoolTapsOp op, LoopEmitter &e, ArrayRef<ElementIndex> indices) const {
    return MaxPoolTapsNest(e, op).find(indices[0].positions(), indices.size());
  }
};
} // namespace

void dpc::attachMaxPoolTapsRule(MLIRContext &context) {
  MaxPoolTapsOp::attachInterface<MaxPoolTapsFill, MaxPoolTapsElement>(context);
}
