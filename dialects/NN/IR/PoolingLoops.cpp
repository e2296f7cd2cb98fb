// Loop rules of the pooling ops.

#include "dialects/NN/IR/Loops.h"
#include "dialects/NN/IR/Pooling.h"

#include "llvm/ADT/STLExtras.h"

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
