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

/// Combines each value of `carried` with an element if `inside` holds; otherwise returns
/// `carried`. The elements are neighbours in `tensor`, and the first one is at `first`.
Values combineWhere(LoopEmitter &e, Combiner &combiner, Value inside, ValueRange carried,
                    Value tensor, ArrayRef<Index> first) {
  return e.branch(
      inside,
      [&] {
        Values combined;
        for (auto [n, value] : llvm::enumerate(carried)) {
          if (carried.size() > 1)
            e.turnTo(n);
          combined.push_back(
              combiner.combine(value, combiner.widen(e.read(tensor, elementAfter(first, n)))));
        }
        return combined;
      },
      [&] { return Values(carried); });
}

Values narrowed(Combiner &combiner, Values values) {
  for (Value &value : values)
    value = combiner.narrow(value);
  return values;
}

/// The element rule of nn.max_pool and nn.sum_pool: the largest element or the
/// sum of each window.
template <typename Op, ReduceKind kind> struct PoolRule : NeighboursRule<PoolRule<Op, kind>, Op> {
  int64_t getElementCost(Operation *op) const { return cast<Op>(op).getWindow().getTaps(); }
  int64_t getReadsPerElement(Operation *op, unsigned) const {
    return getReadsPerOutput(cast<Op>(op).getWindow());
  }
  bool joinsNeighbours(Operation *op) const { return hasNeighbours(cast<Op>(op).getWindow()); }

  void reads(Op op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    readWindow(op.getWindow(), space, op.getInput(), index, read);
  }

  Values elements(Op op, LoopEmitter &e, ArrayRef<ElementIndex> indices) const {
    RankedTensorType type = typeOf(op.getInput());
    Window window = op.getWindow();
    Combiner combiner(e, kind, type.getElementType());
    auto add = [&](ArrayRef<Index> k, ValueRange carried) {
      SmallVector<Index> x = inputAt(window, indices[0].positions(), k);
      return combineWhere(e, combiner, e.allInRange(insideOf(type, x)), carried, op.getInput(), x);
    };
    return narrowed(combiner, combiner.reduce(window.kernel, indices.size(), add));
  }
};

struct SumPoolGradRule : NeighboursRule<SumPoolGradRule, SumPoolGradOp> {
  int64_t getElementCost(Operation *op) const {
    return ShapedType::getNumElements(OutputAround::countsOf(cast<SumPoolGradOp>(op).getWindow()));
  }
  int64_t getReadsPerElement(Operation *op, unsigned) const { return getElementCost(op); }
  bool joinsNeighbours(Operation *op) const {
    return hasNeighbours(cast<SumPoolGradOp>(op).getWindow());
  }

  void reads(SumPoolGradOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    Window window = op.getWindow();
    space.inLoops(OutputAround::countsOf(window), [&](ArrayRef<Index> number) {
      OutputAround output(space, window, index.positions(), number);
      space.inBranch(!space.areMet(output.bounds(typeOf(op.getGrad()))),
                     [&] { read(0, elementOf(space, op.getGrad(), output.at)); });
    });
  }

  Values elements(SumPoolGradOp op, LoopEmitter &e, ArrayRef<ElementIndex> indices) const {
    RankedTensorType type = typeOf(op.getGrad());
    Window window = op.getWindow();
    Combiner combiner(e, ReduceKind::sum, type.getElementType());
    auto add = [&](ArrayRef<Index> number, ValueRange carried) {
      OutputAround output(e, window, indices[0].positions(), number);
      return combineWhere(e, combiner, e.allInRange(output.bounds(type)), carried, op.getGrad(),
                          output.at);
    };
    return narrowed(combiner, combiner.reduce(OutputAround::countsOf(window), indices.size(), add));
  }
};

} // namespace

void dpc::attachPoolingRules(MLIRContext &context) {
  MaxPoolOp::attachInterface<PoolRule<MaxPoolOp, ReduceKind::max>>(context);
  SumPoolOp::attachInterface<PoolRule<SumPoolOp, ReduceKind::sum>>(context);
  SumPoolGradOp::attachInterface<SumPoolGradRule>(context);
}
