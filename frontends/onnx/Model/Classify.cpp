// Decides which initializers of a graph are trained.

#include "frontends/onnx/Model/Classify.h"

#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Model/ValuePatterns.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <optional>
#include <set>

using llvm::StringRef;

namespace dpc::onnx {
namespace {

class Classifier {
public:
  explicit Classifier(const Graph &graph)
      : graph(graph), signature(graphSignature(graph)), exporter(exporterOf(graph)),
        reaches(differentiablyReachesOutput(graph)) {}

  /// The role of each initializer, before the requests of the command line are applied.
  std::vector<Classified> run();

private:
  Classified classifyOne(const Initializer &initializer);
  std::optional<Classified> byRecord(const Initializer &initializer);
  std::optional<std::string> constantByLook(const Initializer &initializer) const;
  Classified bySignature(const Initializer &initializer);
  void accountFor(const Initializer &initializer);
  std::vector<std::string> parametersIn(llvm::ArrayRef<std::string> names) const;
  std::vector<std::string> unaccountedIn(StringRef fxNode) const;
  bool usedAs(const Initializer &initializer,
              llvm::function_ref<bool(const Node &, int operand)> slot) const;
  bool isModuleAttribute(const Initializer &initializer) const {
    return exporter == Exporter::TorchScript && !isGeneratedName(initializer.name);
  }

