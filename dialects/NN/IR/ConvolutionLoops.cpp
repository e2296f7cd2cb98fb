// Loop rules of the three ops of a convolution: products over patches, or for
// small ones a sum for each element.

#include "dialects/NN/IR/Convolution.h"
#include "dialects/NN/IR/LineProduct.h"
#include "dialects/NN/IR/Loops.h"
#include "dialects/NN/IR/PatchBlocks.h"
#include "dialects/NN/IR/PatchProduct.h"

#include "dialects/Interfaces/HostTensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

/// Products of the whole convolution over elements of `type`.
static int64_t productsPer(const Convolution &convolution,
                           RankedTensorType type) {
  int64_t products = convolution.y.getNumElements() *
                     elements(convolution.w.getShape().drop_front(1));
  return std::max<int64_t>(1, products /
                                  std::max<int64_t>(1, type.getNumElements()));
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

/// Address of the elements of `tensor`, in scratch memory if need be.
static Value getInMemory(LoopEmitter &e, Value tensor) {
  if (Value buffer = e.getBuffer(tensor))
    return buffer;
  RankedTensorType type = typeOf(tensor);
  int64_t count = type.getNumElements();
  Value scratch = e.getScratch(count * type.getElementTypeBitWidth() / 8);
  e.forEach({count}, [&](ArrayRef<Index> i) {
    e.storeAt(scratch, e.read(tensor, ElementIndex(e, type.getShape(), i[0])),
              i[0]);
  });
  return scratch;
}

/// Whether the convolution is worth more than a sum for each element.
static bool pays(const Convolution &c) {
  Type type = c.x.getElementType();
  return (type.isF32() || type.isF64()) && c.x.getNumElements() > 0 &&
         c.y.getNumElements() > 0 &&
         c.y.getNumElements() * elements(c.w.getShape().drop_front(1)) >= 4096;
}

/// Whether `outputs` channels of a group would leave most lanes empty.
static bool areFew(LoopEmitter &e, const Convolution &c, int64_t outputs) {
  return outputs * 2 * c.x.getElementTypeBitWidth() / 8 <
         int64_t(e.vectorBytes);
}

static int64_t inputsOf(const Convolution &c) { return c.w.getDimSize(1); }
static int64_t outputsOf(const Convolution &c) {
  return c.w.getDimSize(0) / c.groups;
}
static ArrayRef<int64_t> spatial(RankedTensorType type) {
  return type.getShape().drop_front(2);
}

/// The patches of x that make y.
static PatchGrid gridOf(const Convolution &c) {
  PatchGrid grid;
  for (auto [d, points] : llvm::enumerate(spatial(c.y))) {
    PatchDimension dimension{};
    dimension.points = points;
    dimension.step = c.window.strides[d];
    dimension.taps = c.window.kernel[d];
    dimension.first = -c.window.padLow[d];
    dimension.tapStep = c.window.dilations[d];
    dimension.kernelStep = dimension.resultStep = 1;
    grid.push_back(dimension);
  }
  return grid;
}

/// The patches of y's gradient that make elements phase, phase + stride, .. of
/// dimension `d` of x's.
static PatchDimension phaseOf(const Convolution &c, unsigned d, int64_t phase) {
  int64_t stride = c.window.strides[d], dilation = c.window.dilations[d];
  PatchDimension dimension{};
  dimension.step = 1;
  dimension.points = llvm::divideCeilSigned(
      std::max<int64_t>(0, spatial(c.x)[d] - phase), stride);
  dimension.resultFirst = phase;
  dimension.resultStep = stride;
  // Kernel element k meets x over y's (x + padLow - k * dilation) / stride.
  int64_t shift = phase + c.window.padLow[d];
  dimension.kernelStep = stride / std::gcd(stride, dilation);
  for (int64_t k = 0; k < std::min(dimension.kernelStep, c.window.kernel[d]);
       ++k) {
    if (llvm::mod(shift - k * dilation, stride) != 0)
      continue;
    dimension.kernelFirst = k;
    dimension.first = llvm::divideFloorSigned(shift - k * dilation, stride);
    dimension.tapStep = -dimension.kernelStep * dilation / stride;
    dimension.taps =
        llvm::divideCeil(c.window.kernel[d] - k, dimension.kernelStep);
    break;
  }
  return dimension;
}

bool ConvOp::isPushed() { return pays(getConvolution()); }
bool ConvInputGradOp::isPushed() { return pays(getConvolution()); }
bool ConvWeightGradOp::isPushed() { return pays(getConvolution()); }

LogicalResult ConvOp::emitLoops(LoopEmitter &e) {
  Convolution c = getConvolution();
  int64_t inputs = inputsOf(c), outputs = outputsOf(c),
          taps = elements(spatial(c.w)), depth = inputs * taps;
  PatchGrid grid = gridOf(c);
  ConvolutionProduct product{
      getInput(),   c.groups,     inputs, outputs,
      spatial(c.w), spatial(c.y), grid,   e.getBuffer(getResult())};
  Value kernel = getInMemory(e, getKernel());
  if (areFew(e, c, outputs)) {
    LineProduct{product, kernel, outputs * depth, depth, taps}.emit(e);
    return success();
  }
  auto pack = [&](VectorCode &code, Index group, Index first, int64_t columns,
                  int64_t width, Value to) {
    code.transpose({code.at(kernel, (group * outputs + first) * depth), depth},
                   columns, depth, {to, width}, /*padded=*/true);
  };
  PatchProduct{product, pack}.emit(e);
  return success();
}

LogicalResult ConvInputGradOp::emitLoops(LoopEmitter &e) {
  Convolution c = getConvolution();
  int64_t inputs = inputsOf(c), outputs = outputsOf(c),
          taps = elements(spatial(c.w));
  SmallVector<PatchGrid> grids;
  forEachIndex(c.window.strides, [&](ArrayRef<int64_t> phase) {
    PatchGrid grid;
    for (unsigned d = 0; d < phase.size(); ++d)
      grid.push_back(phaseOf(c, d, phase[d]));
    grids.push_back(grid);
  });
  ConvolutionProduct product{
      getGrad(),    c.groups,     outputs, inputs,
      spatial(c.w), spatial(c.x), grids,   e.getBuffer(getResult())};
  Value kernel = getInMemory(e, getKernel());
  if (areFew(e, c, inputs)) {
    LineProduct{product, kernel, outputs * inputs * taps, taps, inputs * taps}
        .emit(e);
    return success();
  }
  auto pack = [&](VectorCode &code, Index group, Index first, int64_t columns,
                  int64_t width, Value to) {
    e.sequence(outputs, [&](Index output) {
      Index from = ((group * outputs + output) * inputs + first) * taps;
      Value place = code.at(to, output * (taps * width));
      if (taps > 1)
        code.transpose({code.at(kernel, from), taps}, columns, taps,
                       {place, width}, /*padded=*/true);
      else
        code.copyPadded(code.at(kernel, from), columns, place, width);
    });
  };
  PatchProduct{product, pack}.emit(e);
  return success();
}

LogicalResult ConvWeightGradOp::emitLoops(LoopEmitter &e) {
  Convolution c = getConvolution();
  ConvolutionGradient gradient{getInput(),
                               c.groups,
                               inputsOf(c),
                               outputsOf(c),
                               spatial(c.w),
                               gridOf(c),
                               e.getBuffer(getResult())};
  if (areFew(e, c, outputsOf(c)))
    LineGradient{gradient, getInMemory(e, getGrad())}.emit(e);
  else
    PatchGradient{gradient, getGrad()}.emit(e);
  return success();
}

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
