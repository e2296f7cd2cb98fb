// Identifies the PyTorch function that an operator was exported from, by metadata
// or by the graph around the node.

#include "frontends/onnx/Ops/Kinks.h"

#include "frontends/onnx/Import/Constants.h"
#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Restore/FxCall.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// Whether the operand of the node is a variance. PyTorch exports x.std() and
/// sqrt(x.var()) in the same way, as the root of prims.var, so this test cannot tell them
/// apart.
bool isOfVariance(Conversion &c) {
  const Node *producer = c.graph().makerOf(c.node.input(0));
  if (!producer)
    return false;
  StringRef call = calledBy(*producer);
  return call == "prims.var" || call == "aten.var" || call == "aten.var_mean";
}

/// The deepest chain of nodes that TorchScript writes for one call.
constexpr unsigned kMostNested = 6;

bool isPower(const Node &node) {
  return node.is("Pow") ||
         (node.is("Mul") && node.inputs.size() == 2 && node.inputs[0] == node.inputs[1]);
}

/// Whether `node` is a sum or a mean of powers, possibly scaled or multiplied with
/// another value.
bool isSumOfPowers(const Graph &graph, const Node *node, unsigned depth = 0) {
  if (!node || depth > kMostNested)
    return false;
  if (node->is("ReduceSumSquare"))
    return true;
  if (node->is("ReduceSum") || node->is("ReduceMean")) {
    const Node *powers = graph.makerOf(node->input(0));
    return powers && isPower(*powers);
  }
  if (node->is("Mul"))
    return isSumOfPowers(graph, graph.makerOf(node->input(0)), depth + 1) ||
           isSumOfPowers(graph, graph.makerOf(node->input(1)), depth + 1);
  return node->is("Div") && isSumOfPowers(graph, graph.makerOf(node->input(0)), depth + 1);
}

/// Whether TorchScript's exporter wrote the graph. It does not record calls, so the
/// metadata of a node do not name one.
bool isTorchScript(Conversion &c) { return exporterOf(c.graph()) == Exporter::TorchScript; }

/// Whether the node was exported from an adaptive max pool with one output element
/// per channel, which the default exporter writes as an amax.
bool isOfAdaptivePool(const Node &node) {
  std::vector<std::string> classes = parsePythonList(node.metadata(kClassHierarchy));
  if (classes.size() > 1 && StringRef(classes[classes.size() - 2]).contains("AdaptiveMaxPool"))
    return true;
  StringRef lines = node.metadata(kStackTrace).rtrim();
  return lines.substr(lines.rfind('\n') + 1).contains("adaptive_max_pool");
}

/// The kind of a clamp's bound, from the argument of the call. The operand of the node
/// does not tell the kind, because the exporter turns numbers into tensors.
Bound boundOf(StringRef argument) {
  return argument.starts_with("%") && stemOf(argument.drop_front()) != "scalar_tensor_default"
             ? Bound::tensor
             : Bound::number;
}

} // namespace

bool dpc::onnx::isRootOfNorm(Conversion &c) {
  StringRef call = calledBy(c.node);
  if (call.empty())
    return isSumOfPowers(c.graph(), c.graph().makerOf(c.node.input(0))) && isTorchScript(c);
  bool isNorm =
      llvm::StringSwitch<bool>(call)
          .Cases("aten.std", "aten.std_mean", "aten.norm", "aten.frobenius_norm", true)
          .Cases("aten.linalg_norm", "aten.linalg_vector_norm", "aten.linalg_matrix_norm", true)
          .Default(false);
  return isNorm || (c.node.is("Sqrt") && isOfVariance(c));
}

bool dpc::onnx::choosesFirst(Conversion &c, ArrayRef<int64_t> dimensions) {
  if (c.node.is("GlobalMaxPool"))
    return true;
  StringRef target = targetOf(c.node), call = calledBy(c.node);
  if (call == "aten.amax")
    return isOfAdaptivePool(c.node);
  if (!call.empty())
    return target == "aten.max.dim" || target == "aten.min.dim" ||
           call.starts_with("aten.adaptive_max_pool");
  // The maximum of all elements is exported without axes.
  bool hasAxes = c.has(1) || c.hasAttr("axes");
  return dimensions.size() == 1 && hasAxes && isTorchScript(c);
}

