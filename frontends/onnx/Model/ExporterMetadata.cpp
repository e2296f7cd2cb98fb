// Parses the metadata that PyTorch's exporters write into a graph.

#include "frontends/onnx/Model/ExporterMetadata.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace dpc::onnx {

const SignatureEntry *GraphSignature::findTarget(StringRef target) const {
  for (const SignatureEntry &entry : inputs)
    if (!entry.target.empty() && entry.target == target)
      return &entry;
  return nullptr;
}

const SignatureEntry *GraphSignature::findPlaceholder(StringRef placeholder) const {
  for (const SignatureEntry &entry : inputs)
    if (entry.placeholder == placeholder)
      return &entry;
  return nullptr;
}

GraphSignature parseGraphSignature(StringRef text) {
  GraphSignature signature;
  std::vector<SignatureEntry> *section = &signature.inputs;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    line = line.trim();
    if (line.starts_with("#")) {
      section = line.contains("outputs") ? &signature.outputs : &signature.inputs;
      continue;
    }
    auto [placeholder, rest] = line.split(": ");
    if (rest.empty())
      continue;
    SignatureEntry entry;
    entry.placeholder = placeholder.str();
    entry.kind = rest.take_until([](char c) { return c == ' '; }).str();
    if (size_t at = rest.find("target='"); at != StringRef::npos)
      entry.target = rest.drop_front(at + 8).take_until([](char c) { return c == '\''; }).str();
    entry.isPersistent = !rest.contains("persistent=False");
    section->push_back(std::move(entry));
  }
  return signature;
}

GraphSignature graphSignature(const Graph &graph) {
  auto found = graph.metadata.find("pkg.torch.export.ExportedProgram.graph_signature");
  return found == graph.metadata.end() ? GraphSignature() : parseGraphSignature(found->second);
}

std::vector<std::string> fxArguments(StringRef fxNode) {
  size_t call = fxNode.find("args = (");
  if (call == StringRef::npos)
    return {};
  std::vector<std::string> names;
  StringRef rest = fxNode.drop_front(call);
  while (true) {
    size_t at = rest.find('%');
    if (at == StringRef::npos)
      return names;
    rest = rest.drop_front(at + 1);
    names.push_back(rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).str());
  }
}

std::vector<std::string> parsePythonList(StringRef text) {
  std::vector<std::string> items;
  while (true) {
    size_t open = text.find_first_of("'\"");
    if (open == StringRef::npos)
      return items;
    size_t close = text.find(text[open], open + 1);
    if (close == StringRef::npos)
      return items;
    items.push_back(text.slice(open + 1, close).str());
    text = text.drop_front(close + 1);
  }
}

Exporter exporterOf(const Graph &graph) {
  for (const auto &entry : graph.metadata)
    if (StringRef(entry.first).starts_with("pkg.torch.export"))
      return Exporter::Dynamo;
  for (const Node &node : graph.nodes)
    if (!node.metadata(kFxNode).empty())
      return Exporter::Dynamo;
  return graph.producer == "pytorch" ? Exporter::TorchScript : Exporter::Other;
}

bool isGeneratedName(StringRef name) {
  return name.starts_with("onnx::") || name.starts_with("/") || name.contains("Constant_output") ||
         llvm::all_of(name, llvm::isDigit);
}

StringRef recordedKind(const Initializer &initializer) {
  auto found = initializer.metadata.find(kInputKind.str());
  return found == initializer.metadata.end() ? StringRef() : StringRef(found->second);
}

StringRef stemOf(StringRef fxName) {
  StringRef stem = fxName.rtrim("0123456789");
  return stem.size() < fxName.size() && stem.ends_with("_") ? stem.drop_back() : fxName;
}

StringRef targetOf(const Node &node) {
  constexpr llvm::StringLiteral prefix = "target=torch.ops.";
  StringRef text = node.metadata(kFxNode);
  size_t at = text.find(prefix);
  if (at == StringRef::npos)
    return {};
  return text.substr(at + prefix.size()).take_until([](char c) { return c == ']' || c == '('; });
}

StringRef calledBy(const Node &node) {
  StringRef target = targetOf(node);
  return target.substr(0, target.find('.', target.find('.') + 1));
}

/// Whether the value's name says that it took only its shape from another value.
static bool isMadeOfShape(StringRef name) {
  return llvm::StringSwitch<bool>(stemOf(name))
      .Cases("zeros_like", "ones_like", "full_like", "empty_like", true)
      .Cases("new_zeros", "new_ones", "new_full", "new_empty", true)
      .Default(false);
}

std::vector<std::string> foldedFrom(const Initializer &initializer) {
  auto found = initializer.metadata.find("pkg.onnxscript.optimizer.folded_from");
  if (found == initializer.metadata.end())
    return {};
  std::vector<std::string> names = parsePythonList(found->second), made;
  llvm::copy_if(names, std::back_inserter(made), isMadeOfShape);
  if (isMadeOfShape(initializer.name))
    made.push_back(initializer.name);
  return !made.empty() && isSplat(initializer.tensor) ? made : names;
}

bool isDetach(const onnxpb::NodeProto &node) {
  return llvm::any_of(node.metadata_props(), [](const auto &entry) {
    return entry.key() == kFxNode && StringRef(entry.value()).contains(kDetachTarget);
  });
}

bool hasFoldedBatchNorm(const Node &node) {
  StringRef rule = node.metadata(kRewriterRule);
  return rule.contains("FuseBatchNorm") || rule.contains("BatchNormInto");
}

} // namespace dpc::onnx
