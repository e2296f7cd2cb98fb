// Rules of nn.max_pool_grad. A tap is a position in a window; the taps of a window are
// numbered. The fill rule processes one line of outputs (the outputs along the last
// dimension) at a time. For each window it finds the tap with the largest element, and
// adds the gradient to the element of the result at this tap. For windows that are
// completely inside the input, both steps are loops without branches. The element rule
// checks all windows that contain the element. It adds the gradients of the windows whose
// largest element this element is.

#include "dialects/NN/IR/Pooling.h"
#include "targets/Loops/Combiner.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Ops/Windows.h"
#include "targets/Loops/Rules.h"

#include "dialects/Interfaces/HostTensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <functional>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

/// The integer type in which the numbers of taps are stored.
static IntegerType tapTypeOf(MaxPoolGradOp op) {
  Type element = registerType(typeOf(op.getInput()).getElementType());
  return IntegerType::get(op.getContext(), std::max(16u, element.getIntOrFloatBitWidth()));
}

static int64_t lineBytes(MaxPoolGradOp op) {
  return typeOf(op.getGrad()).getShape().back() * tapTypeOf(op).getWidth() / 8;
}

namespace {
class MaxPoolGradNest {
public:
  MaxPoolGradNest(LoopEmitter &emitter, MaxPoolGradOp op)
      : e(emitter), op(op), input(typeOf(op.getInput())), grad(typeOf(op.getGrad())),
        window(op.getWindow()), extents(input.getShape().drop_front(2)), last(extents.size() - 1),
        ordering(e, input.getElementType()), combiner(e, ReduceKind::sum, input.getElementType()),
        element(registerType(input.getElementType())), tapType(tapTypeOf(op)) {
    zero = e.constantLike(element, 0);
    // Find the outputs [first, end) of a line whose windows are completely inside
    // the input along the last dimension.
    int64_t reach = (window.kernel[last] - 1) * window.dilations[last];
    int64_t points = grad.getShape().back();
    first = std::clamp<int64_t>(llvm::divideCeilSigned(window.padLow[last], window.strides[last]),
                                0, points);
    end =
        std::clamp<int64_t>(llvm::divideFloorSigned(extents[last] - 1 + window.padLow[last] - reach,
                                                    window.strides[last]) +
                                1,
                            first, points);
    for (size_t d = 0; d < extents.size(); ++d) {
      int64_t width = (window.kernel[d] - 1) * window.dilations[d] + 1;
      overlaps |= window.strides[d] < width;
      covers &= window.strides[d] == window.kernel[d] && window.dilations[d] == 1 &&
                window.padLow[d] == 0 && grad.getDimSize(d + 2) * window.strides[d] == extents[d];
    }
  }

  void emit() {
    // If the windows cover the input without overlap, and the loops over taps are unrolled,
    // each element is stored once. In all other cases the elements must be zero before,
    // because gradients are added to them, or because no window contains them.
    if (!covers || !isUnrolled())
      e.forEach({input.getNumElements()},
                [&](ArrayRef<Index> i) { e.store(op.getResult(), zero, i[0]); });
    line = e.getScratch(lineBytes(op));
    SmallVector<Index> outer;
    lines(outer);
  }

  /// The elements `x` of the result, as the element rule computes them.
  Values pull(ArrayRef<ElementIndex> x) {
    const size_t count = x.size();
    auto add = [&](ArrayRef<Index> number, ValueRange sums) {
      OutputAround output(e, window, x[0].positions(), number);
      return e.branch(
          e.allInRange(output.bounds(grad)),
          [&] {
            Values largest = largestOf(output.at, count), combined;
            for (auto [n, sum] : llvm::enumerate(sums)) {
              if (count > 1)
                e.turnTo(n);
              Value share = shareOf(largest[n], elementAfter(output.at, n), output.tap);
              combined.push_back(combiner.combine(sum, combiner.widen(share)));
            }
            return combined;
          },
          [&] { return Values(sums); });
    };
    Values elements = combiner.reduce(OutputAround::countsOf(window), count, add);
    for (Value &element : elements)
      element = combiner.narrow(element);
    return elements;
  }

private:
  void lines(SmallVector<Index> &outer) {
    if (int64_t(outer.size()) + 1 < grad.getRank()) {
      e.sequence(grad.getDimSize(outer.size()), [&](Index i) {
        outer.push_back(i);
        lines(outer);
        outer.pop_back();
      });
      return;
    }
    SmallVector<Index> y(outer);
    y.push_back(e.constant(0));
    inside([&](Index at) {
      y.back() = at;
      findLargest(y);
    });
    onBorder([&](Index at) {
      y.back() = at;
      findLargest(y);
    });
    distribute(y);
  }

  void inside(function_ref<void(Index)> body) {
    // LLVM expects no gain from vectors, because elements are a stride apart. But
    // vectors are four times as fast, because the scalar loop branches on data.
    if (end > first)
      e.forEach(
          {end - first}, [&](ArrayRef<Index> i) { body(i[0] + first); },
          LoopEmitter::Lanes::whereLegal);
  }
  void onBorder(function_ref<void(Index)> body) {
    e.sequence(first, body);
    e.sequence(grad.getShape().back() - end, [&](Index i) { body(i + end); });
  }

