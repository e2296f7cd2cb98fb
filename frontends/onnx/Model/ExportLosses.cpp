// Describes the properties of the PyTorch module that an export lost, and names the export
// call that keeps them.

#include "frontends/onnx/Model/Classify.h"
#include "frontends/onnx/Model/ExporterMetadata.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <set>

using llvm::StringRef;

namespace dpc::onnx {
namespace {

constexpr StringRef kDynamoKeeps = "torch.onnx.export(..., optimize=False) keeps it";
constexpr StringRef kTorchScriptKeeps = "torch.onnx.export(..., dynamo=False, "
                                        "training=torch.onnx.TrainingMode.TRAINING, "
                                        "do_constant_folding=False) keeps it";

/// "'a', 'b' and 3 more".
std::string listed(llvm::ArrayRef<std::string> names) {
  constexpr size_t shown = 3;
  std::string text;
  for (size_t i = 0; i < names.size() && i < shown; ++i)
    text += (i ? ", '" : "'") + names[i] + "'";
  if (names.size() > shown)
    text += llvm::formatv(" and {0} more", names.size() - shown).str();
  return text;
}

/// "weight" of "layers.0.norm.weight".
StringRef lastName(StringRef target) { return target.substr(target.rfind('.') + 1); }

int64_t intAttribute(const Node &node, const char *name) {
  auto found = node.attributes.find(name);
  return found == node.attributes.end() ? 0 : found->second->i();
}

/// Collects the lines of describeExportLosses. The methods that add lines run in the order
/// of their declaration.
class Losses {
public:
  Losses(const Graph &graph, llvm::ArrayRef<Classified> roles)
      : graph(graph), roles(roles), signature(graphSignature(graph)), exporter(exporterOf(graph)) {}

  std::vector<std::string> describe() {
    if (exporter == Exporter::Other)
      return {};
    foldedBatchNorm();
    trainingBatchNorm();
    findRoles();
    merged();
    splitAndRenamed();
    gone();
    return std::move(lines);
  }

private:
  StringRef remedy() const {
    return exporter == Exporter::Dynamo ? kDynamoKeeps : kTorchScriptKeeps;
  }
  void foldedBatchNorm();
  void trainingBatchNorm();
  /// Finds which initializers represent which parameters. Emits a line for
  /// parameters that the exporter merged into one tensor and recorded as aliases.
  void findRoles();
  /// Finds parameters that the exporter merged. If a node takes parameter B in its fx
  /// text but initializer A in the graph, B was equal to A, and the exporter merged B
  /// into A.
  void merged();
  void splitAndRenamed();
  /// Emits a line for the missing parameters that no earlier line explains.
  void gone();
  std::vector<std::string> parametersIn(const Node &node, llvm::ArrayRef<std::string> taken) const;

