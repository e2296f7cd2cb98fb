// The types, costs, sharding rules, interpreter rules and gradients of nn.reduce,
// nn.arg_reduce and nn.cumsum.

#include "dialects/NN/IR/Reduction.h"

#include "dialects/NN/IR/Expressions.h"
#include "planning/KernelClass.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Reduction.cpp.inc"

void NNDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Reduction.cpp.inc"
      >();
}

/// The strides that map an index of the operand to an offset in the result. The
/// result does not have the dimensions `dropped`, so their strides are 0.
static SmallVector<int64_t> stepsWithout(ArrayRef<int64_t> operandShape,
                                         ArrayRef<int64_t> resultShape, ArrayRef<int64_t> dropped) {
  SmallVector<int64_t> strides = rowMajorStrides(resultShape), steps(operandShape.size(), 0);
  size_t next = 0;
  for (size_t d = 0; d < operandShape.size(); ++d)
    if (!llvm::is_contained(dropped, static_cast<int64_t>(d)))
      steps[d] = strides[next++];
  return steps;
}

//===----------------------------------------------------------------------===//
// nn.reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                         ValueRange operands, DictionaryAttr attributes,
                                         OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType type = typeOf(adaptor.getInput());
  ArrayRef<int64_t> dimensions = adaptor.getDimensions();
  int64_t previous = -1;
  for (int64_t d : dimensions) {
    if (d <= previous || d >= type.getRank()) // reduce_c1
      return mlir::emitError(loc.value_or(UnknownLoc()))
             << "'nn.reduce' op has dimension " << d << ", which is not increasing and inside rank "
             << type.getRank();
    previous = d;
  }
  ReduceKind kind = adaptor.getKind();
  if (adaptor.getFirst() && kind != ReduceKind::max && kind != ReduceKind::min) // reduce_c2
    return mlir::emitError(loc.value_or(UnknownLoc()))
           << "'nn.reduce' op is " << stringifyReduceKind(kind)
           << " with first, which is for max and min";
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(dimensions, d))
      shape.push_back(type.getDimSize(d));
  types.push_back(withShape(type, shape));
  return success();
}

KernelClass ReduceOp::getKernelClass() { return KernelClass::reduction; }
int64_t ReduceOp::getFlops() { return typeOf(getInput()).getNumElements(); }

FusionKind ReduceOp::getFusionKind() { return FusionKind::reduction; }

ArrayRef<int64_t> ReduceOp::getReducedDims() { return getDimensions(); }

/// The kind of a loop over the elements that a reduction combines. Devices that each have a part of
/// the elements can combine their results by sum, max and min, but not by a product.
static LoopKind loopKindOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
    return LoopKind::sum;
  case ReduceKind::max:
    return LoopKind::max;
  case ReduceKind::min:
    return LoopKind::min;
  case ReduceKind::prod:
    return LoopKind::whole;
  }
  llvm_unreachable("unknown reduction");
}

ShardingRule ReduceOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.emplace_back();
  rule.results.emplace_back();
  for (auto [d, extent] : llvm::enumerate(typeOf(getInput()).getShape())) {
    bool reduced = llvm::is_contained(getDimensions(), int64_t(d));
    unsigned loop = rule.addLoop(extent, reduced ? loopKindOf(getKind()) : LoopKind::parallel);
    rule.operands[0].push_back(ShardingRule::dim(loop));
    if (!reduced)
      rule.results[0].push_back(ShardingRule::dim(loop));
  }
  if (getKind() == ReduceKind::sum)
    rule.additiveSets = {{0}};
  return rule;
}

static double combine(ReduceKind kind, double x, double y) {
  switch (kind) {
  case ReduceKind::sum:
    return x + y;
  case ReduceKind::prod:
    return x * y;
  case ReduceKind::max:
    return std::isnan(x) || x > y ? x : y;
  case ReduceKind::min:
    return std::isnan(x) || x < y ? x : y;
  }
  return x;
}

static int64_t combine(ReduceKind kind, int64_t x, int64_t y, bool isUnsigned) {
  bool less = isUnsigned ? uint64_t(x) < uint64_t(y) : x < y;
  switch (kind) {
  case ReduceKind::sum:
    return uint64_t(x) + uint64_t(y);
  case ReduceKind::prod:
    return uint64_t(x) * uint64_t(y);
  case ReduceKind::max:
    return less ? y : x;
  case ReduceKind::min:
    return less ? x : y;
  }
  return x;
}

/// The neutral element of max or min: the least or the largest integer of `type`.
static int64_t extremeInt(ReduceKind kind, IntegerType type) {
  unsigned width = type.getWidth();
  bool isUnsigned = type.isUnsigned() || width == 1;
  APInt value = kind == ReduceKind::max
                    ? (isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width))
                    : (isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
  return isUnsigned ? value.getZExtValue() : value.getSExtValue();
}