  /// The position of tap `k` of output `y`. It is inside the input if the conditions
  /// `line` and `output` hold; null conditions always hold. The condition `line` is the
  /// same for all outputs of a line.
  struct Place {
    SmallVector<Index> at;
    Value line, output;
  };
  Place placeOf(ArrayRef<Index> y, ArrayRef<Index> k) {
    Place place;
    llvm::append_range(place.at, y.take_front(2));
    for (size_t d = 0; d <= last; ++d) {
      Index at = y[d + 2] * window.strides[d] + k[d] * window.dilations[d] - window.padLow[d];
      Value &condition = d < last ? place.line : place.output;
      condition = e.both(condition, e.inRange(at, 0, extents[d]));
      place.at.push_back(at);
    }
    return place;
  }

  /// Stores the number of the tap of `y` with the largest element, or of the first
  /// if there are several. Stores -1 if no tap is inside the input.
  void findLargest(ArrayRef<Index> y) { e.storeAt(line, largestOf(y, 1)[0], y.back()); }

  /// The element at `place`. If the place is outside of the input, the element is any other; the
  /// caller must not use it.
  Value elementAt(const Place &place, Value isInside, size_t count) {
    Index number = e.linearize(place.at, input.getShape());
    if (!isInside)
      return e.read(op.getInput(), ElementIndex(e, input.getShape(), number));
    if (count > 1) {
      // The nearest elements, because neighbours must stay neighbours.
      SmallVector<Index> at(place.at);
      for (size_t d = 0; d <= last; ++d)
        at[d + 2] = e.clamped(at[d + 2], extents[d]);
      return e.read(op.getInput(), at);
    }
    Value safe =
        e.make<arith::SelectOp>(isInside, e.materialize(number), e.materialize(e.constant(0)));
    number = e.bind(safe, 0, input.getNumElements() - 1);
    return e.read(op.getInput(), ElementIndex(e, input.getShape(), number));
  }

