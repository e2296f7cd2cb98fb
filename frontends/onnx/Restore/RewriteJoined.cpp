// Writes the nodes that join tensors into operands of recurrent operators.

#include "frontends/onnx/Restore/Rewriter.h"

namespace dpc::onnx {

/// Adds a node to `first`. Its only result has the name of the node.
onnxpb::NodeProto &Rewriter::addFirst(const std::string &type, const std::string &name,
                                      llvm::ArrayRef<std::string> inputs) {
  onnxpb::NodeProto &node = first.emplace_back();
  node.set_name(unique(name));
  node.set_op_type(type);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(node.name());
  return node;
}

static void setAxis(onnxpb::NodeProto &node) {
  onnxpb::AttributeProto &axis = *node.add_attribute();
  axis.set_name("axis");
  axis.set_type(onnxpb::AttributeProto::INT);
  axis.set_i(0);
}

/// Splits the rows of a tensor into `count` blocks of one size, and returns their
/// names.
std::vector<std::string> Rewriter::blocksOf(size_t tensor, size_t count) {
  const RestoredTensor &restored = plan.tensors[tensor];
  if (count == 1)
    return {restored.name};
  auto [found, isNew] = blocks.try_emplace({tensor, count});
  if (!isNew)
    return found->second;
  std::vector<int64_t> sizes(count, restored.value.shape[0] / int64_t(count));
  std::string split = addInts(restored.name + "/gates", {int64_t(count)}, sizes);
  onnxpb::NodeProto &node = addFirst("Split", restored.name + "/gate", {restored.name, split});
  found->second.push_back(node.output(0));
  while (found->second.size() < count) {
    found->second.push_back(unique(restored.name + "/gate"));
    node.add_output(found->second.back());
  }
  setAxis(node);
  return found->second;
}

/// Concatenates `parts`, and reshapes the result to `shape` unless `shape` is
/// empty.
std::string Rewriter::joinRows(const std::string &name, llvm::ArrayRef<std::string> parts,
                               llvm::ArrayRef<int64_t> shape) {
  std::string result = parts.front();
  if (parts.size() > 1) {
    onnxpb::NodeProto &node = addFirst("Concat", name + "/joined", parts);
    setAxis(node);
    result = node.name();
  }
  if (shape.empty())
    return result;
  return addFirst("Reshape", result + "/reshaped",
                  {result, addInts(result + "/shape", {int64_t(shape.size())}, shape)})
      .name();
}

/// Joins the tensors of each direction separately, so that the operator's
/// conversion can slice them out again.
std::string Rewriter::valueOf(const JoinedUse &use) {
  const Initializer &was = *graph.initializerOf(use.was);
  llvm::SmallVector<int64_t> shape(was.tensor.shape.begin(), was.tensor.shape.end());
  std::vector<std::string> parts;
  for (size_t tensor : use.tensors) {
    std::vector<std::string> rows = blocksOf(tensor, use.gates.size());
    for (int64_t gate : use.gates)
      parts.push_back(rows[gate]);
  }
  const size_t rank = plan.tensors[use.tensors.front()].value.shape.size();
  if (shape.size() == rank)
    return joinRows(was.name, parts, {});
  size_t directions = shape[0];
  if (directions == 0 || use.tensors.size() % directions != 0)
    return joinRows(was.name, parts, shape);
  shape[0] = 1;
  std::vector<std::string> rows;
  size_t share = parts.size() / directions;
  for (size_t d = 0; d < directions; ++d)
    rows.push_back(joinRows(was.name, llvm::ArrayRef(parts).slice(d * share, share), shape));
  return joinRows(was.name, rows, {});
}

} // namespace dpc::onnx
