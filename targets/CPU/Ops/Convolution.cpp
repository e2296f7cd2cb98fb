// Fill rules of the three convolution ops. They multiply patches of an image by
// kernels or, for the gradient of the kernel, by the gradient of the result
// (PatchProduct.h; LineProduct.h if a group has few output channels).

#include "dialects/NN/IR/Convolution.h"
#include "dialects/NN/IR/SumTypes.h"
#include "targets/CPU/Ops/LineProduct.h"
#include "targets/CPU/Ops/Ops.h"
#include "targets/CPU/Ops/PatchBlocks.h"
#include "targets/CPU/Ops/PatchProduct.h"
#include "targets/CPU/Vectors/VectorFill.h"
#include "targets/Loops/Combiner.h"

#include "dialects/Interfaces/HostTensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

/// The bytes of the elements of `tensor` if they are converted to `elementType`.
static int64_t bytesOf(Value tensor, Type elementType) {
  return typeOf(tensor).getNumElements() * elementType.getIntOrFloatBitWidth() / 8;
}

/// The scratch memory that getInMemory needs.
static ScratchSizes scratchOf(const VectorSite &site, Value tensor, Type elementType) {
  if (typeOf(tensor).getElementType() == elementType && site.isInMemory(tensor))
    return {};
  return {bytesOf(tensor, elementType)};
}

/// Returns the address of the elements of `tensor`, converted to `elementType`,
/// which is the type of the elements or a wider type. Copies the tensor to scratch
/// memory if it must be converted or is not in memory.
static Value getInMemory(VectorEmitter &e, Value tensor, Type elementType) {
  RankedTensorType type = typeOf(tensor);
  if (type.getElementType() == elementType)
    if (Value buffer = e.getBuffer(tensor))
      return buffer;
  int64_t count = type.getNumElements();
  Value scratch = e.getScratch(bytesOf(tensor, elementType));
  VectorCode code(e, elementType);
  e.forEach({count}, [&](ArrayRef<Index> i) {
    Value element = e.read(tensor, ElementIndex(e, type.getShape(), i[0]));
    e.storeAt(scratch, code.widened(element), i[0]);
  });
  return scratch;
}

static Type elementTypeOf(Value tensor) { return typeOf(tensor).getElementType(); }

/// The type in which a convolution op sums.
static Type sumTypeOf(Operation *op) { return accumulatorType(elementTypeOf(op->getOperand(0))); }

/// Whether a blocked convolution is faster than a loop that sums one element of the
/// result at a time. It reads only tensors with channels before the spatial dimensions.
static bool paysForAll(Operation *op, const Convolution &c) {
  if (c.channelsLast)
    return false;
  Type sum = sumTypeOf(op), result = elementTypeOf(op->getResult(0));
  if (result != sum && result != elementTypeOf(op->getOperand(0)))
    return false;
  return (sum.isF32() || sum.isF64()) && c.x.getNumElements() > 0 && c.y.getNumElements() > 0 &&
         c.y.getNumElements() * ShapedType::getNumElements(c.w.getShape().drop_front(1)) >= 4096;
}

/// Whether the `outputs` output channels of a group would fill less than half of a
/// vector.
static bool areFew(const VectorUnit &unit, Type sumType, int64_t outputs) {
  return outputs * 2 * sumType.getIntOrFloatBitWidth() / 8 < int64_t(unit.vectorBytes);
}

static int64_t inputsOf(const Convolution &c) { return c.w.getDimSize(1); }
static int64_t outputsOf(const Convolution &c) { return c.w.getDimSize(0) / c.groups; }
static ArrayRef<int64_t> spatial(RankedTensorType type) { return type.getShape().drop_front(2); }

/// The grid of patches of x from which y is computed.
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

/// Dimension `d` of one grid of patches of y's gradient. Along this dimension, the grid
/// computes the elements phase, phase + stride, .. of x's gradient.
static PatchDimension phaseOf(const Convolution &c, unsigned d, int64_t phase) {
  int64_t stride = c.window.strides[d], dilation = c.window.dilations[d];
  PatchDimension dimension{};
  dimension.step = 1;
  dimension.points = llvm::divideCeilSigned(std::max<int64_t>(0, spatial(c.x)[d] - phase), stride);
  dimension.resultFirst = phase;
  dimension.resultStep = stride;
  // Element x of the image and kernel element k contribute to element (x + padLow -
  // k * dilation) / stride of y, if this is an integer.
  int64_t shift = phase + c.window.padLow[d];
  dimension.kernelStep = stride / std::gcd(stride, dilation);
  for (int64_t k = 0; k < std::min(dimension.kernelStep, c.window.kernel[d]); ++k) {
    if (llvm::mod(shift - k * dilation, stride) != 0)
      continue;
    dimension.kernelFirst = k;
    dimension.first = llvm::divideFloorSigned(shift - k * dilation, stride);
    dimension.tapStep = -dimension.kernelStep * dilation / stride;
    dimension.taps = llvm::divideCeil(c.window.kernel[d] - k, dimension.kernelStep);
    break;
  }
  return dimension;
}