  /// The numbers of the taps with the largest elements, for `count` outputs that are neighbours
  /// along the last dimension. The first is `y`.
  Values largestOf(ArrayRef<Index> y, size_t count) {
    Value none = e.constantLike(tapType, -1);
    // Each output has two values: the largest element and its tap.
    auto bestOf = [](ValueRange carried, size_t n) { return carried.slice(2 * n, 2); };
    auto consider = [&](ArrayRef<Index> k, ValueRange carried) {
      Place place = placeOf(y, k);
      Value isInside = e.both(place.line, place.output);
      Value tap = e.materialize(e.linearize(k, window.kernel));
      if (tapType.getWidth() < 64)
        tap = e.make<arith::TruncIOp>(tapType, tap);
      Values chosen;
      for (size_t n = 0; n < count; ++n) {
        if (count > 1)
          e.turnTo(n);
        const ValueRange best = bestOf(carried, n);
        Place own = place;
        own.at = elementAfter(place.at, n);
        Value now = elementAt(own, isInside, count);
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
    if (isUnrolled())
      forEachIndex(window.kernel,
                   [&](ArrayRef<int64_t> k) { best = consider(constants(k), best); });
    else
      best = e.reduce(window.kernel, best, consider, combine);
    Values taps;
    for (size_t n = 0; n < count; ++n)
      taps.push_back(best[2 * n + 1]);
    return taps;
  }

  /// Whether the element `now` replaces `old`, which has the largest element so far
  /// and its tap.
  Value isLarger(ValueRange old, Value now) {
    Value empty =
        e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, old[1], e.constantLike(tapType, 0));
    return ordering.either(empty, ordering.unlessNan(ordering.less(old[0], now), old[0], now));
  }

  /// Adds the gradients of the line of outputs `y` at the taps that `findLargest`
  /// stored.
  void distribute(SmallVector<Index> &y) {
    if (isUnrolled() && !overlaps) {
      // Process the taps of one row of the kernel together, because together they
      // fill complete lines of the result.
      SmallVector<int64_t> rows(window.kernel.drop_back());
      forEachIndex(rows, [&](ArrayRef<int64_t> row) {
        SmallVector<Index> k = constants(row);
        k.push_back(e.constant(0));
        e.when(placeOf(y, k).line, [&] {
          inside([&](Index at) {
            y.back() = at;
            for (int64_t i = 0; i < window.kernel[last]; ++i) {
              k.back() = e.constant(i);
              e.store(op.getResult(), shareOfLine(y, k),
                      e.linearize(placeOf(y, k).at, input.getShape()));
            }
          });
        });
      });
      forEachIndex(window.kernel, [&](ArrayRef<int64_t> k) { border(y, constants(k)); });
      return;
    }
    auto tap = [&](ArrayRef<Index> k) {
      y.back() = e.constant(0);
      e.when(placeOf(y, k).line, [&] {
        inside([&](Index at) {
          y.back() = at;
          add(y, k);
        });
      });
      border(y, k);
    };
    if (isUnrolled())
      forEachIndex(window.kernel, [&](ArrayRef<int64_t> k) { tap(constants(k)); });
    else
      e.sequence(window.getTaps(), [&](Index i) { tap(e.delinearize(i, window.kernel)); });
  }

  void border(SmallVector<Index> &y, ArrayRef<Index> k) {
    onBorder([&](Index at) {
      y.back() = at;
      Place place = placeOf(y, k);
      e.when(e.both(place.line, place.output), [&] { add(y, k); });
    });
  }

  void add(ArrayRef<Index> y, ArrayRef<Index> k) {
    Index number = e.linearize(placeOf(y, k).at, input.getShape());
    Value old = combiner.widen(e.load(op.getResult(), number));
    e.store(op.getResult(),
            combiner.narrow(combiner.combine(old, combiner.widen(shareOfLine(y, k)))), number);
  }

  /// Returns shareOf() for the tap that `findLargest` stored as the largest one of
  /// `y`.
  Value shareOfLine(ArrayRef<Index> y, ArrayRef<Index> k) {
    return shareOf(e.loadAt(line, tapType, y.back()), y, k);
  }

  /// The gradient of output `y` if tap `k` is the tap `largest`, otherwise 0.
  Value shareOf(Value largest, ArrayRef<Index> y, ArrayRef<Index> k) {
    Value tap = e.materialize(e.linearize(k, window.kernel));
    if (tapType.getWidth() < 64)
      tap = e.make<arith::TruncIOp>(tapType, tap);
    Value isLargest = e.make<arith::CmpIOp>(arith::CmpIPredicate::eq, largest, tap);
    return e.make<arith::SelectOp>(isLargest, e.read(op.getGrad(), y), zero);
  }

  bool isUnrolled() const { return window.getTaps() <= 16; }
  SmallVector<Index> constants(ArrayRef<int64_t> values) {
    SmallVector<Index> indices;
    for (int64_t value : values)
      indices.push_back(e.constant(value));
    return indices;
  }

  LoopEmitter &e;
  MaxPoolGradOp op;
  RankedTensorType input, grad;
  Window window;
  ArrayRef<int64_t> extents;
  size_t last;
  Ordering ordering;
  Combiner combiner;
  Type element;
  IntegerType tapType;
  Value zero, line;
  int64_t first, end;
  bool overlaps = false, covers = true;
};

struct MaxPoolGradFill : FillRule<MaxPoolGradFill, MaxPoolGradOp> {
  FillParts parts(MaxPoolGradOp, int64_t) const { return {}; }
  SmallVector<int64_t> getScratch(Operation *self, FillParts, bool) const {
    return {lineBytes(cast<MaxPoolGradOp>(self))};
  }
  void fill(MaxPoolGradOp op, LoopEmitter &e, FillParts) const {
    e.forEach({1}, [&](ArrayRef<Index>) { MaxPoolGradNest(e, op).emit(); });
  }
};

struct MaxPoolGradElement : NeighboursRule<MaxPoolGradElement, MaxPoolGradOp> {
  // An element is in about taps / (product of strides) windows, and the code reads
  // all taps of each of these windows.
  int64_t getElementCost(Operation *self) const {
    return getReadsPerElement(self, 0) + cast<MaxPoolGradOp>(self).getWindow().getTaps();
  }
  int64_t getReadsPerElement(Operation *self, unsigned operand) const {
    Window window = cast<MaxPoolGradOp>(self).getWindow();
    int64_t strides = 1, taps = window.getTaps();
    for (int64_t stride : window.strides)
      strides *= stride;
    int64_t windows = std::max<int64_t>(1, taps / strides);
    return operand == 0 ? windows * taps : windows;
  }

  bool joinsNeighbours(Operation *self) const {
    return hasNeighbours(cast<MaxPoolGradOp>(self).getWindow());
  }

  void reads(MaxPoolGradOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    Window window = op.getWindow();
    space.inLoops(OutputAround::countsOf(window), [&](ArrayRef<Index> number) {
      OutputAround output(space, window, index.positions(), number);
      space.inBranch(!space.areMet(output.bounds(typeOf(op.getGrad()))), [&] {
        space.inLoops(window.kernel, [&](ArrayRef<Index> tap) {
          read(0, elementOf(space, op.getInput(), inputAt(window, output.at, tap)));
        });
        read(1, elementOf(space, op.getGrad(), output.at));
      });
    });
  }

  Values elements(MaxPoolGradOp op, LoopEmitter &e, ArrayRef<ElementIndex> indices) const {
    return MaxPoolGradNest(e, op).pull(indices);
  }
};
} // namespace

void dpc::attachMaxPoolGradRule(MLIRContext &context) {
  MaxPoolGradOp::attachInterface<MaxPoolGradFill, MaxPoolGradElement>(context);
}
