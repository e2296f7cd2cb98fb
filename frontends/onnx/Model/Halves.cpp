// Finds and widens the 16-bit floats of a file.

#include "frontends/onnx/Model/Halves.h"

#include "OnnxSchema.pb.h"

#include <cstring>

namespace dpc::onnx {
namespace {

/// The 16-bit float types that occur.
struct Seen {
  bool f16 = false, bf16 = false;

  bool add(int64_t type) {
    const bool isF16 = type == int64_t(ElementType::F16),
               isBF16 = type == int64_t(ElementType::BF16);
    f16 |= isF16;
    bf16 |= isBF16;
    return isF16 || isBF16;
  }
  bool add(ElementType type) { return add(int64_t(type)); }
};

void addNodes(const std::vector<Node> &nodes, Seen &seen) {
  for (const Node &node : nodes) {
    for (const char *name : {"to", "dtype"})
      if (auto found = node.attributes.find(name); found != node.attributes.end())
        seen.add(found->second->i());
    for (const auto &[name, attribute] : node.attributes)
      if (attribute->has_t())
        seen.add(attribute->t().data_type());
    for (const Subgraph &subgraph : node.subgraphs)
      addNodes(subgraph.nodes, seen);
  }
}

} // namespace

ElementType widenHalf(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 ? ElementType::F32 : type;
}

Tensor widenHalves(const Tensor &tensor) {
  const ElementType type = widenHalf(tensor.type);
  if (type == tensor.type)
    return tensor;
  std::vector<char> bytes(tensor.numElements() * sizeof(float));
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i) {
    const auto value = static_cast<float>(tensor.asDouble(i));
    std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
  return makeTensor(type, tensor.shape, std::move(bytes));
}

Halves findHalves(const Graph &graph, llvm::ArrayRef<Classified> roles) {
  Seen seen;
  Halves halves;
  for (auto [initializer, classified] : llvm::zip_equal(graph.initializers, roles))
    if (seen.add(initializer.tensor.type))
      halves.parameters += classified.role == Role::Parameter || classified.role == Role::Frozen;
  for (const GraphInput &input : graph.inputs)
    seen.add(input.type);
  addNodes(graph.nodes, seen);
  for (auto [occurs, type] :
       {std::pair(seen.f16, ElementType::F16), std::pair(seen.bf16, ElementType::BF16)})
    if (occurs)
      halves.types += (halves.types.empty() ? "" : " and ") + dataTypeName(int32_t(type));
  return halves;
}

} // namespace dpc::onnx
