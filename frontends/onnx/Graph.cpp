//===- Graph.cpp - the ONNX graph after inlining, by index ----------------===//

#include "frontends/onnx/Graph.h"

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

std::string describe(const Node &node) {
  return "node '" + node.name + "' (" + node.opType + ")";
}

} // namespace dpc::onnx
