// Rules of nn.max_pool_grad. The fill rule processes one line of outputs (the outputs along the
// last dimension) at a time: for each tap, it adds the gradients of the windows that have this tap
// as their largest element. For windows that are completely inside the input, this is a loop
// without branches. The element rule checks all windows that contain the element, and adds the
// gradients of those whose largest element it is.

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
class MaxPoolGradNest {
public:
  MaxPoolGradNest(LoopEmitter &emitter, MaxPoolGradOp op)
      : e(emitter), op(op), input(typeOf(op.getResult())), grad(typeOf(op.getGrad())),
        window(op.getWindow()), lines(e, window, input, grad),
        combiner(e, ReduceKind::sum, input.getElementType()),
        tapType(cast<IntegerType>(typeOf(op.getTaps()).getElementType())) {
    zero = e.constantLike(registerType(input.getElementType()), 0);
    for (size_t d = 0; d < window.kernel.size(); ++d) {
      int64_t width = (window.kernel[d] - 1) * window.dilations[d] + 1;
      overlaps |= window.strides[d] < width;
      covers &= window.strides[d] == window.kernel[d] && window.dilations[d] == 1 &&
                window.padLow[d] == 0 &&
                grad.getDimSize(d + 2) * window.strides[d] == input.getDimSize(d + 2);
    }
  }

  void emit() {
    // If the windows cover the input without overlap, and the loops over taps are unrolled,
    // each element is stored once. In all other cases the elements must be zero before,
    // because gradients are added to them, or because no window contains them.
    if (!covers || !lines.isUnrolled())
      e.forEach({input.getNumElements()},
                [&](ArrayRef<Index> i) { e.store(op.getResult(), zero, i[0]); });
    lines.forEachLine([&](SmallVector<Index> &y) { distribute(y); });
  }

  /// The elements `x` of the result, as the element rule computes them.
  Values pull(ArrayRef<ElementIndex> x) {
    const size_t count = x.size();
    auto add = [&](ArrayRef<Index> number, ValueRange sums) {
      OutputAround output(e, window, x[0].positions(), number);
      return e.branch(
          e.allInRange(output.bounds(grad)),
          [&] {
            Values combined;
            for (auto [n, sum] : llvm::enumerate(sums)) {
              if (count > 1)
                e.turnTo(n);
              Value share = shareOf(elementAfter(output.at, n), output.tap);
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
  /// Adds the gradients of the line of outputs `y` at their taps.
  void distribute(SmallVector<Index> &y) {
    if (lines.isUnrolled() && !overlaps) {
      // Process the taps of one row of the kernel together, because together they
      // fill complete lines of the result.
      SmallVector<int64_t> rows(window.kernel.drop_back());
      forEachIndex(rows, [&](ArrayRef<int64_t> row) {
        SmallVector<Index> k = lines.constants(row);
        k.push_back(e.constant(0));
        e.when(lines.placeOf(y, k).line, [&] {
          lines.inside([&](Index at) {
            y.back() = at;
            for (int64_t i = 0; i < window.kernel.back(); ++i) {
              k.back() = e.constant(i);
              e.store(op.getResult(), shareOf(y, k),
                      e.linearize(lines.placeOf(y, k).at, input.getShape()));
            }
          });
        });
      });
      forEachIndex(window.kernel, [&](ArrayRef<int64_t> k) { border(y, lines.constants(k)); });
      return;
    }
    auto tap = [&](ArrayRef<Index> k) {
      y.back() = e.constant(0);
      e.when(lines.placeOf(y, k).line, [&] {
        lines.inside([&](Index at) {
          y.back() = at;
          add(y, k);
        });
      });
      border(y, k);
    };
    if (lines.isUnrolled())
      forEachIndex(window.kernel, [&](ArrayRef<int64_t> k) { tap(lines.constants(k)); });
    else
      e.sequence(window.getTaps(), [&](Index i) { tap(e.delinearize(i, window.kernel)); });
  }

  void border(SmallVector<Index> &y, ArrayRef<Index> k) {
    lines.onBorder([&](Index at) {
      y.back() = at;
      WindowLines::Place place = lines.placeOf(y, k);
      e.when(e.both(place.line, place.output), [&] { add(y, k); });
    });
  }

  void add(ArrayRef<Index> y, ArrayRef<Index> k) {
    Index number = e.linearize(lines.placeOf(y, k).at, input.getShape());
    Value old = combiner.widen(e.load(op.getResult(), number));
    e.store(op.getResult(), combiner.narrow(combiner.combine(old, combiner.widen(shareOf(y, k)))),
            number);
  }

  /// The gradient of output `y` if the tap at position `k` has its largest element, otherwise 0.
  Value shareOf(ArrayRef<Index> y, ArrayRef<Index> k) {
    Value tap = e.materialize(e.linearize(k, window.kernel));
    if (tapType.getWidth() < 64)
      tap = e.make<arith::TruncIOp>(tapType, tap);
    Value isLargest = e.make<arith::CmpIOp>(arith::CmpIPredicate::eq, e.read(op.getTaps(), y), tap);
    return e.make<arith::SelectOp>(isLargest, e.read(op.getGrad(), y), zero);
  }

  LoopEmitter &e;
  MaxPoolGradOp op;
  RankedTensorType input, grad;
  Window window;
  WindowLines lines;
  Combiner combiner;
  IntegerType tapType;
  Value zero;
  bool overlaps = false, covers = true;
};

struct MaxPoolGradFill : FillRule<MaxPoolGradFill, MaxPoolGradOp> {
  FillParts parts(MaxPoolGradOp, int64_t) const { return {}; }
  void fill(MaxPoolGradOp op, LoopEmitter &e, FillParts) const {
    e.forEach({1}, [&](ArrayRef<Index>) { MaxPoolGradNest(e, op).emit(); });
  }
};

struct MaxPoolGradElement : NeighboursRule<MaxPoolGradElement, MaxPoolGradOp> {
  /// The code reads two numbers of each window that may contain the element.
  int64_t getElementCost(Operation *self) const {
    Window window = cast<MaxPoolGradOp>(self).getWindow();
    return 2 * ShapedType::getNumElements(OutputAround::countsOf(window));
  }
  int64_t getReadsPerElement(Operation *self, unsigned) const {
    return getReadsPerOutput(cast<MaxPoolGradOp>(self).getWindow());
  }
  bool joinsNeighbours(Operation *self) const {
    return hasNeighbours(cast<MaxPoolGradOp>(self).getWindow());
  }

  void reads(MaxPoolGradOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    Window window = op.getWindow();
    space.inLoops(OutputAround::countsOf(window), [&](ArrayRef<Index> number) {
      OutputAround output(space, window, index.positions(), number);
      space.inBranch(!space.areMet(output.bounds(typeOf(op.getGrad()))), [&] {
        read(0, elementOf(space, op.getTaps(), output.at));
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
