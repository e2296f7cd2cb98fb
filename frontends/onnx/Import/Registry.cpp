// The table of imported ONNX operators, and the check of a graph against it.

#include "frontends/onnx/Import/Registry.h"

#include "frontends/onnx/Model/Schema.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>

namespace dpc::onnx {

const Registry &Registry::get() {
  static const Registry registry = [] {
    Registry all;
    registerActivationOps(all);
    registerAttentionOps(all);
    registerBatchNormOps(all);
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

std::vector<llvm::StringRef> Registry::names() const {
  std::vector<llvm::StringRef> sorted;
  for (const auto &entry : entries)
    sorted.push_back(entry.getKey());
  llvm::sort(sorted);
  return sorted;
}

static llvm::Error checkGraphNode(const Node &node, const Schema &schema) {
  auto given = [](llvm::ArrayRef<ValueId> values) {
    llvm::SmallVector<bool> flags;
    for (ValueId value : values)
      flags.push_back(value != kNoValue);
    return flags;
  };
  std::vector<NamedAttribute> attributes(node.attributes.begin(), node.attributes.end());
  return checkNode(schema, describe(node), given(node.inputs), given(node.outputs), attributes);
}

llvm::Error checkOperators(const Graph &graph, const Registry &registry) {
  std::map<std::pair<std::string, int64_t>, std::vector<std::string>> missing; // sorted by operator
  llvm::Error problem = llvm::Error::success();
  auto check = [&](const Node &node, const auto &checkInner) -> void {
    for (const Subgraph &subgraph : node.subgraphs)
      for (const Node &inner : subgraph.nodes)
        checkInner(inner, checkInner);
    const Schema *schema = node.domain.empty() && registry.find(node.opType)
                               ? Schema::find(node.opType, node.opset)
                               : nullptr;
    if (!schema) {
      std::string op = (node.domain.empty() ? "ai.onnx" : node.domain) + "." + node.opType;
      missing[{op, node.opset}].push_back(node.name);
    } else if (!problem) {
      problem = checkGraphNode(node, *schema);
    }
  };
  for (const Node &node : graph.nodes)
    check(node, check);
  if (missing.empty())
    return problem;
  llvm::consumeError(std::move(problem));
  std::string text;
  for (const auto &[op, nodes] : missing) {
    text += llvm::formatv("{0}{1} (opset {2}): ", text.empty() ? "" : "; ", op.first, op.second);
    for (auto [i, node] : llvm::enumerate(nodes))
      text += (i ? ", '" : "'") + node + "'";
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 llvm::formatv("{0} operator{1} not supported: {2}", missing.size(),
                                               missing.size() > 1 ? "s are" : " is", text)
                                     .str());
}

} // namespace dpc::onnx
