// Recognises dropout that a PyTorch module computes with ordinary ops instead of the dropout op,
// such as stochastic depth:
// `x / p * floor(p + rand)`, `x * bernoulli(p) / p`, `x * (bernoulli(p) / p)`,
// `where(rand < q, 0, x) / (1 - q)`.

#include "frontends/onnx/Ops/ScaledMask.h"

#include "frontends/onnx/Ops/Random.h"

#include "OnnxSchema.pb.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// The number that all elements of `value` equal, if there is one.
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

/// Compares probabilities to the precision of f32, because the file may store each
/// of them in f32 or in f64.
bool isNear(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

/// The drawn mask that a value represents. The value may have booleans or numbers, and
/// may be a reshaped or broadcast mask.
struct DrawnMask {
  nn::DropoutOp draw; ///< null if `value` is no mask
  /// Shape ops between the mask and the value, the last one first.
  SmallVector<Operation *, 2> shaping;

  explicit DrawnMask(Value value) {
    const bool isNumber = isa<FloatType>(nn::typeOf(value).getElementType());
    while (Operation *op = value.getDefiningOp()) {
      if (isa<nn::BroadcastOp, nn::ReshapeOp>(op)) {
        shaping.push_back(op);
      } else if (!isNumber || !isa<nn::ConvertOp>(op)) {
        auto dropout = dyn_cast<nn::DropoutOp>(op);
        if (dropout && value == dropout.getMask() &&
            dropout.getInput().getDefiningOp<nn::ConstantOp>())
          draw = dropout;
        return;
      }
      value = op->getOperand(0);
    }
  }

  double probability() { return 1 - draw.getRatio().convertToDouble(); }

  /// The same mask as numbers of type `element`, divided by the probability.
  Value scaled(Conversion &c, Type element) {
    Value value = c.e.convert(draw.getResult(), element);
    for (Operation *op : llvm::reverse(shaping)) {
      ArrayRef<int64_t> shape = nn::typeOf(op->getResult(0)).getShape();
      auto repeated = dyn_cast<nn::BroadcastOp>(op);
      value = repeated ? c.e.broadcast(value, shape, repeated.getDimensions())
                       : c.e.reshape(value, shape);
    }
    return value;
  }
};

Type elementOf(Value value) { return nn::typeOf(value).getElementType(); }

/// x * mask / p, where `mask` is true with probability p. Null after an error.
Value product(Conversion &c, Value x, DrawnMask &mask) {
  SmallVector<Value> both = c.broadcastTogether({x, mask.scaled(c, elementOf(x))});
  return both.empty() ? Value() : c.e.mul(both[0], both[1]);
}

/// x if `value` is x / p or x * (1 / p), else null.
Value dividedBy(Value value, double p) {
  if (auto over = value.getDefiningOp<nn::DivOp>())
    if (auto divisor = splatOf(over.getRhs()); divisor && isNear(*divisor, p))
      return over.getLhs();
  if (auto times = value.getDefiningOp<nn::MulOp>())
    for (auto [factor, x] :
         {std::pair(times.getRhs(), times.getLhs()), std::pair(times.getLhs(), times.getRhs())})
      if (auto number = splatOf(factor); number && isNear(*number * p, 1))
        return x;
  return {};
}

/// The drawn mask of operand `i` if only this node reads it, so that another draw
/// may replace it.
nn::DropoutOp ownDraw(Conversion &c, unsigned i) {
  DrawnMask mask(c.operand(i));
  if (!mask.draw || !mask.shaping.empty())
    return {};
  ValueId value = c.node.inputs[i];
  while (soleReader(c.graph(), value)) {
    const Node *maker = c.graph().makerOf(value);
    if (!maker || (!maker->is("Cast") && !maker->is("CastLike")))
      return maker ? mask.draw : nn::DropoutOp();
    value = maker->input(0);
  }
  return {};
}

/// A new mask that has the distribution of the inverted mask of `draw`. It may replace
/// the inverted mask, because only the distribution of a mask matters.
Value flipped(Conversion &c, nn::DropoutOp draw) {
  return drawMask(c, shapeOf(draw.getMask()), draw.getRatio().convertToDouble());
}

/// The node that makes operand `i` of `node`, if no other node reads it; else
/// nullptr.
const Node *ownMaker(const Graph &graph, const Node &node, unsigned i) {
  return soleReader(graph, node.inputs[i]) ? graph.makerOf(node.inputs[i]) : nullptr;
}

} // namespace

/// value / divisor, if `value` is a mask with probability `divisor`, or a product or
/// select with such a mask; else null.
static Value divided(Conversion &c, Value value, double divisor) {
  DrawnMask mask(value);
  if (mask.draw)
    return isNear(divisor, mask.probability()) ? mask.scaled(c, elementOf(value)) : Value();
  if (auto choice = value.getDefiningOp<nn::SelectOp>()) {
    DrawnMask each(choice.getCondition());
    return each.draw && splatOf(choice.getOnFalse()) == 0 && isNear(divisor, each.probability())
               ? product(c, choice.getOnTrue(), each)
               : Value();
  }
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
    if (Value x = dividedBy(c.operand(1 - i), mask.probability()))
      return product(c, x, mask);
  }
  return {};
}

Value dpc::onnx::chosenMask(Conversion &c) {
  if (!isa<FloatType>(elementOf(c.operand(1))))
    return {};
  Value condition = c.operand(0), kept = c.operand(1);
  if (splatOf(kept) == 0) {
    nn::DropoutOp draw = ownDraw(c, 0);
    if (!draw)
      return {};
    condition = flipped(c, draw);
    kept = c.operand(2);
  } else if (splatOf(c.operand(2)) != 0) {
    return {};
  }
  DrawnMask mask(condition);
  if (!mask.draw)
    return {};
  if (Value x = dividedBy(kept, mask.probability()))
    return product(c, x, mask);
  SmallVector<Value> all =
      c.broadcastTogether({condition, kept, c.e.splatLike(kept, 0), c.operand(1), c.operand(2)});
  if (all.empty())
    return {};
  if (auto number = splatOf(kept); number && isNear(*number * mask.probability(), 1))
    return DrawnMask(all[0]).scaled(c, elementOf(kept));
  return c.e.select(all[0], all[1], all[2]);
}

Value dpc::onnx::negatedMask(Conversion &c) {
  nn::DropoutOp draw = ownDraw(c, 0);
  return draw ? flipped(c, draw) : Value();
}

Value dpc::onnx::remainingMask(Conversion &c) {
  const std::optional<SmallVector<double>> one = c.tryDoubles(0);
  if (!one || one->size() != 1 || one->front() != 1 || !isa<FloatType>(elementOf(c.operand(1))))
    return {};
  nn::DropoutOp draw = ownDraw(c, 1);
  return draw ? c.e.convert(flipped(c, draw), elementOf(c.operand(1))) : Value();
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
