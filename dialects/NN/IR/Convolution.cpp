// The three ops of a convolution y = conv(x, w), which is linear in x and in w.
// nn.conv computes y, nn.conv_input_grad computes the gradient of x, and
// nn.conv_weight_grad computes the gradient of w. The gradients of each op are
// built from the other two ops. All three have the same geometry and the same
// loops.

#include "dialects/NN/IR/Convolution.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/SumTypes.h"
#include "planning/KernelClass.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Convolution.cpp.inc"

void NNDialect::registerConvolutionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Convolution.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

/// `type` with its channels after the batch. `type` may be null, and may have too few dimensions.
static RankedTensorType typeWithChannelsSecond(RankedTensorType type) {
  return type && type.getRank() > 2 ? withShape(type, nn::withChannelsSecond(type.getShape()))
                                    : type;
}

/// The convolution of `op`, which is one of the three ops or an adaptor for one of
/// them. The types are those of its tensors.
template <typename Op>
static Convolution convolutionOf(Op op, RankedTensorType x, RankedTensorType w,
                                 RankedTensorType y) {
  if (op.getChannelsLast()) {
    x = typeWithChannelsSecond(x);
    w = typeWithChannelsSecond(w);
    y = typeWithChannelsSecond(y);
  }
  Window window{w.getShape().drop_front(std::min<int64_t>(2, w.getRank())), op.getStrides(),
                op.getPadLow(), op.getPadHigh(), op.getDilations()};
  return {x, w, y, window, static_cast<int64_t>(op.getGroups()), op.getChannelsLast()};
}

Convolution ConvOp::getConvolution() {
  return convolutionOf(*this, typeOf(getInput()), typeOf(getKernel()), typeOf(getResult()));
}

Convolution ConvInputGradOp::getConvolution() {
  return convolutionOf(*this, typeOf(getResult()), typeOf(getKernel()), typeOf(getGrad()));
}

Convolution ConvWeightGradOp::getConvolution() {
  return convolutionOf(*this, typeOf(getInput()), typeOf(getResult()), typeOf(getGrad()));
}

FailureOr<SmallVector<int64_t>>
Convolution::inferOutput(function_ref<InFlightDiagnostic()> emitError) const {
  if (x.getRank() != w.getRank() || x.getRank() < 3 || x.getRank() > 5) // conv_c1
    return emitError() << "convolves " << x << " with " << w
                       << ", whose ranks are not one rank from 3 to 5";
  if (groups < 1) // conv_c3
    return emitError() << "has " << groups << " groups";
  if (x.getDimSize(1) % groups != 0 || x.getDimSize(1) / groups != w.getDimSize(1)) // conv_c3
    return emitError() << "has " << x.getDimSize(1) << " input channels in " << groups
                       << " groups, but a kernel for " << w.getDimSize(1) << " a group";
  if (w.getDimSize(0) % groups != 0) // conv_c3
    return emitError() << "has " << w.getDimSize(0) << " output channels, which " << groups
                       << " groups do not divide";
  FailureOr<SmallVector<int64_t>> extents = window.getOutput(x.getShape().drop_front(2), emitError);
  if (failed(extents))
    return failure();
  SmallVector<int64_t> shape{x.getDimSize(0), w.getDimSize(0)};
  llvm::append_range(shape, *extents);
  return shape;
}

/// Checks that the two operands of one of the three ops have the same element
/// type.
static LogicalResult checkFactors(Value first, Value second,
                                  function_ref<InFlightDiagnostic()> emitError) {
  Type left = typeOf(first).getElementType(), right = typeOf(second).getElementType();
  if (left != right) // conv_c2
    return emitError() << "has element types " << left << " and " << right;
  return success();
}

