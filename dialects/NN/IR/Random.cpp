// Verifiers, training forms and evaluation forms of random numbers (Philox),
// dropout and draws.

#include "dialects/NN/IR/Random.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Philox.h"
#include "planning/KernelClass.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Random.cpp.inc"

void NNDialect::registerRandomOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Random.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// nn.random_uniform
//===----------------------------------------------------------------------===//

LogicalResult RandomUniformOp::verify() {
  if (typeOf(getIndex()).getShape() != typeOf(getResult()).getShape()) // random_uniform_c2
    return emitOpError("gives ") << getResult().getType() << " for " << getIndex().getType();
  return success();
}

// Philox has ten rounds of four multiplications and four exclusive ors.
KernelClass RandomUniformOp::getKernelClass() { return KernelClass::random; }
int64_t RandomUniformOp::getFlops() { return 80 * typeOf(getResult()).getNumElements(); }

ShardingRule RandomUniformOp::getShardingRule() {
  ShardingRule rule = elementwiseShardingRule(*this);
  rule.operands[0].clear();
  rule.operands[1].clear();
  return rule;
}

LogicalResult RandomUniformOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                         MutableArrayRef<HostTensor> out) {
  for (int64_t i = 0, e = out[0].size(); i < e; ++i)
    out[0].floats[i] = randomUniform(in[0]->ints[0], in[1]->ints[0], getOrdinal(), in[2]->ints[i]);
  return success();
}

//===----------------------------------------------------------------------===//
// Draws of the training forms
//===----------------------------------------------------------------------===//

/// The row-major index of each element in the logical tensor.
static Value elementNumbers(Expressions &e, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, e.builder.getI64Type());
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  Value number;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    Value part = e.make<IotaOp>(type, d);
    if (strides[d] != 1)
      part = e.mul(part, double(strides[d]));
    number = number ? e.add(number, part) : part;
  }
  return number ? number : e.splat(type, 0);
}

/// A random number in [0, 1) for each element of `numbers`. The random numbers
/// are f32, which represents their 24 bits exactly. Therefore a program draws
/// the same numbers in every precision.
static Value draw(Expressions &e, const TrainingContext &context, uint64_t ordinal, Value numbers) {
  return e.make<RandomUniformOp>(
      RankedTensorType::get(typeOf(numbers).getShape(), e.builder.getF32Type()), context.seed,
      context.step, numbers, ordinal);
}

/// Emits a remark if the result of a draw has uses, because evaluation replaces
/// the result by the mean of the distribution.
static void noteMean(Operation *draw) {
  if (!draw->use_empty())
    draw->emitRemark("evaluation takes the mean of what is drawn here");
}

KernelClass DrawUniformOp::getKernelClass() { return KernelClass::random; }
int64_t DrawUniformOp::getFlops() { return 80 * typeOf(getResult()).getNumElements(); }

SmallVector<Value> DrawUniformOp::buildTraining(OpBuilder &builder,
                                                const TrainingContext &context) {
  Expressions e{builder, getLoc()};
  RankedTensorType type = typeOf(getResult());
  Value uniform = draw(e, context, getOrdinal(), elementNumbers(e, type.getShape()));
  return {e.convert(uniform, type.getElementType())};
}

SmallVector<Value> DrawUniformOp::buildInference(OpBuilder &builder) {
  noteMean(*this);
  return {Expressions{builder, getLoc()}.splat(getType(), 0.5)};
}

KernelClass DrawNormalOp::getKernelClass() { return KernelClass::random; }
int64_t DrawNormalOp::getFlops() { return 200 * typeOf(getResult()).getNumElements(); }

SmallVector<Value> DrawNormalOp::buildTraining(OpBuilder &builder, const TrainingContext &context) {
  Expressions e{builder, getLoc()};
  RankedTensorType type = typeOf(getResult());
  Value even = e.mul(elementNumbers(e, type.getShape()), 2.0);
  auto uniform = [&](Value numbers) {
    return e.convert(draw(e, context, getOrdinal(), numbers), type.getElementType());
  };
  // 1 - u is in (0, 1], so its logarithm is finite.
  Value distance = e.log(e.add(e.neg(uniform(even)), 1.0)),
        angle = e.mul(uniform(e.add(even, 1.0)), 2 * llvm::numbers::pi);
  return {e.mul(e.sqrt(e.mul(distance, -2.0)), e.make<CosOp>(angle))};
}

SmallVector<Value> DrawNormalOp::buildInference(OpBuilder &builder) {
  noteMean(*this);
  return {Expressions{builder, getLoc()}.splat(getType(), 0)};
}

//===----------------------------------------------------------------------===//
// nn.dropout
//===----------------------------------------------------------------------===//

LogicalResult DropoutOp::verify() {
  double ratio = getRatio().convertToDouble();
  if (!(ratio >= 0 && ratio <= 1)) // dropout_c1
    return emitOpError("has ratio ") << ratio << ", which is not in [0, 1]";
  return success();
}

KernelClass DropoutOp::getKernelClass() { return KernelClass::random; }
int64_t DropoutOp::getFlops() { return 80 * typeOf(getResult()).getNumElements(); }

SmallVector<Value> DropoutOp::buildTraining(OpBuilder &builder, const TrainingContext &context) {
  Expressions e{builder, getLoc()};
  Value x = getInput();
  double ratio = getRatio().convertToDouble();
  Value uniform = draw(e, context, getOrdinal(), elementNumbers(e, typeOf(x).getShape()));
  Value mask = e.compare(Comparison::ge, uniform, ratio);
  // With ratio 1 no element is kept, and 1 / (1 - ratio) would be infinite.
  double factor = ratio < 1 ? 1 / (1 - ratio) : 0;
  return {e.select(mask, e.mul(x, factor), e.splatLike(x, 0)), mask};
}

SmallVector<Value> DropoutOp::buildInference(OpBuilder &builder) {
  // If the operand is a constant and the mask is used, the dropout serves only
  // to draw the mask. The user should know that evaluation draws no mask.
  if (getInput().getDefiningOp<ConstantOp>() && !getMask().use_empty())
    emitRemark("evaluation takes all of what is drawn here as kept");
  Expressions e{builder, getLoc()};
  return {getInput(), e.splatLike(getMask(), 1)};
}
