#include "dialects/NN/IR/Random.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Philox.h"

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
  if (typeOf(getIndex()).getShape() !=
      typeOf(getResult()).getShape()) // random_uniform_c2
    return emitOpError("gives ")
           << getResult().getType() << " for " << getIndex().getType();
  return success();
}

// Ten rounds of four multiplications and as many exclusive ors.
int64_t RandomUniformOp::getFlops() {
  return 80 * typeOf(getResult()).getNumElements();
}

ShardingRule RandomUniformOp::getShardingRule() {
  ShardingRule rule = elementwiseShardingRule(*this);
  rule.operands[0].clear();
  rule.operands[1].clear();
  return rule;
}

LogicalResult RandomUniformOp::interpret(InterpreterContext &,
                                         ArrayRef<const HostTensor *> in,
                                         MutableArrayRef<HostTensor> out) {
  for (int64_t i = 0, e = out[0].size(); i < e; ++i)
    out[0].floats[i] = randomUniform(in[0]->ints[0], in[1]->ints[0],
                                     getOrdinal(), in[2]->ints[i]);
  return success();
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

int64_t DropoutOp::getFlops() {
  return 80 * typeOf(getResult()).getNumElements();
}

SmallVector<Value> DropoutOp::buildTraining(OpBuilder &builder,
                                            const TrainingContext &context) {
  Expressions e{builder, getLoc()};
  Value x = getInput();
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  auto indexType = RankedTensorType::get(shape, builder.getI64Type());
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  Value index;
  for (int64_t d = 0; d < typeOf(x).getRank(); ++d) {
    Value part = e.make<IotaOp>(indexType, d);
    if (strides[d] != 1)
      part = e.mul(part, double(strides[d]));
    index = index ? e.add(index, part) : part;
  }
  if (!index)
    index = e.splat(indexType, 0);
  double ratio = getRatio().convertToDouble();
  // In f32 whatever the type of x is: 24 bits are exact, and the mask is the
  // same in every precision.
  Value uniform = e.make<RandomUniformOp>(
      RankedTensorType::get(shape, builder.getF32Type()), context.seed,
      context.step, index, getOrdinal());
  Value mask = e.compare(Comparison::ge, uniform, ratio);
  // With ratio 1 nothing is kept; a factor of 0 keeps infinity out.
  double factor = ratio < 1 ? 1 / (1 - ratio) : 0;
  return {e.select(mask, e.mul(x, factor), e.splatLike(x, 0)), mask};
}

SmallVector<Value> DropoutOp::buildInference(OpBuilder &builder) {
  Expressions e{builder, getLoc()};
  return {getInput(), e.splatLike(getMask(), 1)};
}
