// Recognises dropout that a module writes out, such as stochastic depth:
// `x / p * floor(p + rand)`, `x * bernoulli(p) / p`, `x * (bernoulli(p) / p)`.

#include "frontends/onnx/Ops/ScaledMask.h"

#include "frontends/onnx/Ops/Random.h"

#include "OnnxSchema.pb.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// The number that all elements of `value` are.
std::optional<double> splatOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<nn::ConstantOp>(op)) {
      auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue());
      if (!elements || !elements.isSplat())
        return std::nullopt;
      APFloat number = elements.getSplatValue<APFloat>();
      return number.convertToDouble();
    }
    if (!isa<nn::BroadcastOp, nn::ReshapeOp>(op))
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

/// Probabilities of f32 and of f64 are the same to this.
bool isNear(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

/// The drawn mask that `value` is, as numbers, repeated along some dimensions.
struct DrawnMask {
  nn::DropoutOp draw; ///< null: it is none
  /// Shape ops between the numbers and the value, the last one first.
  SmallVector<Operation *, 2> shaping;
  Type element;

  explicit DrawnMask(Value value) : element(nn::typeOf(value).getElementType()) {
    while (Operation *op = value.getDefiningOp()) {
      if (isa<nn::BroadcastOp, nn::ReshapeOp>(op)) {
        shaping.push_back(op);
        value = op->getOperand(0);
        continue;
      }
      auto convert = dyn_cast<nn::ConvertOp>(op);
      if (!convert || !isa<FloatType>(element))
        return;
      auto dropout = convert.getInput().getDefiningOp<nn::DropoutOp>();
      if (dropout && convert.getInput() == dropout.getMask() &&
          dropout.getInput().getDefiningOp<nn::ConstantOp>())
        draw = dropout;
      return;
    }
  }

  double probability() { return 1 - draw.getRatio().convertToDouble(); }

  /// The same value, divided by the probability.
  Value scaled(Conversion &c) {
    Value value = c.e.convert(draw.getResult(), element);
    for (Operation *op : llvm::reverse(shaping)) {
      IRMapping mapping;
      mapping.map(op->getOperand(0), value);
      value = c.builder.clone(*op, mapping)->getResult(0);
    }
    return value;
  }
};

/// x * mask / p
Value product(Conversion &c, Value x, DrawnMask &mask) {
  SmallVector<Value> both = c.broadcastTogether({x, mask.scaled(c)});
  return both.empty() ? Value() : c.e.mul(both[0], both[1]);
}

/// The node that makes operand `i` of `node` for it alone; or nullptr.
const Node *ownMaker(const Graph &graph, const Node &node, unsigned i) {
  const GraphValue &value = graph.values[node.inputs[i]];
  return value.kind == GraphValue::Kind::Result && value.uses.size() == 1
             ? &graph.nodes[value.index]
             : nullptr;
}

} // namespace

/// value / divisor, where `value` is a mask of that probability, or a product with
/// one.
static Value divided(Conversion &c, Value value, double divisor) {
  DrawnMask mask(value);
  if (mask.draw)
    return isNear(divisor, mask.probability()) ? mask.scaled(c) : Value();
  auto times = value.getDefiningOp<nn::MulOp>();
  if (!times)
    return {};
  for (auto [factor, x] :
       {std::pair(times.getRhs(), times.getLhs()), std::pair(times.getLhs(), times.getRhs())}) {
    DrawnMask each(factor);
    if (each.draw && isNear(divisor, each.probability()))
      return product(c, x, each);
  }
  return {};
}

Value dpc::onnx::dividedMask(Conversion &c) {
  const std::optional<SmallVector<double>> divisor = c.tryDoubles(1);
  return divisor && divisor->size() == 1 ? divided(c, c.operand(0), divisor->front()) : Value();
}

Value dpc::onnx::multipliedMask(Conversion &c) {
  for (unsigned i : {0, 1}) {
    const std::optional<SmallVector<double>> factor = c.tryDoubles(1 - i);
    if (factor && factor->size() == 1 && factor->front() != 0)
      return divided(c, c.operand(i), 1 / factor->front());
  }
  for (unsigned i : {0, 1}) {
    DrawnMask mask(c.operand(i));
    if (!mask.draw)
      continue;
    Value other = c.operand(1 - i);
    if (auto over = other.getDefiningOp<nn::DivOp>())
      if (auto divisor = splatOf(over.getRhs()); divisor && isNear(*divisor, mask.probability()))
        return product(c, over.getLhs(), mask);
    if (auto times = other.getDefiningOp<nn::MulOp>())
      for (auto [factor, x] :
           {std::pair(times.getRhs(), times.getLhs()), std::pair(times.getLhs(), times.getRhs())})
        if (auto number = splatOf(factor); number && isNear(*number * mask.probability(), 1))
          return product(c, x, mask);
  }
  return {};
}

Value dpc::onnx::flooredMask(Conversion &c) {
  auto sum = c.operand(0).getDefiningOp<nn::AddOp>();
  const Node *add = sum ? ownMaker(c.graph(), c.node, 0) : nullptr;
  if (!add || !add->is("Add"))
    return {};
  for (unsigned i : {0, 1}) {
    const Node *uniform = ownMaker(c.graph(), *add, i);
    const std::optional<double> p = splatOf(sum->getOperand(1 - i));
    if (uniform && drawsUnit(*uniform) && p && *p >= 0 && *p <= 1)
      return c.e.convert(drawMask(c, nn::typeOf(sum->getOperand(i)).getShape(), *p),
                         nn::typeOf(sum).getElementType());
  }
  return {};
}
