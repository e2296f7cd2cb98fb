// Queries of a node of the flat ONNX graph.

#include "frontends/onnx/Model/Graph.h"

#include "OnnxSchema.pb.h"

using llvm::StringRef;

namespace dpc::onnx {

StringRef Node::metadata(StringRef key) const {
  auto find = [key](const onnxpb::NodeProto &from) -> StringRef {
    for (const auto &entry : from.metadata_props())
      if (entry.key() == key)
        return entry.value();
    return {};
  };
  if (StringRef own = find(*proto); !own.empty())
    return own;
  for (const onnxpb::NodeProto *caller : callers)
    if (StringRef inherited = find(*caller); !inherited.empty())
      return inherited;
  return {};
}

void forEachUse(const Node &node, llvm::function_ref<void(ValueId, int32_t)> use) {
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue)
      use(node.inputs[i], static_cast<int32_t>(i));
  for (const Subgraph &subgraph : node.subgraphs) {
    for (const Node &inner : subgraph.nodes)
      forEachUse(inner, [&](ValueId value, int32_t) { use(value, -1); });
    for (ValueId output : subgraph.outputs)
      use(output, -1);
  }
}

std::string describe(const Node &node) {
  return "node '" + node.name + "' (" + node.opType + ", opset " + std::to_string(node.opset) + ")";
}

} // namespace dpc::onnx
