// Element rules of the pooling ops.

#include "dialects/NN/IR/Pooling.h"
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

/// Where element `k` of the window of output `y` lies in an input of spatial
/// extents `extents`.
SmallVector<Index> inputAt(const Window &window, ArrayRef<Index> y, ArrayRef<Index> k) {
  SmallVector<Index> x(y.take_front(2));
  for (size_t d = 0; d < k.size(); ++d)
    x.push_back(y[d + 2] * window.strides[d] + k[d] * window.dilations[d] - window.padLow[d]);
  return x;
}

/// Whether the spatial positions of `x` are inside (null: always).
Value areInside(LoopEmitter &e, RankedTensorType type, ArrayRef<Index> x) {
  Value inside;
  for (int64_t d = 2; d < type.getRank(); ++d)
    inside = e.both(inside, e.inRange(x[d], 0, type.getDimSize(d)));
  return inside;
}

/// Variables for the elements of a window.
SmallVector<Index> windowIn(IndexSpace &space, const Window &window) {
  SmallVector<Index> k;
  for (int64_t extent : window.kernel)
    k.push_back(space.variable(0, extent - 1));
  return k;
}

/// `carried` combined with `element()` where `inside` holds.
Values combineWhere(LoopEmitter &e, Combiner &combiner, Value inside, Value carried,
                    function_ref<Value()> element) {
  return {e.branch(
      inside, [&] { return combiner.combine(carried, combiner.widen(element())); },
      [&] { return carried; })};
}

/// A largest element or a sum over windows.
template <typename Op, ReduceKind kind> struct PoolRule : ElementRule<PoolRule<Op, kind>, Op> {
  int64_t getElementCost(Operation *op) const { return cast<Op>(op).getWindow().getTaps(); }
  int64_t getReadsPerElement(Operation *op, unsigned) const {
    Window window = cast<Op>(op).getWindow();
    int64_t strides = 1;
    for (int64_t stride : window.strides)
      strides *= stride;
    return std::max<int64_t>(1, window.getTaps() / strides);
  }

  void reads(Op op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    Window window = op.getWindow();
    read(0, elementOf(space, op.getInput(),
                      inputAt(window, index.positions(), windowIn(space, window))));
  }

  Value element(Op op, LoopEmitter &e, const ElementIndex &index) const {
    RankedTensorType type = typeOf(op.getInput());
    Window window = op.getWindow();
    Combiner combiner(e, kind, type.getElementType());
    auto add = [&](ArrayRef<Index> k, ValueRange carried) {
      SmallVector<Index> x = inputAt(window, index.positions(), k);
      return combineWhere(e, combiner, areInside(e, type, x), carried[0],
                          [&] { return e.read(op.getInput(), x); });
    };
    return combiner.narrow(combiner.reduce(window.kernel, add));
  }
};

struct SumPoolGradRule : ElementRule<SumPoolGradRule, SumPoolGradOp> {
  int64_t getElementCost(Operation *op) const {
    return cast<SumPoolGradOp>(op).getWindow().getTaps();
  }
  int64_t getReadsPerElement(Operation *op, unsigned) const { return getElementCost(op); }

  /// Position `x` of dimension `d` before it is divided by the stride: the
  /// output whose window has it at `k`.
  static Index shifted(const Window &window, size_t d, Index x, Index k) {
    return x + window.padLow[d] - k * window.dilations[d];
  }
  static SmallVector<Index> outputAt(IndexSpace &space, const Window &window, ArrayRef<Index> x,
                                     ArrayRef<Index> k) {
    SmallVector<Index> y(x.take_front(2));
    for (size_t d = 0; d < k.size(); ++d)
      y.push_back(space.floorDiv(shifted(window, d, x[d + 2], k[d]), window.strides[d]));
    return y;
  }

  void reads(SumPoolGradOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    Window window = op.getWindow();
    read(0, elementOf(space, op.getGrad(),
                      outputAt(space, window, index.positions(), windowIn(space, window))));
  }

  Value element(SumPoolGradOp op, LoopEmitter &e, const ElementIndex &index) const {
    RankedTensorType type = typeOf(op.getGrad());
    Window window = op.getWindow();
    Combiner combiner(e, ReduceKind::sum, type.getElementType());
    auto add = [&](ArrayRef<Index> k, ValueRange carried) {
      SmallVector<Index> y = outputAt(e, window, index.positions(), k);
      Value inside;
      for (size_t d = 0; d < k.size(); ++d) {
        Index at = shifted(window, d, index[d + 2], k[d]);
        inside = e.both(inside, e.inRange(e.mod(at, window.strides[d]), 0, 1));
        inside = e.both(inside, e.inRange(y[d + 2], 0, type.getDimSize(d + 2)));
      }
      return combineWhere(e, combiner, inside, carried[0], [&] { return e.read(op.getGrad(), y); });
    };
    return combiner.narrow(combiner.reduce(window.kernel, add));
  }
};

} // namespace

void dpc::attachPoolingRules(MLIRContext &context) {
  MaxPoolOp::attachInterface<PoolRule<MaxPoolOp, ReduceKind::max>>(context);
  SumPoolOp::attachInterface<PoolRule<SumPoolOp, ReduceKind::sum>>(context);
  SumPoolGradOp::attachInterface<SumPoolGradRule>(context);
}
