// Imports ONNX random operators.
//
// A program draws random values only in training. Exporters write three operations as a comparison
// of a uniform random number with a probability: bernoulli, the mask of stochastic depth (one
// number per sample), and the mask of a decomposed dropout. If the probability is one known number,
// the result of such a comparison becomes the mask of an nn.dropout, which is all ones in
// evaluation.

#include "frontends/onnx/Ops/Random.h"

#include "frontends/onnx/Import/Registry.h"

#include "OnnxSchema.pb.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// A dropout of a tensor of ones with shape `shape`. Its mask is true with probability
/// `p`.
nn::DropoutOp draw(Conversion &c, ArrayRef<int64_t> shape, double p) {
  auto type = RankedTensorType::get(shape, c.builder.getF32Type());
  auto maskType = RankedTensorType::get(shape, c.builder.getI1Type());
  Value ones = c.e.splat(type, 1);
  return c.e.make<nn::DropoutOp>(TypeRange{type, maskType}, ones, llvm::APFloat(1 - p),
                                 c.randomStream());
}

/// The element type of attribute 'dtype', or `otherwise` if it is absent; null
/// after an error.
Type drawnType(Conversion &c, Type otherwise) {
  if (!c.hasAttr("dtype"))
    return otherwise;
  auto type = elementTypeOf(static_cast<int32_t>(c.intAttr("dtype", 1)), "attribute 'dtype'");
  if (type)
    return c.elementType(*type);
  (void)c.error(llvm::toString(type.takeError()));
  return {};
}

bool isComparison(const Node &node) {
  return node.is("Less") || node.is("LessOrEqual") || node.is("Greater") ||
         node.is("GreaterOrEqual");
}

/// Whether `uniform` draws from [0, 1), a comparison is its only use, and the converter of the
/// comparison draws the number in its place (comparedMask). That converter draws one operand: the
/// first one, if both operands could be drawn.
bool drawsMask(const Graph &graph, const Node &uniform) {
  std::optional<Use> use = soleReader(graph, uniform.output(0));
  if (!use || !isComparison(graph.nodes[use->node]) || !drawsUnit(uniform))
    return false;
  const Node *first = graph.makerOf(graph.nodes[use->node].inputs[0]);
  return use->operand == 0 || !first || !drawsMask(graph, *first);
}

/// Sets the result to `shift` + `scale` * x, where `Op` draws x with shape `shape`.
template <typename Op>
LogicalResult drawn(Conversion &c, ArrayRef<int64_t> shape, Type otherwise, double shift,
                    double scale) {
  Type element = drawnType(c, otherwise);
  if (!element || c.failed)
    return failure();
  if (!isa<FloatType>(element))
    return c.error("numbers of an integer type cannot be drawn");
  Value x = c.e.make<Op>(
      RankedTensorType::get(shape, isa<Float64Type>(element) ? element : c.builder.getF32Type()),
      c.randomStream());
  if (scale != 1)
    x = c.e.mul(x, scale);
  if (shift != 0)
    x = c.e.add(x, shift);
  return c.done(c.e.convert(x, element));
}

LogicalResult drawnUniform(Conversion &c, ArrayRef<int64_t> shape, Type type) {
  double low = c.floatAttr("low"), high = c.floatAttr("high");
  return drawn<nn::DrawUniformOp>(c, shape, type, low, high - low);
}

LogicalResult drawnNormal(Conversion &c, ArrayRef<int64_t> shape, Type type) {
  return drawn<nn::DrawNormalOp>(c, shape, type, c.floatAttr("mean"), c.floatAttr("scale", 1));
}

LogicalResult convertRandomUniformLike(Conversion &c) {
  Value like = c.operand(0);
  // The converter of the comparison draws the mask, and reads only the type of these zeros.
  if (drawsMask(c.graph(), c.node))
    return c.done(c.e.splat(RankedTensorType::get(shapeOf(like), c.builder.getF32Type()), 0));
  return drawnUniform(c, shapeOf(like), nn::typeOf(like).getElementType());
}

LogicalResult convertRandomNormalLike(Conversion &c) {
  return drawnNormal(c, shapeOf(c.operand(0)), nn::typeOf(c.operand(0)).getElementType());
}