int64_t Convolution::getFlops() const {
  int64_t flops = 2 * x.getDimSize(0) * w.getNumElements();
  for (int64_t extent : y.getShape().drop_front(2))
    flops *= extent;
  return flops;
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                       ValueRange operands, DictionaryAttr attributes,
                                       OpaqueProperties properties, RegionRange regions,
                                       SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto emitError = [&] { return mlir::emitError(loc.value_or(UnknownLoc())) << "'nn.conv' op "; };
  RankedTensorType x = typeOf(adaptor.getInput());
  if (failed(checkFactors(adaptor.getInput(), adaptor.getKernel(), emitError)))
    return failure();
  const Convolution convolution = convolutionOf(adaptor, x, typeOf(adaptor.getKernel()), /*y=*/{});
  FailureOr<SmallVector<int64_t>> y = convolution.inferOutput(emitError);
  if (failed(y))
    return failure();
  types.push_back(withShape(x, convolution.inOrder(ArrayRef<int64_t>(*y))));
  return success();
}

// conv_c2
bool ConvOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange results) {
  return areCompatibleSums(inferred, results);
}

/// Verifies nn.conv_input_grad or nn.conv_weight_grad, which have the gradient of
/// y as an operand.
template <typename Op> static LogicalResult verifyGradient(Op op) {
  Convolution convolution = op.getConvolution();
  auto emitError = [&] { return op.emitOpError(); };
  Value first = op->getOperand(0);
  Type factor = typeOf(first).getElementType(), sum = typeOf(op.getResult()).getElementType();
  if (failed(checkFactors(first, op->getOperand(1), emitError)))
    return failure();
  if (!holdsSums(sum, factor)) // conv_c2
    return op.emitOpError("has a result of ") << sum << ", which cannot hold sums of " << factor;
  FailureOr<SmallVector<int64_t>> y = convolution.inferOutput(emitError);
  if (failed(y))
    return failure();
  if (ArrayRef(*y) != convolution.y.getShape()) // conv_c7
    return op.emitOpError("has a gradient of type ")
           << convolution.y << ", but convolving " << convolution.x << " with " << convolution.w
           << " gives " << withShape(convolution.y, *y)
           << (convolution.channelsLast ? " (channels before the spatial dimensions)" : "");
  return success();
}

LogicalResult ConvInputGradOp::verify() { return verifyGradient(*this); }
LogicalResult ConvWeightGradOp::verify() { return verifyGradient(*this); }

KernelClass ConvOp::getKernelClass() { return KernelClass::convolution; }
int64_t ConvOp::getFlops() { return getConvolution().getFlops(); }
KernelClass ConvInputGradOp::getKernelClass() { return KernelClass::convolution; }
int64_t ConvInputGradOp::getFlops() { return getConvolution().getFlops(); }
KernelClass ConvWeightGradOp::getKernelClass() { return KernelClass::convolution; }
int64_t ConvWeightGradOp::getFlops() { return getConvolution().getFlops(); }

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

namespace {
/// The loops of a convolution, and the loops that each dimension of x, w and y
/// consists of.
struct ConvolutionLoops {
  ShardingRule rule; // the loops only
  ShardingRule::ValueLoops x, w, y;

  /// Each op sums over one of the loops over batch, output channels and input
  /// channels. The arguments are the kinds of these three loops.
  ConvolutionLoops(const Convolution &convolution, LoopKind batch, LoopKind outputChannels,
                   LoopKind inputChannels) {
    int64_t groups = convolution.groups;
    ArrayRef<int64_t> xs = convolution.x.getShape(), ws = convolution.w.getShape(),
                      ys = convolution.y.getShape();
    // If there are several groups, axes may cut the loop over groups, but not
    // the loops over the channels of a group.
    if (groups > 1)
      outputChannels = inputChannels = LoopKind::whole;
    unsigned n = rule.addLoop(xs[0], batch);
    unsigned o = rule.addLoop(ws[0] / groups, outputChannels);
    unsigned i = rule.addLoop(ws[1], inputChannels);
    ShardingRule::DimLoops xChannels = ShardingRule::dim(i), channels = ShardingRule::dim(o);
    if (groups > 1) {
      unsigned g = rule.addLoop(groups);
      xChannels = {{g, i}};
      channels = {{g, o}};
    }
    x = {ShardingRule::dim(n), xChannels};
    w = {channels, ShardingRule::dim(i)};
    y = {ShardingRule::dim(n), channels};
    for (auto [value, shape] : {std::pair(&x, xs), {&w, ws}, {&y, ys}}) {
      for (int64_t extent : shape.drop_front(2))
        value->push_back(ShardingRule::dim(rule.addLoop(extent, LoopKind::whole)));
      *value = convolution.inOrder(ArrayRef<ShardingRule::DimLoops>(*value));
    }
  }