  const Graph &graph;
  GraphSignature signature;
  Exporter exporter;
  std::vector<bool> reaches;
  /// The PARAMETERs of the graph signature that some initializer represents. Each is
  /// listed by its target (its name in the PyTorch module).
  std::set<std::string> accounted;
};

bool Classifier::usedAs(const Initializer &initializer,
                        llvm::function_ref<bool(const Node &, int operand)> slot) const {
  return llvm::any_of(graph.values[initializer.value].uses,
                      [&](const Use &use) { return slot(graph.nodes[use.node], use.operand); });
}

/// The elements of `names` that are targets of a PARAMETER in the graph signature.
std::vector<std::string> Classifier::parametersIn(llvm::ArrayRef<std::string> names) const {
  std::vector<std::string> parameters;
  for (const std::string &name : names) {
    const SignatureEntry *entry = signature.findTarget(name);
    if (entry && entry->kind == "PARAMETER")
      parameters.push_back(name);
  }
  return parameters;
}

/// The targets of the PARAMETERs among the arguments of an fx node, without the
/// PARAMETERs that an initializer already represents.
std::vector<std::string> Classifier::unaccountedIn(StringRef fxNode) const {
  std::vector<std::string> targets;
  for (const std::string &argument : fxArguments(fxNode)) {
    const SignatureEntry *entry = signature.findPlaceholder(argument);
    if (entry && entry->kind == "PARAMETER" && !accounted.count(entry->target))
      targets.push_back(entry->target);
  }
  return targets;
}

void Classifier::accountFor(const Initializer &initializer) {
  if (const SignatureEntry *entry = signature.findTarget(initializer.name))
    accounted.insert(entry->target);
  for (const std::string &alias : initializer.aliases)
    if (const SignatureEntry *entry = signature.findTarget(alias))
      accounted.insert(entry->target);
  if (!isFloat(initializer.tensor.type))
    return;
  for (const std::string &target : parametersIn(foldedFrom(initializer)))
    accounted.insert(target);
}

/// Applies rules 3 to 5: marks and names that the exporter recorded.
std::optional<Classified> Classifier::byRecord(const Initializer &initializer) {
  StringRef kind = recordedKind(initializer);
  if (kind == "PARAMETER")
    return Classified{Role::Parameter, "marked PARAMETER", {}};
  if (kind == kFixedKind)
    return Classified{Role::Constant,
                      "sinusoids, which modules do not train (--trainable "
                      "does)",
                      {}};
  if (kind == "BUFFER")
    return Classified{Role::Buffer, "marked BUFFER", {}};
  if (kind == "CONSTANT_TENSOR")
    return Classified{Role::Constant, "marked CONSTANT_TENSOR", {}};

  std::vector<std::string> folded = foldedFrom(initializer);
  if (!folded.empty() && !signature.empty()) {
    std::vector<std::string> sources = parametersIn(folded);
    if (sources.empty())
      return Classified{Role::Constant, "folded by the exporter from no parameter", {}};
    if (initializer.tensor.shape.empty())
      return Classified{Role::Constant, "scalar folded by the exporter", {}};
    if (looksLikeMask(initializer.tensor) || !reaches[initializer.value])
      return Classified{Role::Constant, "folded by the exporter, no gradient path", {}};
    return Classified{Role::Parameter,
                      std::string("folded by the exporter from parameter") +
                          (sources.size() > 1 ? "s " : " ") + llvm::join(sources, ", "),
                      sources};
  }
  if (const SignatureEntry *entry = signature.findTarget(initializer.name)) {
    if (entry->kind == "PARAMETER")
      return Classified{
          Role::Parameter, "named as a PARAMETER of the graph signature", {entry->target}};
    if (entry->kind == "BUFFER")
      return Classified{Role::Buffer, "named as a BUFFER of the graph signature", {}};
    return Classified{Role::Constant, "named as a " + entry->kind + " of the graph signature", {}};
  }
  return std::nullopt;
}

bool isElementwise(StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Where", "Clip", "Mod", true)
      .Default(false);
}

/// Whether `name` ends in a component, such as `mask`, that PyTorch modules give to
/// tensors which are not parameters.
bool isBufferName(StringRef name) {
  StringRef last = name.rsplit('.').second;
  if (last.empty())
    last = name;
  return llvm::StringSwitch<bool>(last)
      .Cases("mask", "attn_mask", "causal_mask", "attention_mask", "tril", "triu", true)
      .Cases("inv_freq", "original_inv_freq", "freqs", "freqs_cis", "freqs_cos", "freqs_sin", true)
      .Cases("cos", "sin", "cos_cached", "sin_cached", "relative_coords_table", "position_ids",
             true)
      .Cases("running_mean", "running_var", "num_batches_tracked", "anchors", "slopes",
             "final_logits_bias", true)
      .Default(false);
}

/// Applies rule 6: judges the tensor by its name, its values and its uses. Gives the
/// reason if it is a constant.
std::optional<std::string> Classifier::constantByLook(const Initializer &initializer) const {
  const Tensor &tensor = initializer.tensor;
  bool isContraction = usedAs(initializer, [](const Node &node, int) {
    return node.is("MatMul") || node.is("Gemm") || node.is("Conv") || node.is("ConvTranspose") ||
           node.is("LSTM") || node.is("GRU") || node.is("RNN");
  });
  if (tensor.numElements() == 0)
    return "has no elements";
  if (!isContraction && looksLikeMask(tensor))
    return "mask: 0 and large negative numbers, or 0 and 1";
  if (looksLikeTable(tensor))
    return "table: sinusoids, lines or a progression";
  if (tensor.shape.empty() && !isModuleAttribute(initializer))
    return "scalar";
  if (tensor.numElements() == 1 && !isModuleAttribute(initializer) &&
      usedAs(initializer, [](const Node &node, int) { return isElementwise(node.opType); }))
    return "scalar";
  if (isBufferName(initializer.name))
    return "named as a buffer";
  bool neutralScale = isAll(tensor, 1), neutralBias = isAll(tensor, 0);
  if (!isModuleAttribute(initializer) && (neutralScale || neutralBias) &&
      usedAs(initializer, [&](const Node &node, int operand) {
        return (node.is("InstanceNormalization") || node.is("BatchNormalization")) &&
               ((operand == 1 && neutralScale) || (operand == 2 && neutralBias));
      }))
    return "neutral scale or bias of a normalisation";
  if (!isModuleAttribute(initializer) && neutralBias &&
      usedAs(initializer, [](const Node &node, int operand) {
        return (node.is("LSTM") || node.is("GRU") || node.is("RNN")) && operand >= 5;
      }))
    return "initial state of zeros";
  if (usedAs(initializer, [&](const Node &node, int operand) {
        ValueId other = node.input(0);
        return (node.is("Sub") || node.is("Div")) && operand == 1 && other != kNoValue &&
               (graph.values[other].kind == GraphValue::Kind::Input ||
                (graph.values[other].kind == GraphValue::Kind::Result &&
                 graph.nodes[graph.values[other].index].is("Sub") &&
                 graph.values[graph.nodes[graph.values[other].index].input(0)].kind ==
                     GraphValue::Kind::Input));
      }))
    return "statistic: normalises a graph input";
  return std::nullopt;
}

/// Applies rules 7 and 8 to a tensor about which no earlier rule decided.
Classified Classifier::bySignature(const Initializer &initializer) {
  bool path = reaches[initializer.value];
  if (!path)
    return {Role::Constant, "no gradient path to an output", {}};
  if (signature.empty())
    return {Role::Parameter, "float on a gradient path", {}};

  if (usedAs(initializer, [](const Node &node, int) { return hasFoldedBatchNorm(node); }))
    return {Role::Parameter, "convolution with a BatchNorm folded in", {}};
  for (const Use &use : graph.values[initializer.value].uses) {
    std::vector<std::string> targets = unaccountedIn(graph.nodes[use.node].metadata(kFxNode));
    if (targets.empty())
      continue;
    accounted.insert(targets.front());
    return {Role::Parameter, "its node takes parameter " + targets.front(), {targets.front()}};
  }
  for (const SignatureEntry &entry : signature.inputs)
    if (entry.kind == "PARAMETER" && !accounted.count(entry.target))
      return {Role::Parameter,
              "float on a gradient path, and parameter " + entry.target + " is unaccounted for",
              {}};
  return {Role::Constant, "every parameter of the module is accounted for", {}};
}

Classified Classifier::classifyOne(const Initializer &initializer) {
  if (recordedKind(initializer) == kUpdatedKind)
    return {Role::Buffer, "updated by forward()", {}};
  if (!isFloat(initializer.tensor.type))
    return {Role::Constant, "not a float", {}};
  auto isStatistic = [](const Node &node, int operand) {
    return node.is("BatchNormalization") && operand >= 3;
  };
  // A newly initialized scale has the same values as a new variance (all ones), and
  // exporters merge equal initializers. So if a tensor is used as both, it is the scale,
  // which trains.
  if (usedAs(initializer, isStatistic) && !usedAs(initializer, [&](const Node &node, int operand) {
        return !isStatistic(node, operand);
      }))
    return {Role::Buffer, "running statistic of BatchNormalization", {}};
  if (std::optional<Classified> recorded = byRecord(initializer))
    return *recorded;
  if (std::optional<std::string> why = constantByLook(initializer))
    return {Role::Constant, *why, {}};
  return bySignature(initializer);
}

std::vector<Classified> Classifier::run() {
  for (const Initializer &initializer : graph.initializers)
    accountFor(initializer);
  std::vector<Classified> roles;
  for (const Initializer &initializer : graph.initializers)
    roles.push_back(classifyOne(initializer));
  return roles;
}

/// Marks the tensors that the module's state_dict has: all parameters, persistent
/// buffers, and constants that the signature lists as a parameter or persistent buffer. A
/// buffer that the signature does not list counts as persistent.
void markModuleState(const Graph &graph, std::vector<Classified> &roles) {
  const GraphSignature signature = graphSignature(graph);
  for (auto [initializer, classified] : llvm::zip_equal(graph.initializers, roles)) {
    const SignatureEntry *entry = signature.findTarget(initializer.name);
    const bool isListed = entry && (entry->kind == "PARAMETER" || entry->kind == "BUFFER");
    if (classified.role == Role::Buffer)
      classified.isOfModule = !isListed || entry->isPersistent;
    else if (classified.role == Role::Constant)
      classified.isOfModule = isListed && entry->isPersistent;
  }
}

} // namespace

StringRef roleName(Role role) {
  switch (role) {
  case Role::Parameter:
    return "parameter";
  case Role::Frozen:
    return "frozen";
  case Role::Buffer:
    return "buffer";
  case Role::Constant:
    return "constant";
  }
  return "";
}

llvm::Expected<std::vector<Classified>> classify(const Graph &graph,
                                                 llvm::ArrayRef<TrainingRequest> asked) {
  auto requests = TrainingRequests::create(graph, asked);
  if (!requests)
    return requests.takeError();
  std::vector<Classified> roles = Classifier(graph).run();
  std::vector<bool> trainsByDefault;
  for (const Classified &classified : roles)
    trainsByDefault.push_back(classified.role == Role::Parameter);
  if (llvm::Error error = requests->checkUsed(graph, trainsByDefault))
    return std::move(error);
  for (auto [initializer, classified, trains] :
       llvm::zip_equal(graph.initializers, roles, trainsByDefault)) {
    if (!isFloat(initializer.tensor.type))
      continue;
    TrainingRequests::Verdict verdict = requests->judge(initializer, trains);
    if (verdict == TrainingRequests::Verdict::byDefault)
      continue;
    if (verdict == TrainingRequests::Verdict::trains) {
      classified = Classified(Role::Parameter, "--trainable");
      continue;
    }
    // Buffers and constants keep their roles.
    if (!trains)
      continue;
    classified.role = Role::Frozen;
    classified.reason =
        verdict == TrainingRequests::Verdict::frozen ? "--frozen" : "not named by --trainable";
  }
  markModuleState(graph, roles);
  return roles;
}

void printClassification(const Graph &graph, llvm::ArrayRef<Classified> roles,
                         llvm::raw_ostream &os) {
  size_t width = 11;
  for (const Initializer &initializer : graph.initializers)
    width = std::max(width, initializer.name.size());
  auto row = [&](StringRef name, StringRef type, StringRef role, StringRef why) {
    os << llvm::left_justify(name, width) << "  " << llvm::left_justify(type, 22) << "  "
       << llvm::left_justify(role, 9) << "  " << why << '\n';
  };
  row("initializer", "type", "role", "why");
  for (auto [initializer, classified] : llvm::zip(graph.initializers, roles))
    row(initializer.name, typeText(initializer.tensor), roleName(classified.role),
        classified.reason);
}

} // namespace dpc::onnx
