// Loop rules of the pooling ops.

#include "dialects/NN/IR/Loops.h"
#include "dialects/NN/IR/Pooling.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

/// Where element `k` of the window of output `y` lies in an input of spatial
/// extents `extents`, and whether that is inside (null: always).
static std::pair<SmallVector<Index>, Value>
inputAt(LoopEmitter &e, const Window &window, ArrayRef<int64_t> extents,
        ArrayRef<Index> y, ArrayRef<Index> k) {
  SmallVector<Index> x(y.take_front(2));
  Value inside;
  for (auto [d, extent] : llvm::enumerate(extents)) {
    x.push_back(y[d + 2] * window.strides[d] + k[d] * window.dilations[d] -
                window.padLow[d]);
    inside = e.both(inside, e.inRange(x.back(), 0, extent));
  }
  return {x, inside};
}

int64_t MaxPoolOp::getElementCost() { return getWindow().getTaps(); }
int64_t SumPoolOp::getElementCost() { return getWindow().getTaps(); }
int64_t SumPoolGradOp::getElementCost() { return getWindow().getTaps(); }

static int64_t windowsPerElement(Window window) {
  int64_t strides = 1;
  for (int64_t stride : window.strides)
    strides *= stride;
  return std::max<int64_t>(1, window.getTaps() / strides);
}
int64_t MaxPoolOp::getReadsPerElement(unsigned) {
  return windowsPerElement(getWindow());
}
int64_t SumPoolOp::getReadsPerElement(unsigned) {
  return windowsPerElement(getWindow());
}
int64_t SumPoolGradOp::getReadsPerElement(unsigned) {
  return getWindow().getTaps();
}

template <typename Op>
static Value poolElement(Op op, ReduceKind kind, LoopEmitter &e,
                         const ElementIndex &index) {
  RankedTensorType type = typeOf(op.getInput());
  Window window = op.getWindow();
  Combiner combiner(e, kind, type.getElementType());
  return combiner.narrow(e.fold(
      window.kernel, combiner.identity(),
      [&](ArrayRef<Index> k, ValueRange carried) {
        auto [at, isInside] = inputAt(e, window, type.getShape().drop_front(2),
                                      index.positions(), k);
        ArrayRef<Index> x = at;
        return Values{e.branch(
            isInside,
            [&] {
              return combiner.combine(carried[0],
                                      combiner.widen(e.read(op.getInput(), x)));
            },
            [&] { return Value(carried[0]); })};
      })[0]);
}

Value MaxPoolOp::emitElementAt(LoopEmitter &e, unsigned,
                               const ElementIndex &index) {
  return poolElement(*this, ReduceKind::max, e, index);
}

Value SumPoolOp::emitElementAt(LoopEmitter &e, unsigned,
                               const ElementIndex &index) {
  return poolElement(*this, ReduceKind::sum, e, index);
}

Value SumPoolGradOp::emitElementAt(LoopEmitter &e, unsigned,
                                   const ElementIndex &index) {
  RankedTensorType type = typeOf(getGrad());
  Window window = getWindow();
  Combiner combiner(e, ReduceKind::sum, type.getElementType());
  return combiner.narrow(e.fold(
      window.kernel, combiner.identity(),
      [&](ArrayRef<Index> k, ValueRange carried) {
        SmallVector<Index> y(index.positions().take_front(2));
        Value inside;
        for (auto [d, extent] :
             llvm::enumerate(type.getShape().drop_front(2))) {
          Index at =
              index[d + 2] + window.padLow[d] - k[d] * window.dilations[d];
          inside =
              e.both(inside, e.inRange(e.mod(at, window.strides[d]), 0, 1));
          y.push_back(e.floorDiv(at, window.strides[d]));
          inside = e.both(inside, e.inRange(y.back(), 0, extent));
        }
        return Values{e.branch(
            inside,
            [&] {
              return combiner.combine(carried[0],
                                      combiner.widen(e.read(getGrad(), y)));
            },
            [&] { return Value(carried[0]); })};
      })[0]);
}

bool MaxPoolGradOp::isPushed() { return true; }

LogicalResult MaxPoolGradOp::emitLoops(LoopEmitter &e) {
  RankedTensorType type = typeOf(getInput()), pooled = typeOf(getGrad());
  ArrayRef<int64_t> extents = type.getShape().drop_front(2);
  Window window = getWindow();
  Type element = registerType(type.getElementType());
  Value zero = e.constantLike(element, 0);
  e.forEach({type.getNumElements()},
            [&](ArrayRef<Index> i) { e.store(getResult(), zero, i[0]); });
  Ordering ordering(e, type.getElementType());
  Combiner combiner(e, ReduceKind::sum, type.getElementType());
  std::function<void(SmallVector<Index> &)> nest = [&](SmallVector<Index> &y) {
    if (int64_t(y.size()) < pooled.getRank()) {
      e.sequence(pooled.getDimSize(y.size()), [&](Index i) {
        y.push_back(i);
        nest(y);
        y.pop_back();
      });
      return;
    }
    Value none = e.materialize(e.constant(-1));
    auto best = e.fold(
        window.kernel, {zero, none},
        [&](ArrayRef<Index> k, ValueRange carried) {
          auto [x, isInside] = inputAt(e, window, extents, y, k);
          Value inside = isInside;
          // Outside, element 0 is read in its place and does not win.
          Index number = e.linearize(x, type.getShape());
          Value place = e.materialize(number);
          if (inside) {
            place = e.make<arith::SelectOp>(inside, place,
                                            e.materialize(e.constant(0)));
            number = e.bind(place, 0, type.getNumElements() - 1);
          }
          Value now =
              e.read(getInput(), ElementIndex(e, type.getShape(), number));
          Value empty =
              e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, carried[1],
                                    e.materialize(e.constant(0)));
          Value better = ordering.either(
              empty, ordering.unlessNan(ordering.less(carried[0], now),
                                        carried[0], now));
          better = e.both(better, inside);
          return Values{e.make<arith::SelectOp>(better, now, carried[0]),
                        e.make<arith::SelectOp>(better, place, carried[1])};
        });
    Value found = e.make<arith::CmpIOp>(arith::CmpIPredicate::sge, best[1],
                                        e.materialize(e.constant(0)));
    e.when(found, [&] {
      Index to = e.bind(best[1], 0, type.getNumElements() - 1);
      Value old = combiner.widen(e.load(getResult(), to));
      e.store(getResult(),
              combiner.narrow(
                  combiner.combine(old, combiner.widen(e.read(getGrad(), y)))),
              to);
    });
  };
  SmallVector<Index> y;
  nest(y);
  return success();
}