LogicalResult convertRandomUniform(Conversion &c) {
  if (drawsMask(c.graph(), c.node)) // the converter of the comparison draws the mask
    return c.done(c.e.splat(RankedTensorType::get(c.intsAttr("shape"), c.builder.getF32Type()), 0));
  return drawnUniform(c, c.intsAttr("shape"), c.builder.getF32Type());
}

LogicalResult convertRandomNormal(Conversion &c) {
  return drawnNormal(c, c.intsAttr("shape"), c.builder.getF32Type());
}

LogicalResult convertBernoulli(Conversion &c) {
  Value probability = c.operand(0);
  Type element = drawnType(c, nn::typeOf(probability).getElementType());
  if (!element || c.failed)
    return failure();
  // nn.draw_uniform draws only numbers of 32 or 64 bits.
  if (!nn::typeOf(probability).getElementType().isF64())
    probability = c.e.convert(probability, c.builder.getF32Type());
  auto p = c.tryDoubles(0);
  bool isOne = p && !p->empty() && llvm::all_equal(*p);
  if (isOne && !(p->front() >= 0 && p->front() <= 1))
    return c.error("the probability must lie in [0, 1]");
  Value mask =
      isOne ? Value(draw(c, shapeOf(probability), p->front()).getMask())
            : c.e.compare(nn::Comparison::lt,
                          c.e.make<nn::DrawUniformOp>(probability.getType(), c.randomStream()),
                          probability);
  return c.done(c.e.convert(mask, element));
}

} // namespace

std::optional<Use> dpc::onnx::soleReader(const Graph &graph, ValueId value) {
  if (llvm::any_of(graph.outputs, [&](const GraphOutput &output) { return output.value == value; }))
    return std::nullopt;
  std::optional<Use> found;
  for (const Use &use : graph.values[value].uses) {
    if (use.operand == 1 && graph.nodes[use.node].is("CastLike"))
      continue;
    if (found || use.operand < 0)
      return std::nullopt;
    found = use;
  }
  return found;
}

bool dpc::onnx::drawsUnit(const Node &node) {
  auto isDefault = [&](const char *name, float value) {
    auto found = node.attributes.find(name);
    return found == node.attributes.end() || found->second->f() == value;
  };
  return (node.is("RandomUniform") || node.is("RandomUniformLike")) && isDefault("low", 0) &&
         isDefault("high", 1);
}

Value dpc::onnx::comparedMask(Conversion &c, nn::Comparison comparison) {
  for (unsigned i : {0, 1}) {
    const Node *maker = c.graph().makerOf(c.node.inputs[i]);
    if (!maker || !drawsMask(c.graph(), *maker))
      continue;
    const auto p = c.tryDoubles(1 - i);
    if (!p || p->size() != 1) {
      Value drawn = c.e.make<nn::DrawUniformOp>(c.operand(i).getType(), c.randomStream());
      SmallVector<Value> both = c.broadcastTogether(i == 0 ? ArrayRef<Value>{drawn, c.operand(1)}
                                                           : ArrayRef<Value>{c.operand(0), drawn});
      return both.empty() ? Value() : c.e.compare(comparison, both[0], both[1]);
    }
    if (!(p->front() >= 0 && p->front() <= 1)) {
      (void)c.error("the probability must lie in [0, 1]");
      return {};
    }
    const bool isLess = comparison == nn::Comparison::lt || comparison == nn::Comparison::le;
    return drawMask(c, shapeOf(c.operand(i)), isLess == (i == 0) ? p->front() : 1 - p->front());
  }
  return {};
}

Value dpc::onnx::drawMask(Conversion &c, ArrayRef<int64_t> shape, double p) {
  return draw(c, shape, p).getMask();
}

void dpc::onnx::registerRandomOps(Registry &registry) {
  registry.add("RandomUniform", convertRandomUniform);
  registry.add("RandomUniformLike", convertRandomUniformLike);
  registry.add("RandomNormal", convertRandomNormal);
  registry.add("RandomNormalLike", convertRandomNormalLike);
  registry.add("Bernoulli", convertBernoulli);
}
