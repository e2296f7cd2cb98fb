//===- Registry.cpp - the operators that dpc imports ----------------------===//

#include "frontends/onnx/Registry.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

namespace dpc::onnx {

const Registry &Registry::get() {
  static const Registry registry = [] {
    Registry all;
    registerActivationOps(all);
    registerAttentionOps(all);
    registerConstantOps(all);
    registerControlOps(all);
    registerContractionOps(all);
    registerElementwiseOps(all);
    registerIndexingOps(all);
    registerLossOps(all);
    registerNormalizationOps(all);
    registerPadOps(all);
    registerRandomOps(all);
    registerRecurrentOps(all);
    registerReductionOps(all);
    registerResizeOps(all);
    registerSequenceOps(all);
    registerShapeOps(all);
    registerSpatialOps(all);
    return all;
  }();
  return registry;
}

const OperatorEntry *Registry::find(llvm::StringRef name, int64_t opset) const {
  auto found = entries.find(name);
  if (found == entries.end())
    return nullptr;
  for (const OperatorEntry &entry : found->second)
    if (entry.since <= opset && opset <= entry.until)
      return &entry;
  return nullptr;
}

bool isFloatOperator(llvm::StringRef name) {
  static const llvm::StringSet<> names = {
      // Functions of one variable.
      "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Erf",
      "Exp", "Log", "Reciprocal", "Sin", "Sinh", "Sqrt", "Tan",
      // Activations.
      "Celu", "Elu", "Gelu", "HardSigmoid", "HardSwish", "Hardmax", "LeakyRelu",
      "LogSoftmax", "Mish", "Selu", "Sigmoid", "Softmax", "Softplus",
      "Softsign", "Swish", "Tanh", "ThresholdedRelu",
      // Normalisation.
      "BatchNormalization", "Dropout", "GroupNormalization",
      "InstanceNormalization", "LayerNormalization", "LRN", "LpNormalization",
      "MeanVarianceNormalization", "RMSNormalization",
      // Windows and contractions.
      "Attention", "AveragePool", "Conv", "ConvTranspose", "GlobalAveragePool",
      "GlobalLpPool", "GlobalMaxPool", "LpPool", "RotaryEmbedding",
      // Recurrence and losses.
      "GRU", "LSTM", "NegativeLogLikelihoodLoss", "RNN",
      "SoftmaxCrossEntropyLoss"};
  return names.contains(name);
}

/// The first problem of `node`'s operand and result counts, or empty.
static std::string arityProblem(const Node &node, const OperatorEntry &entry) {
  unsigned operands = static_cast<unsigned>(node.inputs.size()), results = 0;
  for (auto [i, output] : llvm::enumerate(node.outputs))
    if (output != kNoValue)
      results = static_cast<unsigned>(i) + 1;
  if (operands < entry.minOperands || operands > entry.maxOperands)
    return llvm::formatv(
        "has {0} inputs but must have {1}", operands,
        entry.maxOperands == OperatorEntry::kAny
            ? std::to_string(entry.minOperands) + " or more"
        : entry.minOperands == entry.maxOperands
            ? std::to_string(entry.minOperands)
            : llvm::formatv("{0} to {1}", entry.minOperands, entry.maxOperands)
                  .str());
  if (results > entry.maxResults)
    return llvm::formatv("has {0} outputs but may have {1}", results,
                         entry.maxResults);
  for (unsigned i = 0; i < entry.minOperands; ++i)
    if (node.input(i) == kNoValue)
      return llvm::formatv("input {0} is omitted but required", i);
  return {};
}

llvm::Error checkOperators(const Graph &graph, const Registry &registry) {
  std::map<std::pair<std::string, int64_t>, std::vector<std::string>>
      missing; // sorted by operator
  std::string firstProblem;
  auto check = [&](const Node &node, const auto &checkInner) -> void {
    for (const Subgraph &subgraph : node.subgraphs)
      for (const Node &inner : subgraph.nodes)
        checkInner(inner, checkInner);
    const OperatorEntry *entry =
        node.domain.empty() ? registry.find(node.opType, node.opset) : nullptr;
    if (!entry) {
      std::string op =
          (node.domain.empty() ? "ai.onnx" : node.domain) + "." + node.opType;
      missing[{op, node.opset}].push_back(node.name);
    } else if (firstProblem.empty()) {
      if (std::string problem = arityProblem(node, *entry); !problem.empty())
        firstProblem = describe(node) + ": " + problem;
    }
  };
  for (const Node &node : graph.nodes)
    check(node, check);
  if (missing.empty()) {
    if (firstProblem.empty())
      return llvm::Error::success();
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   firstProblem);
  }
  std::string text;
  for (const auto &[op, nodes] : missing) {
    text += llvm::formatv("{0}{1} (opset {2}): ", text.empty() ? "" : "; ",
                          op.first, op.second);
    for (auto [i, node] : llvm::enumerate(nodes))
      text += (i ? ", '" : "'") + node + "'";
  }
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      llvm::formatv("{0} operator{1} not supported: {2}", missing.size(),
                    missing.size() > 1 ? "s are" : " is", text)
          .str());
}

} // namespace dpc::onnx