namespace {

/// The products that convolutions and their input gradients are, as patches or as lines.
ScratchSizes scratchOfProduct(const ConvolutionProduct &product, Value kernel,
                              const VectorSite &site) {
  const Type sumType = product.getSumType();
  const bool isOfLines = areFew(site.unit, sumType, product.outputs);
  const PatchProduct patches{product};
  ScratchSizes sizes =
      scratchOf(site, kernel, isOfLines ? sumType : patches.getKernelType(site.unit));
  llvm::append_range(sizes,
                     isOfLines ? LineProduct{product}.getScratch(site) : patches.getScratch(site));
  return sizes;
}

void emitProduct(ConvolutionProduct product, Value kernel, Value result, VectorEmitter &e) {
  const Type sumType = product.getSumType();
  const bool isOfLines = areFew(e, sumType, product.outputs);
  product.result = e.getBuffer(result);
  product.kernel.address =
      getInMemory(e, kernel, isOfLines ? sumType : PatchProduct{product}.getKernelType(e));
  if (isOfLines)
    LineProduct{product}.emit(e);
  else
    PatchProduct{product}.emit(e);
}

/// Base of the three rules. All three are used under the same condition (paysForAll).
template <typename Model, typename Op> struct ConvolutionFill : VectorFillRule<Model, Op> {
  bool pays(Operation *op) const { return paysForAll(op, cast<Op>(op).getConvolution()); }
};

struct ConvFill : ConvolutionFill<ConvFill, ConvOp> {
  /// Describes the product without addresses. The description keeps a reference to `grid`.
  static ConvolutionProduct productOf(ConvOp op, const Convolution &c, const PatchGrid &grid) {
    int64_t taps = ShapedType::getNumElements(spatial(c.w)), depth = inputsOf(c) * taps;
    return {op.getInput(),
            c.groups,
            inputsOf(c),
            outputsOf(c),
            spatial(c.w),
            spatial(c.y),
            grid,
            {outputsOf(c) * depth, depth, taps},
            elementTypeOf(op.getResult())};
  }

  ScratchSizes scratch(ConvOp op, const VectorSite &site) const {
    Convolution c = op.getConvolution();
    PatchGrid grid = gridOf(c);
    return scratchOfProduct(productOf(op, c, grid), op.getKernel(), site);
  }

  void fill(ConvOp op, VectorEmitter &e) const {
    Convolution c = op.getConvolution();
    PatchGrid grid = gridOf(c);
    emitProduct(productOf(op, c, grid), op.getKernel(), op.getResult(), e);
  }
};

struct ConvInputGradFill : ConvolutionFill<ConvInputGradFill, ConvInputGradOp> {
  static SmallVector<PatchGrid> gridsOf(const Convolution &c) {
    SmallVector<PatchGrid> grids;
    forEachIndex(c.window.strides, [&](ArrayRef<int64_t> phase) {
      PatchGrid grid;
      for (unsigned d = 0; d < phase.size(); ++d)
        grid.push_back(phaseOf(c, d, phase[d]));
      grids.push_back(grid);
    });
    return grids;
  }

  /// Describes the product without addresses. The description keeps a reference to `grids`.
  static ConvolutionProduct productOf(ConvInputGradOp op, const Convolution &c,
                                      ArrayRef<PatchGrid> grids) {
    int64_t taps = ShapedType::getNumElements(spatial(c.w)), inputs = inputsOf(c);
    return {op.getGrad(),
            c.groups,
            outputsOf(c),
            inputs,
            spatial(c.w),
            spatial(c.x),
            grids,
            {outputsOf(c) * inputs * taps, taps, inputs * taps},
            elementTypeOf(op.getResult())};
  }

  ScratchSizes scratch(ConvInputGradOp op, const VectorSite &site) const {
    Convolution c = op.getConvolution();
    SmallVector<PatchGrid> grids = gridsOf(c);
    return scratchOfProduct(productOf(op, c, grids), op.getKernel(), site);
  }

  void fill(ConvInputGradOp op, VectorEmitter &e) const {
    Convolution c = op.getConvolution();
    SmallVector<PatchGrid> grids = gridsOf(c);
    emitProduct(productOf(op, c, grids), op.getKernel(), op.getResult(), e);
  }
};

struct ConvWeightGradFill : ConvolutionFill<ConvWeightGradFill, ConvWeightGradOp> {
  /// Describes the gradient without addresses.
  static ConvolutionGradient gradientOf(ConvWeightGradOp op, const Convolution &c) {
    return {op.getInput(), c.groups,  inputsOf(c), outputsOf(c),
            spatial(c.w),  gridOf(c), Value(),     elementTypeOf(op.getResult())};
  }

  ScratchSizes scratch(ConvWeightGradOp op, const VectorSite &site) const {
    Convolution c = op.getConvolution();
    ConvolutionGradient gradient = gradientOf(op, c);
    if (!areFew(site.unit, sumTypeOf(op), outputsOf(c)))
      return PatchGradient{gradient, op.getGrad()}.getScratch(site);
    Type gradType = elementTypeOf(op.getGrad());
    ScratchSizes sizes = scratchOf(site, op.getGrad(), gradType);
    llvm::append_range(sizes, LineGradient{gradient, Value(), gradType}.getScratch(site));
    return sizes;
  }

  void fill(ConvWeightGradOp op, VectorEmitter &e) const {
    Convolution c = op.getConvolution();
    ConvolutionGradient gradient = gradientOf(op, c);
    gradient.result = e.getBuffer(op.getResult());
    Type gradType = elementTypeOf(op.getGrad());
    if (areFew(e, sumTypeOf(op), outputsOf(c)))
      LineGradient{gradient, getInMemory(e, op.getGrad(), gradType), gradType}.emit(e);
    else
      PatchGradient{gradient, op.getGrad()}.emit(e);
  }
};

} // namespace

void dpc::attachConvolutionFills(MLIRContext &context) {
  ConvOp::attachInterface<ConvFill>(context);
  ConvInputGradOp::attachInterface<ConvInputGradFill>(context);
  ConvWeightGradOp::attachInterface<ConvWeightGradFill>(context);
}
