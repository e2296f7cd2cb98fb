// Finds additions (of numbers up to 1e-8) and factors (within 1e-5 of 1) that the exporter
// dropped, if without them the op that reads the result may have an infinite value,
// an infinite gradient or a kink.

#include "frontends/onnx/Restore/DroppedArithmetic.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::StringRef;

namespace dpc::onnx {
namespace {

/// The point at which an operator has no finite value, no finite gradient or a
/// kink.
enum class Singular { nowhere, atZero, atOne };

/// The singular point of a Pow: 0, or none if all exponents are at least 1, because then
/// the gradient at 0 is finite.
Singular ofPow(const Graph &graph, const Node &node) {
  const Initializer *exponent = graph.initializerOf(node.input(1));
  if (!exponent)
    return Singular::atZero;
  for (int64_t i = 0; i < exponent->tensor.numElements(); ++i)
    if (!(exponent->tensor.asDouble(i) >= 1))
      return Singular::atZero;
  return Singular::nowhere;
}

Singular singularityOf(const Graph &graph, const Node &node, int32_t operand) {
  if (!node.domain.empty())
    return Singular::nowhere;
  if (node.is("Div"))
    return operand == 1 ? Singular::atZero : Singular::nowhere;
  if (operand != 0)
    return Singular::nowhere;
  if (node.is("Pow"))
    return ofPow(graph, node);
  return llvm::StringSwitch<Singular>(node.opType)
      .Cases("Sqrt", "Log", "Reciprocal", "ReduceLogSum", Singular::atZero)
      .Cases("ReduceL1", "ReduceL2", "LpNormalization", "LpPool", "GlobalLpPool", Singular::atZero)
      .Cases("Abs", "Relu", "Sign", Singular::atZero)
      .Cases("Acos", "Asin", "Atanh", "Acosh", Singular::atOne)
      .Default(Singular::nowhere);
}

/// The singular point of a call whose first node is not singular, but a later node is.
Singular singularityOf(StringRef op, bool isSum) {
  if (op == "logit")
    return isSum ? Singular::atZero : Singular::atOne;
  return op == "atan2" ? Singular::atZero : Singular::nowhere;
}

} // namespace

std::vector<std::string> findDroppedArithmetic(const Graph &graph, const CallComparison &calls) {
  static const llvm::StringSet<> sums = {"add", "sub"}, products = {"mul", "div"};
  std::vector<std::string> lost;
  for (const CallReads &call : calls.getCalls())
    for (const CallArgument &argument : call.arguments) {
      StringRef stem = stemOf(argument.name);
      bool isSum = sums.contains(stem);
      if (argument.isMade || argument.value == kNoValue || (!isSum && !products.contains(stem)))
        continue;
      // If the value is the result of an equal call, the exporter merged the
      // two calls and dropped no number.
      const CallReads *kept = calls.callOf(argument.value);
      if (kept && stemOf(kept->result) == stem && !calls.hasHiddenUser(*kept))
        continue;
      for (OperandAt at : argument.reads) {
        const Node &node = graph.nodes[at.node];
        Singular where = singularityOf(graph, node, at.operand);
        if (where == Singular::nowhere)
          where = singularityOf(call.call.op, isSum);
        if (where == Singular::nowhere || (where == Singular::atZero && !isSum))
          continue;
        lost.push_back(llvm::formatv(
            "{0}: takes '{1}', {2} that the export dropped, and is singular or has a kink at {3} "
            "without it; torch.onnx.export(..., optimize=False) keeps it",
            describe(node), argument.name, isSum ? "a small addend" : "a factor close to 1",
            where == Singular::atZero ? 0 : 1));
        break;
      }
    }
  return lost;
}

} // namespace dpc::onnx
