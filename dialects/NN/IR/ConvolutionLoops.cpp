// Loop rules of the three ops of a convolution.

#include "dialects/NN/IR/Convolution.h"
#include "dialects/NN/IR/Loops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

static int64_t elements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

/// Products of the whole convolution over elements of `type`.
static int64_t productsPer(const Convolution &convolution,
                           RankedTensorType type) {
  int64_t products = convolution.y.getNumElements() *
                     elements(convolution.w.getShape().drop_front(1));
  return std::max<int64_t>(
      1, products / std::max<int64_t>(1, type.getNumElements()));
}

int64_t ConvOp::getElementCost() {
  return productsPer(getConvolution(), typeOf(getResult()));
}
int64_t ConvInputGradOp::getElementCost() {
  return productsPer(getConvolution(), typeOf(getResult()));
}
int64_t ConvWeightGradOp::getElementCost() {
  return productsPer(getConvolution(), typeOf(getResult()));
}
int64_t ConvOp::getReadsPerElement(unsigned operand) {
  return productsPer(getConvolution(), typeOf(getOperand(operand)));
}
int64_t ConvInputGradOp::getReadsPerElement(unsigned operand) {
  return productsPer(getConvolution(), typeOf(getOperand(operand)));
}
int64_t ConvWeightGradOp::getReadsPerElement(unsigned operand) {
  return productsPer(getConvolution(), typeOf(getOperand(operand)));
}

bool ConvOp::isPushed() { return false; }
bool ConvInputGradOp::isPushed() { return false; }
bool ConvWeightGradOp::isPushed() { return false; }
LogicalResult ConvOp::emitLoops(LoopEmitter &) { return failure(); }
LogicalResult ConvInputGradOp::emitLoops(LoopEmitter &) { return failure(); }
LogicalResult ConvWeightGradOp::emitLoops(LoopEmitter &) { return failure(); }

/// sum + a * b where `inside` holds, else sum.
static Value addProduct(LoopEmitter &e, Combiner &combiner, Value inside,
                        Value sum, function_ref<Value()> a,
                        function_ref<Value()> b) {
  return e.branch(
      inside,
      [&] {
        return combiner.accumulateProduct(sum, combiner.widen(a()),
                                          combiner.widen(b()));
      },
      [&] { return sum; });
}

Value ConvOp::emitElementAt(LoopEmitter &e, unsigned,
                            const ElementIndex &index) {
  Convolution c = getConvolution();
  int64_t inputs = c.w.getDimSize(1), outputs = c.w.getDimSize(0);
  SmallVector<int64_t> extents(c.w.getShape().drop_front(1));
  Index group = e.floorDiv(index[1], outputs / c.groups);
  Combiner combiner(e, ReduceKind::sum, c.x.getElementType());
  Value sum = e.fold(
      extents, combiner.identity(), [&](ArrayRef<Index> k, ValueRange carried) {
        SmallVector<Index> x{index[0], group * inputs + k[0]}, w{index[1]};
        llvm::append_range(w, k);
        Value inside;
        for (auto [d, extent] : llvm::enumerate(c.x.getShape().drop_front(2))) {
          x.push_back(index[d + 2] * c.window.strides[d] +
                      k[d + 1] * c.window.dilations[d] - c.window.padLow[d]);
          inside = e.both(inside, e.inRange(x.back(), 0, extent));
        }
        return Values{addProduct(
            e, combiner, inside, carried[0],
            [&] { return e.read(getInput(), x); },
            [&] { return e.read(getKernel(), w); })};
      })[0];
  return combiner.narrow(sum);
}

Value ConvInputGradOp::emitElementAt(LoopEmitter &e, unsigned,
                                     const ElementIndex &index) {
  Convolution c = getConvolution();
  int64_t inputs = c.w.getDimSize(1), perGroup = c.w.getDimSize(0) / c.groups;
  SmallVector<int64_t> extents{perGroup};
  llvm::append_range(extents, c.w.getShape().drop_front(2));
  Index group = e.floorDiv(index[1], inputs), within = e.mod(index[1], inputs);
  Combiner combiner(e, ReduceKind::sum, c.x.getElementType());
  Value sum = e.fold(
      extents, combiner.identity(), [&](ArrayRef<Index> k, ValueRange carried) {
        Index output = group * perGroup + k[0];
        SmallVector<Index> y{index[0], output}, w{output, within};
        Value inside;
        for (auto [d, extent] : llvm::enumerate(c.y.getShape().drop_front(2))) {
          w.push_back(k[d + 1]);
          Index at = index[d + 2] + c.window.padLow[d] -
                     k[d + 1] * c.window.dilations[d];
          int64_t stride = c.window.strides[d];
          inside = e.both(inside, e.inRange(e.mod(at, stride), 0, 1));
          y.push_back(e.floorDiv(at, stride));
          inside = e.both(inside, e.inRange(y.back(), 0, extent));
        }
        return Values{addProduct(
            e, combiner, inside, carried[0],
            [&] { return e.read(getGrad(), y); },
            [&] { return e.read(getKernel(), w); })};
      })[0];
  return combiner.narrow(sum);
}

Value ConvWeightGradOp::emitElementAt(LoopEmitter &e, unsigned,
                                      const ElementIndex &index) {
  Convolution c = getConvolution();
  int64_t inputs = c.w.getDimSize(1), perGroup = c.w.getDimSize(0) / c.groups;
  SmallVector<int64_t> extents{c.y.getDimSize(0)};
  llvm::append_range(extents, c.y.getShape().drop_front(2));
  Index channel = e.floorDiv(index[0], perGroup) * inputs + index[1];
  Combiner combiner(e, ReduceKind::sum, c.x.getElementType());
  Value sum = e.fold(
      extents, combiner.identity(), [&](ArrayRef<Index> k, ValueRange carried) {
        SmallVector<Index> x{k[0], channel}, y{k[0], index[0]};
        Value inside;
        for (auto [d, extent] : llvm::enumerate(c.x.getShape().drop_front(2))) {
          y.push_back(k[d + 1]);
          x.push_back(k[d + 1] * c.window.strides[d] +
                      index[d + 2] * c.window.dilations[d] -
                      c.window.padLow[d]);
          inside = e.both(inside, e.inRange(x.back(), 0, extent));
        }
        return Values{addProduct(
            e, combiner, inside, carried[0],
            [&] { return e.read(getInput(), x); },
            [&] { return e.read(getGrad(), y); })};
      })[0];
  return combiner.narrow(sum);
}
