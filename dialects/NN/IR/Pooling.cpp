// The types, costs, sharding rules, interpreter rules and gradients of max pooling
// and sum pooling.

#include "dialects/NN/IR/Pooling.h"

#include "dialects/NN/IR/Expressions.h"
#include "planning/KernelClass.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Pooling.cpp.inc"

void NNDialect::registerPoolingOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Pooling.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The type of the result of pooling `x`. If `x` and the window violate a
/// constraint, fails with an error message that begins with the text of
/// `emitError()`.
static FailureOr<RankedTensorType> inferPooled(RankedTensorType x, const Window &window,
                                               function_ref<InFlightDiagnostic()> emitError) {
  if (x.getRank() < 3 || x.getRank() > 5) // pool_c1
    return emitError() << "pools " << x << ", whose rank is not 3 to 5";
  FailureOr<SmallVector<int64_t>> extents = window.getOutput(x.getShape().drop_front(2), emitError);
  if (failed(extents))
    return failure();
  SmallVector<int64_t> shape(x.getShape().take_front(2));
  llvm::append_range(shape, *extents);
  return withShape(x, shape);
}

/// The type of the taps of a tensor of the type `pooled`: integers of as few bits as the numbers of
/// all taps of `window` need, and -1.
static RankedTensorType tapsOf(RankedTensorType pooled, const Window &window) {
  const unsigned bits = 1 + llvm::bit_width(uint64_t(window.getTaps() - 1));
  const unsigned width = std::max<unsigned>(8, llvm::bit_ceil(bits));
  return RankedTensorType::get(pooled.getShape(), IntegerType::get(pooled.getContext(), width));
}

template <typename Op, typename Adaptor>
static LogicalResult inferResult(Adaptor adaptor, std::optional<Location> loc,
                                 SmallVectorImpl<Type> &types) {
  Window window{adaptor.getKernel(), adaptor.getStrides(), adaptor.getPadLow(),
                adaptor.getPadHigh(), adaptor.getDilations()};
  FailureOr<RankedTensorType> pooled = inferPooled(typeOf(adaptor.getInput()), window, [&] {
    return mlir::emitError(loc.value_or(UnknownLoc()), "'") << Op::getOperationName() << "' op ";
  });
  if (failed(pooled))
    return failure();
  types.push_back(std::is_same_v<Op, MaxPoolTapsOp> ? tapsOf(*pooled, window) : *pooled);
  return success();
}

#define INFER_POOLED(OP)                                                                           \
  LogicalResult OP::inferReturnTypes(                                                              \
      MLIRContext *, std::optional<Location> loc, ValueRange operands, DictionaryAttr attributes,  \
      OpaqueProperties properties, RegionRange regions, SmallVectorImpl<Type> &types) {            \
    return inferResult<OP>(Adaptor(operands, attributes, properties, regions), loc, types);        \
  }
INFER_POOLED(MaxPoolOp)
INFER_POOLED(MaxPoolTapsOp)
INFER_POOLED(SumPoolOp)
#undef INFER_POOLED

/// Verifies nn.max_pool_grad or nn.sum_pool_grad, which compute the gradient of x
/// from the gradient of the pooled tensor.
template <typename Op> static LogicalResult verifyGradient(Op op) {
  RankedTensorType x = typeOf(op.getResult()), y = typeOf(op.getGrad());
  FailureOr<RankedTensorType> pooled =
      inferPooled(x, op.getWindow(), [&] { return op.emitOpError(); });
  if (failed(pooled))
    return failure();
  if (*pooled != y) // pool_c5
    return op.emitOpError("has a gradient of type ")
           << y << ", but pooling " << x << " gives " << *pooled;
  return success();
}

LogicalResult MaxPoolGradOp::verify() {
  if (failed(verifyGradient(*this)))
    return failure();
  const RankedTensorType taps = typeOf(getTaps()), wanted = tapsOf(typeOf(getGrad()), getWindow());
  if (taps != wanted) // pool_c6
    return emitOpError("has taps of type ")
           << taps << ", but its window and gradient need " << wanted;
  return success();
}
LogicalResult SumPoolGradOp::verify() { return verifyGradient(*this); }

//===----------------------------------------------------------------------===//
// Cost and sharding
//===----------------------------------------------------------------------===//

/// The number of operations of a pooling: one per element of every window.
static int64_t poolingFlops(Value pooled, const Window &window) {
  return typeOf(pooled).getNumElements() * window.getTaps();
}