  ShardingRule finish(const ShardingRule::ValueLoops &first, const ShardingRule::ValueLoops &second,
                      const ShardingRule::ValueLoops &result) {
    rule.operands = {first, second};
    rule.results = {result};
    rule.additiveSets = {{0}, {1}};
    return rule;
  }
};
} // namespace

ShardingRule ConvOp::getShardingRule() {
  ConvolutionLoops loops(getConvolution(), LoopKind::parallel, LoopKind::parallel, LoopKind::sum);
  return loops.finish(loops.x, loops.w, loops.y);
}

ShardingRule ConvInputGradOp::getShardingRule() {
  ConvolutionLoops loops(getConvolution(), LoopKind::parallel, LoopKind::sum, LoopKind::parallel);
  return loops.finish(loops.y, loops.w, loops.x);
}

ShardingRule ConvWeightGradOp::getShardingRule() {
  ConvolutionLoops loops(getConvolution(), LoopKind::sum, LoopKind::parallel, LoopKind::parallel);
  return loops.finish(loops.x, loops.y, loops.w);
}

//===----------------------------------------------------------------------===//
// Interpreter rules
//===----------------------------------------------------------------------===//

namespace {
/// The elements of one batch element and channel of a tensor, over all spatial dimensions.
template <typename T> struct Plane {
  T *first;
  int64_t step;
  T &operator[](int64_t place) const { return first[place * step]; }
};
} // namespace

/// Returns the plane of batch element `n` and channel `c` of the tensor at `data`, which has the
/// type `type`.
template <typename T>
static Plane<T> planeOf(const Convolution &convolution, RankedTensorType type, T *data, int64_t n,
                        int64_t c) {
  const int64_t channels = type.getDimSize(1);
  int64_t places = 1;
  for (int64_t extent : type.getShape().drop_front(2))
    places *= extent;
  return convolution.channelsLast ? Plane<T>{data + n * places * channels + c, channels}
                                  : Plane<T>{data + (n * channels + c) * places, 1};
}

/// Calls `visit(x, w, y)` with three planes that are combined: once for each batch element, each
/// output channel, and each input channel in the group of this output channel.
template <typename X, typename W, typename Y, typename Visit>
static void forEachPlane(const Convolution &convolution, X *x, W *w, Y *y, Visit visit) {
  int64_t inputs = convolution.w.getDimSize(1), outputs = convolution.w.getDimSize(0),
          perGroup = outputs / convolution.groups;
  for (int64_t n = 0; n < convolution.x.getDimSize(0); ++n)
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t i = 0; i < inputs; ++i)
        visit(planeOf(convolution, convolution.x, x, n, o / perGroup * inputs + i),
              planeOf(convolution, convolution.w, w, o, i),
              planeOf(convolution, convolution.y, y, n, o));
}

/// Calls `step(x, w, y)` for every product x * w that the convolution adds to y.
/// The arguments are references to the elements.
template <typename X, typename W, typename Y, typename Step>
static void forEachProduct(const Convolution &convolution, X *x, W *w, Y *y, Step step) {
  std::vector<Window::Run> runs = convolution.window.getRuns(
      convolution.x.getShape().drop_front(2), convolution.y.getShape().drop_front(2));
  int64_t stride = convolution.window.strides.back();
  forEachPlane(convolution, x, w, y, [&](Plane<X> xs, Plane<W> ws, Plane<Y> ys) {
    for (const Window::Run &run : runs)
      for (int64_t i = 0; i < run.length; ++i)
        step(xs[run.input + i * stride], ws[run.tap], ys[run.output + i]);
  });
}