LogicalResult ReduceOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                  MutableArrayRef<HostTensor> out) {
  ReduceKind kind = getKind();
  SmallVector<int64_t> steps = stepsWithout(in[0]->getShape(), out[0].getShape(), getDimensions());
  int64_t from = 0;
  if (out[0].isFloat()) {
    const double infinity = std::numeric_limits<double>::infinity();
    const double identities[] = {0, -infinity, infinity, 1};
    std::fill(out[0].floats.begin(), out[0].floats.end(), identities[unsigned(kind)]);
    forEachIndex(in[0]->getShape(), [&](ArrayRef<int64_t> index) {
      double &slot = out[0].floats[linearize(index, steps)];
      slot = combine(kind, slot, in[0]->floats[from++]);
    });
    return success();
  }
  auto type = cast<IntegerType>(out[0].getType().getElementType());
  int64_t identity = kind == ReduceKind::sum    ? 0
                     : kind == ReduceKind::prod ? 1
                                                : extremeInt(kind, type);
  std::fill(out[0].ints.begin(), out[0].ints.end(), identity);
  bool isUnsigned = type.isUnsigned() || type.getWidth() == 1;
  forEachIndex(in[0]->getShape(), [&](ArrayRef<int64_t> index) {
    int64_t &slot = out[0].ints[linearize(index, steps)];
    slot = combine(kind, slot, in[0]->ints[from++], isUnsigned);
  });
  return success();
}

/// A mask that is true only at the first true element of `hit` along `dimensions`,
/// in row-major order of these dimensions. It is all false if no element is true.
/// Elements are numbered as in the logical tensor, and a reduction finds the
/// smallest number of a true element. Therefore devices with shards of one
/// dimension agree on the first element.
static Value isFirst(Expressions e, Value hit, ArrayRef<int64_t> dimensions) {
  ArrayRef<int64_t> shape = typeOf(hit).getShape();
  int64_t count = 1;
  for (int64_t d : dimensions)
    count *= shape[d];
  Type index =
      count > std::numeric_limits<int32_t>::max() ? e.builder.getI64Type() : e.builder.getI32Type();
  auto type = RankedTensorType::get(shape, index);
  Value position;
  int64_t step = 1;
  for (int64_t d : llvm::reverse(dimensions)) {
    Value part = e.make<IotaOp>(type, d);
    if (step != 1)
      part = e.mul(part, double(step));
    position = position ? e.add(position, part) : part;
    step *= shape[d];
  }
  Value candidate = e.select(hit, position, e.splatLike(position, double(count)));
  Value first = e.reduce(ReduceKind::min, candidate, dimensions);
  return e.compare(Comparison::eq, position, e.broadcastAlong(first, shape, dimensions));
}

LogicalResult ReduceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads, ArrayRef<bool>,
                                 MutableArrayRef<Value> grads) {
  Expressions e{builder, getLoc()};
  ArrayRef<int64_t> shape = typeOf(getInput()).getShape();
  auto spread = [&](Value x) { return e.broadcastAlong(x, shape, getDimensions()); };
  Value x = getInput(), g = resultGrads[0];
  switch (getKind()) {
  case ReduceKind::sum:
    grads[0] = spread(g);
    return success();
  case ReduceKind::max:
  case ReduceKind::min: {
    Value hit = e.compare(Comparison::eq, x, spread(getResult()));
    if (getFirst()) {
      grads[0] = e.select(isFirst(e, hit, getDimensions()), spread(g), e.splatLike(x, 0));
      return success();
    }
    Value one = e.convert(hit, typeOf(x).getElementType());
    Value count = e.sum(one, getDimensions());
    grads[0] = e.select(hit, spread(e.div(g, count)), e.splatLike(x, 0));
    return success();
  }
  case ReduceKind::prod: {
    // The gradient of a factor is g times the product of the other factors. This
    // product is computed without a division, because a factor may be zero. The
    // reduced dimensions become the columns of a matrix, and the other
    // dimensions become its rows.
    SmallVector<int64_t> order, inverse(shape.size());
    for (int64_t d = 0; d < int64_t(shape.size()); ++d)
      if (!llvm::is_contained(getDimensions(), d))
        order.push_back(d);
    int64_t kept = order.size(), rows = 1, columns = 1;
    llvm::append_range(order, getDimensions());
    SmallVector<int64_t> moved;
    for (auto [to, from] : llvm::enumerate(order)) {
      inverse[from] = to;
      moved.push_back(shape[from]);
      (int64_t(to) < kept ? rows : columns) *= shape[from];
    }
    Value flat = e.reshape(e.transpose(x, order), {rows, columns});
    Value g2 = e.reshape(g, {rows});
    Value others = e.splat(flat.getType(), 1);
    for (int64_t shift = 1; shift < columns; ++shift) {
      // Multiply column j by column (j + shift) mod columns.
      auto part = [&](int64_t from, int64_t to) -> Value {
        return e.make<SliceOp>(flat, ArrayRef<int64_t>{0, from}, ArrayRef<int64_t>{rows, to},
                               ArrayRef<int64_t>{1, 1});
      };
      Value rotated = e.make<ConcatOp>(ValueRange{part(shift, columns), part(0, shift)}, 1);
      others = e.mul(others, rotated);
    }
    Value flatGrad = e.mul(others, e.broadcast(g2, {rows, columns}, {0}));
    grads[0] = e.transpose(e.reshape(flatGrad, moved), inverse);
    return success();
  }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// nn.arg_reduce
//===----------------------------------------------------------------------===//

LogicalResult ArgReduceOp::verify() {
  RankedTensorType type = typeOf(getInput());
  int64_t dimension = getDimension();
  if (getKind() != ReduceKind::max && getKind() != ReduceKind::min) // arg_reduce_c1
    return emitOpError("has kind ")
           << stringifyReduceKind(getKind()) << ", which is not max or min";
  if (dimension < 0 || dimension >= type.getRank() ||
      type.getDimSize(dimension) == 0) // arg_reduce_c2
    return emitOpError("has dimension ") << dimension << ", which is empty or outside " << type;
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dimension);
  if (typeOf(getResult()).getShape() != ArrayRef(shape)) // arg_reduce_c3
    return emitOpError("gives ") << getResult().getType() << " for " << type;
  return success();
}

ShardingRule ArgReduceOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.emplace_back();
  rule.results.emplace_back();
  for (auto [d, extent] : llvm::enumerate(typeOf(getInput()).getShape())) {
    bool reduced = int64_t(d) == int64_t(getDimension());
    unsigned loop = rule.addLoop(extent, reduced ? LoopKind::whole : LoopKind::parallel);
    rule.operands[0].push_back(ShardingRule::dim(loop));
    if (!reduced)
      rule.results[0].push_back(ShardingRule::dim(loop));
  }
  return rule;
}