KernelClass MaxPoolOp::getKernelClass() { return KernelClass::reduction; }
int64_t MaxPoolOp::getFlops() { return poolingFlops(getResult(), getWindow()); }
KernelClass MaxPoolTapsOp::getKernelClass() { return KernelClass::reduction; }
int64_t MaxPoolTapsOp::getFlops() { return poolingFlops(getResult(), getWindow()); }
KernelClass MaxPoolGradOp::getKernelClass() { return KernelClass::reduction; }
int64_t MaxPoolGradOp::getFlops() { return poolingFlops(getGrad(), getWindow()); }
KernelClass SumPoolOp::getKernelClass() { return KernelClass::reduction; }
int64_t SumPoolOp::getFlops() { return poolingFlops(getResult(), getWindow()); }
KernelClass SumPoolGradOp::getKernelClass() { return KernelClass::reduction; }
int64_t SumPoolGradOp::getFlops() { return poolingFlops(getGrad(), getWindow()); }

namespace {
/// The loops of pooling. Loops over batch and channels are parallel. No axis may
/// cut loops over spatial dimensions.
struct PoolingLoops {
  ShardingRule rule; // the loops only
  ShardingRule::ValueLoops x, y;

  PoolingLoops(Value unpooled, Value pooled) {
    ArrayRef<int64_t> xs = typeOf(unpooled).getShape(), ys = typeOf(pooled).getShape();
    for (int64_t extent : xs.take_front(2))
      x.push_back(ShardingRule::dim(rule.addLoop(extent)));
    y = x;
    for (auto [value, shape] : {std::pair(&x, xs), {&y, ys}})
      for (int64_t extent : shape.drop_front(2))
        value->push_back(ShardingRule::dim(rule.addLoop(extent, LoopKind::whole)));
  }
};
} // namespace

/// The rule of nn.max_pool and nn.max_pool_taps.
static ShardingRule maximumRule(Value input, Value result) {
  PoolingLoops loops(input, result);
  loops.rule.operands = {loops.x};
  loops.rule.results = {loops.y};
  return loops.rule;
}

ShardingRule MaxPoolOp::getShardingRule() { return maximumRule(getInput(), getResult()); }
ShardingRule MaxPoolTapsOp::getShardingRule() { return maximumRule(getInput(), getResult()); }

ShardingRule MaxPoolGradOp::getShardingRule() {
  PoolingLoops loops(getResult(), getGrad());
  loops.rule.operands = {loops.y, loops.y};
  loops.rule.results = {loops.x};
  loops.rule.additiveSets = {{1}};
  return loops.rule;
}

ShardingRule SumPoolOp::getShardingRule() {
  PoolingLoops loops(getInput(), getResult());
  loops.rule.operands = {loops.x};
  loops.rule.results = {loops.y};
  loops.rule.additiveSets = {{0}};
  return loops.rule;
}

ShardingRule SumPoolGradOp::getShardingRule() {
  PoolingLoops loops(getResult(), getGrad());
  loops.rule.operands = {loops.y};
  loops.rule.results = {loops.x};
  loops.rule.additiveSets = {{0}};
  return loops.rule;
}

//===----------------------------------------------------------------------===//
// Interpreter rules
//===----------------------------------------------------------------------===//

namespace {
/// A plane has the elements of one batch element and channel. This object has the
/// combinations of a window and an element in one plane, and the number of planes.
struct Planes {
  int64_t count, xSize, ySize, stride;
  std::vector<Window::Run> runs;

  Planes(RankedTensorType x, RankedTensorType y, const Window &window)
      : count(x.getDimSize(0) * x.getDimSize(1)), xSize(1), ySize(1), stride(window.strides.back()),
        runs(window.getRuns(x.getShape().drop_front(2), y.getShape().drop_front(2))) {
    for (int64_t extent : x.getShape().drop_front(2))
      xSize *= extent;
    for (int64_t extent : y.getShape().drop_front(2))
      ySize *= extent;
  }

  /// Calls `visit(x, y, tap)` for each element and each window that contains it, plane
  /// by plane. `x` is the offset of the element in x, `y` is the offset of the window in
  /// y, and `tap` is the number of the element in the window. The elements of one window
  /// come in row-major order.
  template <typename Visit> void forEach(Visit visit) const {
    for (int64_t plane = 0; plane < count; ++plane)
      for (const Window::Run &run : runs)
        for (int64_t i = 0; i < run.length; ++i)
          visit(plane * xSize + run.input + i * stride, plane * ySize + run.output + i, run.tap);
  }
};

/// The largest element of a window: its offset in x and its tap. Both are -1 for a window that
/// has only padding.
struct Largest {
  int64_t at = -1, tap = -1;
};
} // namespace