  const Graph &graph;
  llvm::ArrayRef<Classified> roles;
  GraphSignature signature;
  Exporter exporter;
  std::vector<std::string> lines;
  /// The initializers that represent each parameter of the module.
  std::map<std::string, std::vector<std::string>> standsFor;
  std::set<std::string> frozen;
  /// Initializers with a name that the module does not have, and the number of the
  /// module's parameters that they represent.
  std::vector<std::string> renamed;
  size_t renamedCount = 0;
  /// Parameters that a line already explains.
  std::set<std::string> isExplained;
};

void Losses::foldedBatchNorm() {
  std::vector<std::string> nodes;
  for (const Node &node : graph.nodes) {
    bool folded = hasFoldedBatchNorm(node);
    if (exporter == Exporter::TorchScript && node.is("Conv")) {
      // TorchScript gives a convolution new names for weight and bias only when
      // it has folded a BatchNorm.
      const Initializer *weight = graph.initializerOf(node.input(1)),
                        *bias = graph.initializerOf(node.input(2));
      folded |= weight && bias && isGeneratedName(weight->name) && isGeneratedName(bias->name);
    }
    if (folded)
      nodes.push_back(node.name);
  }
  if (!nodes.empty())
    lines.push_back(llvm::formatv("BatchNorm is folded into {0} node{1} ({2}), "
                                  "whose folded weights are trained as they "
                                  "are; {3}",
                                  nodes.size(), nodes.size() > 1 ? "s" : "", listed(nodes),
                                  remedy()));
}

/// Emits a line for BatchNorms that the module ran in training mode and that the file has
/// for inference. In the fx text of aten's batch norm, `training` is the argument `True`
/// after the two running statistics.
void Losses::trainingBatchNorm() {
  std::vector<std::string> nodes;
  for (const Node &node : graph.nodes) {
    StringRef fx = node.metadata(kFxNode);
    if (!node.is("BatchNormalization") || intAttribute(node, "training_mode"))
      continue;
    if (fx.contains("_native_batch_norm_legit") && !fx.contains("no_training") &&
        fx.contains(", True, "))
      nodes.push_back(node.name);
  }
  if (!nodes.empty())
    lines.push_back(llvm::formatv("BatchNorm of a module in training mode is "
                                  "exported for inference in {0} node{1} "
                                  "({2}) and stays so; {3}",
                                  nodes.size(), nodes.size() > 1 ? "s" : "", listed(nodes),
                                  kTorchScriptKeeps));
}

/// Names of the PARAMETERs of the signature that `node` reads in the file, although its
/// fx text does not list them.
std::vector<std::string> Losses::parametersIn(const Node &node,
                                              llvm::ArrayRef<std::string> taken) const {
  std::vector<std::string> names;
  for (ValueId input : node.inputs) {
    const Initializer *initializer = graph.initializerOf(input);
    const SignatureEntry *held = initializer ? signature.findTarget(initializer->name) : nullptr;
    if (held && held->kind == "PARAMETER" && !llvm::is_contained(taken, held->placeholder))
      names.push_back(initializer->name);
  }
  return names;
}

void Losses::findRoles() {
  for (auto [initializer, classified] : llvm::zip(graph.initializers, roles)) {
    if (classified.role != Role::Parameter && classified.role != Role::Frozen)
      continue;
    if (signature.findTarget(initializer.name))
      standsFor[initializer.name].push_back(initializer.name);
    for (const std::string &source : classified.sources)
      if (source != initializer.name)
        standsFor[source].push_back(initializer.name);
    if (classified.role == Role::Frozen) { // a frozen tensor keeps its values under any name
      frozen.insert(initializer.name);
      continue;
    }
    if (!classified.sources.empty() && classified.sources.front() != initializer.name) {
      renamed.push_back(initializer.name + "' for '" + llvm::join(classified.sources, "' and '"));
      renamedCount += classified.sources.size();
    }
    std::vector<std::string> own;
    for (const std::string &alias : initializer.aliases)
      if (!isGeneratedName(alias))
        own.push_back(alias);
    if (!own.empty())
      lines.push_back(
          llvm::formatv("{0} {1} one tensor with '{2}' in the file and trained as one; {3}",
                        listed(own), own.size() > 1 ? "are" : "is", initializer.name, remedy()));
  }
}

void Losses::merged() {
  std::map<std::string, std::vector<std::string>> mergedInto;
  for (const Node &node : graph.nodes) {
    std::vector<std::string> taken = fxArguments(node.metadata(kFxNode));
    std::vector<std::string> missing;
    for (const std::string &argument : taken) {
      const SignatureEntry *entry = signature.findPlaceholder(argument);
      if (entry && entry->kind == "PARAMETER" && !standsFor.count(entry->target) &&
          !isExplained.count(entry->target))
        missing.push_back(entry->target);
    }
    if (hasFoldedBatchNorm(node)) { // foldedBatchNorm has reported it
      isExplained.insert(missing.begin(), missing.end());
      continue;
    }
    std::vector<std::string> inputs = parametersIn(node, taken);
    for (auto [i, target] : llvm::enumerate(missing)) {
      // Operands are in the order of the fx arguments, unless the exporter dropped an
      // operand. In that case, parameters are matched by the last part of their names.
      size_t at = i;
      if (missing.size() != inputs.size())
        at = llvm::find_if(inputs,
                           [&, &target = target](const std::string &input) {
                             return lastName(input) == lastName(target);
                           }) -
             inputs.begin();
      if (at == inputs.size())
        continue;
      mergedInto[inputs[at]].push_back(target);
      isExplained.insert(target);
    }
  }
  for (const auto &[kept, gone] : mergedInto)
    if (!frozen.count(kept))
      lines.push_back(
          llvm::formatv("{0} {1} equal to '{2}', merged into it and trained as one; {3}",
                        listed(gone), gone.size() > 1 ? "were" : "was", kept, kDynamoKeeps));
}

void Losses::splitAndRenamed() {
  for (const auto &[target, names] : standsFor)
    if (llvm::count_if(names, [&](const std::string &name) { return !frozen.count(name); }) > 1)
      lines.push_back(llvm::formatv("parameter '{0}' is {1} tensors in the "
                                    "file ({2}), no longer tied and trained "
                                    "apart; {3}",
                                    target, names.size(), listed(names), kDynamoKeeps));
  if (!renamed.empty())
    lines.push_back(llvm::formatv("{0} parameter{1} under another name, "
                                  "transposed or computed ({2}); {3}",
                                  renamedCount, renamedCount > 1 ? "s are" : " is", listed(renamed),
                                  kDynamoKeeps));
}

void Losses::gone() {
  std::vector<std::string> names;
  for (const SignatureEntry &entry : signature.inputs)
    if (entry.kind == "PARAMETER" && !standsFor.count(entry.target) &&
        !isExplained.count(entry.target))
      names.push_back(entry.target);
  if (!names.empty())
    lines.push_back(llvm::formatv("parameter{0} {1} of the module {2} not in "
                                  "the file (unused, tied to another, or "
                                  "folded); {3}",
                                  names.size() > 1 ? "s" : "", listed(names),
                                  names.size() > 1 ? "are" : "is", kDynamoKeeps));
}

} // namespace

std::vector<std::string> describeExportLosses(const Graph &graph,
                                              llvm::ArrayRef<Classified> roles) {
  return Losses(graph, roles).describe();
}

} // namespace dpc::onnx