LogicalResult ArgReduceOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                     MutableArrayRef<HostTensor> out) {
  int64_t dimension = getDimension();
  SmallVector<int64_t> steps = stepsWithout(in[0]->getShape(), out[0].getShape(), {dimension});
  bool isMax = getKind() == ReduceKind::max;
  std::vector<int64_t> best(out[0].size(), -1);
  int64_t from = 0;
  auto beats = [&](auto x, auto y) {
    if (x == y)
      return getSelectLast();
    return isMax ? x > y : x < y;
  };
  forEachIndex(in[0]->getShape(), [&](ArrayRef<int64_t> index) {
    int64_t slot = linearize(index, steps);
    bool better = best[slot] < 0;
    if (!better && in[0]->isFloat()) {
      double old = in[0]->floats[best[slot]], now = in[0]->floats[from];
      // The first NaN wins over every number.
      better = !std::isnan(old) && (std::isnan(now) || beats(now, old));
    } else if (!better) {
      better = beats(in[0]->ints[from], in[0]->ints[best[slot]]);
    }
    if (better) {
      best[slot] = from;
      out[0].ints[slot] = index[dimension];
    }
    ++from;
  });
  return success();
}

//===----------------------------------------------------------------------===//
// nn.cumsum
//===----------------------------------------------------------------------===//

LogicalResult CumSumOp::verify() {
  int64_t rank = typeOf(getInput()).getRank(), dimension = getDimension();
  if (dimension < 0 || dimension >= rank) // cumsum_c1
    return emitOpError("has dimension ") << dimension << ", but rank " << rank;
  return success();
}

KernelClass CumSumOp::getKernelClass() { return KernelClass::reduction; }
int64_t CumSumOp::getFlops() { return typeOf(getInput()).getNumElements(); }

ShardingRule CumSumOp::getShardingRule() {
  ShardingRule rule = elementwiseShardingRule(*this);
  rule.loops[getDimension()].kind = LoopKind::whole;
  rule.additiveSets = {{0}};
  return rule;
}

LogicalResult CumSumOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                  MutableArrayRef<HostTensor> out) {
  ArrayRef<int64_t> shape = in[0]->getShape();
  int64_t dimension = getDimension(), extent = shape[dimension];
  int64_t stride = rowMajorStrides(shape)[dimension];
  auto run = [&](auto member) {
    const auto &source = in[0]->*member;
    auto &target = out[0].*member;
    for (int64_t base = 0, size = in[0]->size(); base < size; ++base) {
      if ((base / stride) % extent != 0)
        continue; // `base` is not the first element of a row
      typename std::decay_t<decltype(source)>::value_type sum = 0;
      for (int64_t i = 0; i < extent; ++i) {
        int64_t at = base + (getReverse() ? extent - 1 - i : i) * stride;
        if (getExclusive())
          target[at] = sum;
        sum += source[at];
        if (!getExclusive())
          target[at] = sum;
      }
    }
  };
  if (in[0]->isFloat())
    run(&HostTensor::floats);
  else
    run(&HostTensor::ints);
  return success();
}

LogicalResult CumSumOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads, ArrayRef<bool>,
                                 MutableArrayRef<Value> grads) {
  Expressions e{builder, getLoc()};
  grads[0] = e.make<CumSumOp>(resultGrads[0].getType(), resultGrads[0], getDimension(),
                              getExclusive(), !getReverse());
  return success();
}