std::optional<ClampBounds> dpc::onnx::clampBounds(Conversion &c) {
  StringRef name = calledBy(c.node);
  std::optional<FxCall> call = parseFxCall(c.node.metadata(kFxNode));
  auto argument = [&](size_t i) -> StringRef {
    return call && i < call->arguments.size() ? StringRef(call->arguments[i]) : StringRef("None");
  };
  // The exporter may have merged two clamps into one Clip. The bounds of the inner clamp
  // then have the kind that follows from the call that made the first argument.
  Bound inner = llvm::StringSwitch<Bound>(stemOf(valueArgument(call.value_or(FxCall()), 0)))
                    .Cases("maximum", "minimum", Bound::tensor)
                    .Default(Bound::number);
  auto outer = [&](StringRef text) { return text == "None" ? inner : boundOf(text); };
  // If a bound is computed or trained, it is a tensor, even if the call does not say so.
  auto known = [&](unsigned i, Bound bound) {
    return c.has(i) && !evaluate(c.operand(i)) ? Bound::tensor : bound;
  };
  if (c.node.is("Clip")) {
    ClampBounds bounds{Bound::number, Bound::number};
    if (name == "aten.clamp" || name == "aten.clip")
      bounds = {outer(argument(1)), outer(argument(2))};
    else if (name == "aten.clamp_min")
      bounds = {boundOf(argument(1)), inner};
    else if (name == "aten.clamp_max")
      bounds = {inner, boundOf(argument(1))};
    else if (name == "aten.maximum")
      bounds = {Bound::tensor, inner};
    else if (name == "aten.minimum")
      bounds = {inner, Bound::tensor};
    return ClampBounds{known(1, bounds.low), known(2, bounds.high)};
  }
  bool isMax = c.node.is("Max");
  bool isClamp = name == "aten.clamp" || name == "aten.clip" ||
                 name == (isMax ? "aten.clamp_min" : "aten.clamp_max");
  if (!isClamp || c.numOperands() != 2)
    return std::nullopt;
  bool isSecond = !isMax && (name == "aten.clamp" || name == "aten.clip");
  Bound bound = known(1, boundOf(argument(isSecond ? 2 : 1)));
  return ClampBounds{bound, bound};
}

Value dpc::onnx::clampTo(Conversion &c, Value x, Value low, Value high, ClampBounds bounds) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  bool isFloat = isa<FloatType>(nn::typeOf(x).getElementType());
  if (low && (bounds.low == Bound::tensor || !isFloat)) {
    x = c.e.max(x, low);
    low = {};
  }
  Value last;
  if (high && (bounds.high == Bound::tensor || !isFloat))
    std::swap(last, high);
  if (low || high)
    x = c.e.make<nn::ClampOp>(x, low ? low : c.e.splatLike(x, -infinity),
                              high ? high : c.e.splatLike(x, infinity));
  return last ? Value(c.e.make<nn::MinOp>(x, last)) : x;
}

Value dpc::onnx::boundedLog(Conversion &c) {
  if (!c.node.is("Max") || c.numOperands() != 2)
    return {};
  for (unsigned i : {0, 1}) {
    auto log = c.operand(i).getDefiningOp<nn::LogOp>();
    std::optional<HostTensor> least = log ? evaluate(c.operand(1 - i)) : std::nullopt;
    if (!least || least->size() != 1 || rankOf(c.operand(1 - i)) > rankOf(log))
      continue;
    Value x = log.getInput(), bound = c.exactLike(x, least->floats[0]);
    // A negative x has no logarithm, so the result for it must stay NaN.
    Value isBelow =
        c.e.make<nn::AndOp>(c.e.compare(nn::Comparison::ge, x, 0.0),
                            c.e.compare(nn::Comparison::le, x, std::exp(least->floats[0])));
    Value safe = c.e.select(isBelow, c.e.splatLike(x, 1), x);
    return c.e.select(isBelow, bound, c.e.max(c.e.log(safe), bound));
  }
  return {};
}
