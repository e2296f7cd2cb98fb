//===- Random.cpp - ONNX random operators ---------------------------------===//
//
// A random value is an op of the training form only: nn.dropout is the one that
// level `import` has, and its mask is a draw of any probability. So uniform
// numbers are supported where they are compared with one, which is how
// exporters write bernoulli, dropout of a mask (stochastic depth) and dropout
// that an exporter decomposed.

#include "frontends/onnx/Ops/Random.h"

#include "frontends/onnx/Registry.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// A draw of `shape` that holds with probability `p`.
nn::DropoutOp draw(Conversion &c, ArrayRef<int64_t> shape, double p) {
  auto type = RankedTensorType::get(shape, c.builder.getF32Type());
  auto maskType = RankedTensorType::get(shape, c.builder.getI1Type());
  Value ones = c.e.splat(type, 1);
  return c.e.make<nn::DropoutOp>(TypeRange{type, maskType}, ones,
                                 llvm::APFloat(1 - p), c.randomStream());
}

LogicalResult convertRandomUniformLike(Conversion &c) {
  if (c.floatAttr("low", 0) != 0 || c.floatAttr("high", 1) != 1)
    return c.error("bounds other than 0 and 1 are not supported");
  for (const Use &use : c.graph().values[c.node.output(0)].uses)
    if (!c.graph().nodes[use.node].is("Less") || use.operand != 0)
      return c.error("uniform numbers are supported only where they are "
                     "compared with a probability, but " +
                     describe(c.graph().nodes[use.node]) + " takes them");
  return c.done(c.e.splat(
      RankedTensorType::get(shapeOf(c.operand(0)), c.builder.getF32Type()), 0));
}

LogicalResult convertBernoulli(Conversion &c) {
  auto p = c.tryDoubles(0);
  if (!p || p->empty() ||
      !llvm::all_of(*p, [&](double each) { return each == p->front(); }))
    return c.error("probabilities must be equal and known at compile time");
  if (!(p->front() >= 0 && p->front() <= 1))
    return c.error("the probability must lie in [0, 1]");
  Type element = nn::typeOf(c.operand(0)).getElementType();
  if (c.hasAttr("dtype")) {
    auto type = elementTypeOf(static_cast<int32_t>(c.intAttr("dtype", 1)),
                              "attribute 'dtype'");
    if (!type)
      return c.error(llvm::toString(type.takeError()));
    element = convertElementType(c.builder.getContext(), *type);
  }
  return c.done(c.e.convert(
      draw(c, shapeOf(c.operand(0)), p->front()).getMask(), element));
}

} // namespace

const Node *dpc::onnx::uniformSource(Conversion &c, unsigned i) {
  const GraphValue &value = c.graph().values[c.node.inputs[i]];
  if (value.kind != GraphValue::Kind::Result ||
      !c.graph().nodes[value.index].is("RandomUniformLike"))
    return nullptr;
  return &c.graph().nodes[value.index];
}

LogicalResult dpc::onnx::convertUniformBelow(Conversion &c) {
  auto p = c.tryDoubles(1);
  if (!p || p->size() != 1)
    return c.error("the probability must be a scalar known at compile time");
  if (!(p->front() >= 0 && p->front() <= 1))
    return c.error("the probability must lie in [0, 1]");
  return c.done(draw(c, shapeOf(c.operand(0)), p->front()).getMask());
}

Value dpc::onnx::scaledMask(Conversion &c, Value mask,
                            std::optional<SmallVector<double>> divisor) {
  auto convert = mask.getDefiningOp<nn::ConvertOp>();
  auto dropout = convert ? convert.getInput().getDefiningOp<nn::DropoutOp>()
                         : nn::DropoutOp();
  if (!dropout || convert.getInput() != dropout.getMask() ||
      !dropout.getInput().getDefiningOp<nn::ConstantOp>() || !divisor ||
      divisor->size() != 1 ||
      divisor->front() != 1 - dropout.getRatio().convertToDouble())
    return {};
  return c.e.convert(dropout.getResult(), nn::typeOf(mask).getElementType());
}

void dpc::onnx::registerRandomOps(Registry &registry) {
  registry.add({"RandomUniformLike", convertRandomUniformLike});
  registry.add({"Bernoulli", convertBernoulli, 1, 1, 1, 15});
}