/// For each window, its largest element, or the first if there are several. The first NaN of a
/// window counts as its largest element.
static std::vector<Largest> findLargest(const HostTensor &x, const Planes &planes) {
  std::vector<Largest> largest(planes.count * planes.ySize);
  auto intType = dyn_cast<IntegerType>(x.getType().getElementType());
  auto beats = [&](int64_t now, int64_t best) {
    if (!intType) {
      double a = x.floats[now], b = x.floats[best];
      return !std::isnan(b) && (std::isnan(a) || a > b);
    }
    return intType.isUnsigned() ? uint64_t(x.ints[now]) > uint64_t(x.ints[best])
                                : x.ints[now] > x.ints[best];
  };
  planes.forEach([&](int64_t from, int64_t to, int64_t tap) {
    if (largest[to].at < 0 || beats(from, largest[to].at))
      largest[to] = {from, tap};
  });
  return largest;
}

/// The least value of an integer type as HostTensor represents it.
static int64_t leastInt(IntegerType type) {
  if (type.isUnsigned() || type.getWidth() == 1)
    return 0;
  return APInt::getSignedMinValue(type.getWidth()).getSExtValue();
}

LogicalResult MaxPoolOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                   MutableArrayRef<HostTensor> out) {
  Planes planes(in[0]->getType(), out[0].getType(), getWindow());
  auto intType = dyn_cast<IntegerType>(out[0].getType().getElementType());
  for (auto [to, largest] : llvm::enumerate(findLargest(*in[0], planes))) {
    const int64_t from = largest.at;
    if (intType)
      out[0].ints[to] = from < 0 ? leastInt(intType) : in[0]->ints[from];
    else
      out[0].floats[to] = from < 0 ? -std::numeric_limits<double>::infinity() : in[0]->floats[from];
  }
  return success();
}

LogicalResult MaxPoolTapsOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                       MutableArrayRef<HostTensor> out) {
  Planes planes(in[0]->getType(), out[0].getType(), getWindow());
  for (auto [to, largest] : llvm::enumerate(findLargest(*in[0], planes)))
    out[0].ints[to] = largest.tap;
  return success();
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

LogicalResult MaxPoolGradOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                       MutableArrayRef<HostTensor> out) {
  Planes planes(out[0].getType(), in[1]->getType(), getWindow());
  return withElements(out[0], [&](auto member) {
    planes.forEach([&](int64_t x, int64_t y, int64_t tap) {
      if (in[0]->ints[y] == tap)
        (out[0].*member)[x] += (in[1]->*member)[y];
    });
  });
}

LogicalResult SumPoolOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                   MutableArrayRef<HostTensor> out) {
  Planes planes(in[0]->getType(), out[0].getType(), getWindow());
  return withElements(out[0], [&](auto member) {
    planes.forEach(
        [&](int64_t x, int64_t y, int64_t) { (out[0].*member)[y] += (in[0]->*member)[x]; });
  });
}

LogicalResult SumPoolGradOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                       MutableArrayRef<HostTensor> out) {
  Planes planes(out[0].getType(), in[0]->getType(), getWindow());
  return withElements(out[0], [&](auto member) {
    planes.forEach(
        [&](int64_t x, int64_t y, int64_t) { (out[0].*member)[x] += (in[0]->*member)[y]; });
  });
}

//===----------------------------------------------------------------------===//
// Vector-Jacobian products
//===----------------------------------------------------------------------===//

LogicalResult MaxPoolOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads, ArrayRef<bool>,
                                  MutableArrayRef<Value> grads) {
  Expressions e{builder, getLoc()};
  auto taps = e.make<MaxPoolTapsOp>(getInput(), getKernel(), getStrides(), getPadLow(),
                                    getPadHigh(), getDilations());
  grads[0] = e.make<MaxPoolGradOp>(getInput().getType(), taps, resultGrads[0], getKernel(),
                                   getStrides(), getPadLow(), getPadHigh(), getDilations());
  return success();
}

LogicalResult SumPoolOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads, ArrayRef<bool>,
                                  MutableArrayRef<Value> grads) {
  Expressions e{builder, getLoc()};
  grads[0] = e.make<SumPoolGradOp>(getInput().getType(), resultGrads[0], getKernel(), getStrides(),
                                   getPadLow(), getPadHigh(), getDilations());
  return success();
}

LogicalResult SumPoolGradOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                      ArrayRef<bool>, MutableArrayRef<Value> grads) {
  Expressions e{builder, getLoc()};
  grads[0] = e.make<SumPoolOp>(resultGrads[0], getKernel(), getStrides(), getPadLow(), getPadHigh(),
                               getDilations());
  return success();
}
