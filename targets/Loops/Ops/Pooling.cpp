// Element rules of the pooling ops.

#include "dialects/NN/IR/Pooling.h"
#include "targets/Loops/Combiner.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Ops/Windows.h"
#include "targets/Loops/Rules.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {

/// The conditions under which the position `x` is inside a tensor of the type
/// `type`.
SmallVector<IndexBound> boundsOf(RankedTensorType type, ArrayRef<Index> x) {
  SmallVector<IndexBound> bounds;
  for (int64_t d = 2; d < type.getRank(); ++d)
    bounds.push_back({x[d], type.getDimSize(d)});
  return bounds;
}

/// Combines `carried` with `element()` if `inside` holds; otherwise returns
/// `carried`.
Values combineWhere(LoopEmitter &e, Combiner &combiner, Value inside, Value carried,
                    function_ref<Value()> element) {
  return {e.branch(
      inside, [&] { return combiner.combine(carried, combiner.widen(element())); },
      [&] { return carried; })};
}

/// The element rule of nn.max_pool and nn.sum_pool: the largest element or the
/// sum of each window.
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
    space.inLoops(window.kernel, [&](ArrayRef<Index> k) {
      SmallVector<Index> x = inputAt(window, index.positions(), k);
      space.inBranch(!space.areMet(boundsOf(typeOf(op.getInput()), x)),
                     [&] { read(0, elementOf(space, op.getInput(), x)); });
    });
  }

  Value element(Op op, LoopEmitter &e, const ElementIndex &index) const {
    RankedTensorType type = typeOf(op.getInput());
    Window window = op.getWindow();
    Combiner combiner(e, kind, type.getElementType());
    auto add = [&](ArrayRef<Index> k, ValueRange carried) {
      SmallVector<Index> x = inputAt(window, index.positions(), k);
      return combineWhere(e, combiner, e.allInRange(boundsOf(type, x)), carried[0],
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

  void reads(SumPoolGradOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    Window window = op.getWindow();
    space.inLoops(window.kernel, [&](ArrayRef<Index> k) {
      WindowOfInput output(space, window, index.positions(), k);
      space.inBranch(!space.areMet(output.bounds(space, typeOf(op.getGrad()))),
                     [&] { read(0, elementOf(space, op.getGrad(), output.at)); });
    });
  }

  Value element(SumPoolGradOp op, LoopEmitter &e, const ElementIndex &index) const {
    RankedTensorType type = typeOf(op.getGrad());
    Window window = op.getWindow();
    Combiner combiner(e, ReduceKind::sum, type.getElementType());
    auto add = [&](ArrayRef<Index> k, ValueRange carried) {
      WindowOfInput output(e, window, index.positions(), k);
      return combineWhere(e, combiner, e.allInRange(output.bounds(e, type)), carried[0],
                          [&] { return e.read(op.getGrad(), output.at); });
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