/// Calls `run` with a pointer to the member of HostTensor that holds the elements
/// of `tensor`.
template <typename Run> static LogicalResult withElements(const HostTensor &tensor, Run run) {
  if (tensor.isFloat())
    run(&HostTensor::floats);
  else
    run(&HostTensor::ints);
  return success();
}

LogicalResult ConvOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                MutableArrayRef<HostTensor> out) {
  return withElements(out[0], [&](auto member) {
    forEachProduct(getConvolution(), (in[0]->*member).data(), (in[1]->*member).data(),
                   (out[0].*member).data(), [](auto &x, auto &w, auto &y) { y += x * w; });
  });
}

LogicalResult ConvInputGradOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                         MutableArrayRef<HostTensor> out) {
  return withElements(out[0], [&](auto member) {
    forEachProduct(getConvolution(), (out[0].*member).data(), (in[1]->*member).data(),
                   (in[0]->*member).data(), [](auto &x, auto &w, auto &y) { x += y * w; });
  });
}

LogicalResult ConvWeightGradOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                          MutableArrayRef<HostTensor> out) {
  return withElements(out[0], [&](auto member) {
    forEachProduct(getConvolution(), (in[0]->*member).data(), (out[0].*member).data(),
                   (in[1]->*member).data(), [](auto &x, auto &w, auto &y) { w += x * y; });
  });
}

//===----------------------------------------------------------------------===//
// Vector-Jacobian products
//===----------------------------------------------------------------------===//

namespace {
/// Builds any of the three ops with the geometry of `op`.
template <typename Op> struct Siblings {
  Expressions e;
  Op op;

  /// If the result is wider than the operands, rounds its gradient to their type.
  /// The gradient can then be an operand of the other two ops.
  Value asFactor(Value grad) { return e.convert(grad, typeOf(op->getOperand(0)).getElementType()); }

  Value conv(Value x, Value w) { return make<ConvOp>(x, w); }
  Value inputGrad(Value like, Value g, Value w) {
    return make<ConvInputGradOp>(like.getType(), g, w);
  }
  Value weightGrad(Value like, Value x, Value g) {
    return make<ConvWeightGradOp>(like.getType(), x, g);
  }

private:
  template <typename Made, typename... Args> Value make(Args... args) {
    return e.template make<Made>(args..., op.getStrides(), op.getPadLow(), op.getPadHigh(),
                                 op.getDilations(), op.getGroups(), op.getChannelsLast());
  }
};
} // namespace

LogicalResult ConvOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  Siblings<ConvOp> make{{builder, getLoc()}, *this};
  Value x = getInput(), w = getKernel(), g = make.asFactor(resultGrads[0]);
  if (wanted[0])
    grads[0] = make.inputGrad(x, g, w);
  if (wanted[1])
    grads[1] = make.weightGrad(w, x, g);
  return success();
}

// The result has the shape of x, and is linear in y and w. Therefore the gradients
// of y and w are computed as if the gradient g of the result were x.
LogicalResult ConvInputGradOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                        ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  Siblings<ConvInputGradOp> make{{builder, getLoc()}, *this};
  Value y = getGrad(), w = getKernel(), g = make.asFactor(resultGrads[0]);
  if (wanted[0])
    grads[0] = make.conv(g, w);
  if (wanted[1])
    grads[1] = make.weightGrad(w, g, y);
  return success();
}

// The result has the shape of w, and is linear in x and y. Therefore the gradients
// of x and y are computed as if the gradient g of the result were w.
LogicalResult ConvWeightGradOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  Siblings<ConvWeightGradOp> make{{builder, getLoc()}, *this};
  Value x = getInput(), y = getGrad(), g = make.asFactor(resultGrads[0]);
  if (wanted[0])
    grads[0] = make.inputGrad(x, y, g);
  if (wanted[1])
    grads[1] = make.conv(x, g);
  return success();
}
