//===- Classify.cpp - which initializers are trained ----------------------===//

#include "frontends/onnx/Classify.h"

#include "frontends/onnx/ExporterMetadata.h"
#include "frontends/onnx/ValuePatterns.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"

#include <optional>
#include <set>

using llvm::StringRef;

namespace dpc::onnx {
namespace {

llvm::Error fail(const llvm::formatv_object_base &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message.str());
}

/// What the user asked for with --trainable and --frozen.
class Requests {
public:
  static llvm::Expected<Requests> parse(const Graph &graph,
                                        llvm::ArrayRef<std::string> trainable,
                                        llvm::ArrayRef<std::string> frozen);
  std::optional<Role> roleOf(const Initializer &initializer) const;

private:
  struct Request {
    std::string text;
    Role role;
    llvm::GlobPattern pattern;
  };
  static bool names(const Initializer &initializer, StringRef text) {
    return initializer.name == text ||
           llvm::is_contained(initializer.aliases, text.str());
  }
  static bool matches(const llvm::GlobPattern &pattern,
                      const Initializer &initializer) {
    return pattern.match(initializer.name) ||
           llvm::any_of(initializer.aliases, [&](const std::string &alias) {
             return pattern.match(alias);
           });
  }
  std::vector<Request> requests; // frozen first: it wins among globs
};

llvm::Expected<Requests> Requests::parse(const Graph &graph,
                                         llvm::ArrayRef<std::string> trainable,
                                         llvm::ArrayRef<std::string> frozen) {
  Requests result;
  std::set<std::string> frozenExact;
  auto add = [&](const std::string &text, Role role,
                 const char *option) -> llvm::Error {
    auto pattern = llvm::GlobPattern::create(text);
    if (!pattern) {
      llvm::consumeError(pattern.takeError());
      return fail(
          llvm::formatv("--{0}={1}: not a valid pattern", option, text));
    }
    const Initializer *exact = nullptr;
    bool any = false;
    for (const Initializer &initializer : graph.initializers) {
      if (names(initializer, text))
        exact = &initializer;
      any |= matches(*pattern, initializer);
    }
    if (!exact && !any)
      return fail(llvm::formatv("--{0}={1}: no initializer has this name",
                                option, text));
    if (exact && role == Role::Parameter && !isFloat(exact->tensor.type))
      return fail(
          llvm::formatv("--{0}={1}: is not a float tensor", option, text));
    if (exact && role == Role::Frozen)
      frozenExact.insert(exact->name);
    if (exact && role == Role::Parameter && frozenExact.count(exact->name))
      return fail(llvm::formatv(
          "initializer '{0}' is in both --trainable and --frozen", text));
    result.requests.push_back({text, role, std::move(*pattern)});
    return llvm::Error::success();
  };
  for (const std::string &text : frozen)
    if (llvm::Error error = add(text, Role::Frozen, "frozen"))
      return error;
  for (const std::string &text : trainable)
    if (llvm::Error error = add(text, Role::Parameter, "trainable"))
      return error;
  return std::move(result);
}

std::optional<Role> Requests::roleOf(const Initializer &initializer) const {
  for (const Request &request : requests)
    if (names(initializer, request.text))
      return request.role;
  for (const Request &request : requests)
    if (matches(request.pattern, initializer))
      return request.role;
  return std::nullopt;
}

class Classifier {
public:
  Classifier(const Graph &graph, Requests requests)
      : graph(graph), requests(std::move(requests)),
        signature(graphSignature(graph)), exporter(exporterOf(graph)),
        reaches(differentiablyReachesOutput(graph)) {}

  std::vector<Classified> run();

private:
  Classified classifyOne(const Initializer &initializer);
  Classified byRules(const Initializer &initializer);
  std::optional<Classified> byRecord(const Initializer &initializer);
  std::optional<std::string>
  constantByLook(const Initializer &initializer) const;
  Classified bySignature(const Initializer &initializer);
  void accountFor(const Initializer &initializer);
  std::vector<std::string>
  parametersIn(llvm::ArrayRef<std::string> names) const;
  std::vector<std::string> unaccountedIn(StringRef fxNode) const;
  bool usedAs(const Initializer &initializer,
              llvm::function_ref<bool(const Node &, int operand)> slot) const;
  bool isModuleAttribute(const Initializer &initializer) const {
    return exporter == Exporter::TorchScript &&
           !isGeneratedName(initializer.name);
  }

  const Graph &graph;
  Requests requests;
  GraphSignature signature;
  Exporter exporter;
  std::vector<bool> reaches;
  /// Targets of PARAMETERs that some initializer stands for.
  std::set<std::string> accounted;
};

bool Classifier::usedAs(
    const Initializer &initializer,
    llvm::function_ref<bool(const Node &, int operand)> slot) const {
  return llvm::any_of(
      graph.values[initializer.value].uses,
      [&](const Use &use) { return slot(graph.nodes[use.node], use.operand); });
}

/// The PARAMETER targets among initializer names.
std::vector<std::string>
Classifier::parametersIn(llvm::ArrayRef<std::string> names) const {
  std::vector<std::string> parameters;
  for (const std::string &name : names) {
    const SignatureEntry *entry = signature.findTarget(name);
    if (entry && entry->kind == "PARAMETER")
      parameters.push_back(name);
  }
  return parameters;
}

/// The PARAMETER targets an fx node takes that no initializer stands for yet.
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
  if (!isFloat(initializer.tensor.type))
    return;
  for (const std::string &target : parametersIn(foldedFrom(initializer)))
    accounted.insert(target);
}

/// Rules 4 to 6: what the exporter wrote down.
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
      return Classified{
          Role::Constant, "folded by the exporter from no parameter", {}};
    if (initializer.tensor.shape.empty())
      return Classified{Role::Constant, "scalar folded by the exporter", {}};
    if (looksLikeMask(initializer.tensor) || !reaches[initializer.value])
      return Classified{
          Role::Constant, "folded by the exporter, no gradient path", {}};
    return Classified{Role::Parameter,
                      std::string("folded by the exporter from parameter") +
                          (sources.size() > 1 ? "s " : " ") +
                          llvm::join(sources, ", "),
                      sources};
  }
  if (const SignatureEntry *entry = signature.findTarget(initializer.name)) {
    if (entry->kind == "PARAMETER")
      return Classified{Role::Parameter,
                        "named as a PARAMETER of the graph signature",
                        {entry->target}};
    if (entry->kind == "BUFFER")
      return Classified{
          Role::Buffer, "named as a BUFFER of the graph signature", {}};
    return Classified{Role::Constant,
                      "named as a " + entry->kind + " of the graph signature",
                      {}};
  }
  return std::nullopt;
}

bool isElementwise(StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Where", "Clip",
             "Mod", true)
      .Default(false);
}

/// Last path components that modules give to tensors that are no parameters.
bool isBufferName(StringRef name) {
  StringRef last = name.rsplit('.').second;
  if (last.empty())
    last = name;
  return llvm::StringSwitch<bool>(last)
      .Cases("mask", "attn_mask", "causal_mask", "attention_mask", "tril",
             "triu", true)
      .Cases("inv_freq", "original_inv_freq", "freqs", "freqs_cis", "freqs_cos",
             "freqs_sin", true)
      .Cases("cos", "sin", "cos_cached", "sin_cached", "relative_coords_table",
             "position_ids", true)
      .Cases("running_mean", "running_var", "num_batches_tracked", "anchors",
             "slopes", "final_logits_bias", true)
      .Default(false);
}

/// Rule 7: what the numbers and the place of use say.
std::optional<std::string>
Classifier::constantByLook(const Initializer &initializer) const {
  const Tensor &tensor = initializer.tensor;
  bool isContraction = usedAs(initializer, [](const Node &node, int) {
    return node.is("MatMul") || node.is("Gemm") || node.is("Conv") ||
           node.is("ConvTranspose") || node.is("LSTM") || node.is("GRU") ||
           node.is("RNN");
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
      usedAs(initializer,
             [](const Node &node, int) { return isElementwise(node.opType); }))
    return "scalar";
  if (isBufferName(initializer.name))
    return "named as a buffer";
  bool neutralScale = isAll(tensor, 1), neutralBias = isAll(tensor, 0);
  if (!isModuleAttribute(initializer) && (neutralScale || neutralBias) &&
      usedAs(initializer, [&](const Node &node, int operand) {
        return (node.is("InstanceNormalization") ||
                node.is("BatchNormalization")) &&
               ((operand == 1 && neutralScale) ||
                (operand == 2 && neutralBias));
      }))
    return "neutral scale or bias of a normalisation";
  if (!isModuleAttribute(initializer) && neutralBias &&
      usedAs(initializer, [](const Node &node, int operand) {
        return (node.is("LSTM") || node.is("GRU") || node.is("RNN")) &&
               operand >= 5;
      }))
    return "initial state of zeros";
  if (usedAs(initializer, [&](const Node &node, int operand) {
        ValueId other = node.input(0);
        return (node.is("Sub") || node.is("Div")) && operand == 1 &&
               other != kNoValue &&
               (graph.values[other].kind == GraphValue::Kind::Input ||
                (graph.values[other].kind == GraphValue::Kind::Result &&
                 graph.nodes[graph.values[other].index].is("Sub") &&
                 graph.values[graph.nodes[graph.values[other].index].input(0)]
                         .kind == GraphValue::Kind::Input));
      }))
    return "statistic: normalises a graph input";
  return std::nullopt;
}

/// Rules 8 and 9.
Classified Classifier::bySignature(const Initializer &initializer) {
  bool path = reaches[initializer.value];
  if (!path)
    return {Role::Constant, "no gradient path to an output", {}};
  if (signature.empty())
    return {Role::Parameter, "float on a gradient path", {}};

  if (usedAs(initializer,
             [](const Node &node, int) { return hasFoldedBatchNorm(node); }))
    return {Role::Parameter, "convolution with a BatchNorm folded in", {}};
  for (const Use &use : graph.values[initializer.value].uses) {
    std::vector<std::string> targets =
        unaccountedIn(graph.nodes[use.node].metadata(kFxNode));
    if (targets.empty())
      continue;
    accounted.insert(targets.front());
    return {Role::Parameter,
            "its node takes parameter " + targets.front(),
            {targets.front()}};
  }
  for (const SignatureEntry &entry : signature.inputs)
    if (entry.kind == "PARAMETER" && !accounted.count(entry.target))
      return {Role::Parameter,
              "float on a gradient path, and parameter " + entry.target +
                  " is unaccounted for",
              {}};
  return {Role::Constant, "every parameter of the module is accounted for", {}};
}

Classified Classifier::classifyOne(const Initializer &initializer) {
  if (!isFloat(initializer.tensor.type))
    return {Role::Constant, "not a float", {}};
  auto isStatistic = [](const Node &node, int operand) {
    return node.is("BatchNormalization") && operand >= 3;
  };
  // A fresh scale equals a fresh variance, and exporters merge equal
  // initializers: such a one is the scale.
  bool statistic = usedAs(initializer, isStatistic) &&
                   !usedAs(initializer, [&](const Node &node, int operand) {
                     return !isStatistic(node, operand);
                   });
  std::optional<Role> asked = requests.roleOf(initializer);
  if (asked == Role::Parameter)
    return {Role::Parameter, "--trainable", {}};
  if (statistic)
    return {Role::Buffer, "running statistic of BatchNormalization", {}};
  Classified found = byRules(initializer);
  if (asked == Role::Frozen && found.role == Role::Parameter)
    return {Role::Frozen, "--frozen", std::move(found.sources)};
  return found;
}

/// Rules 4 to 9.
Classified Classifier::byRules(const Initializer &initializer) {
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

llvm::Expected<std::vector<Classified>>
classify(const Graph &graph, llvm::ArrayRef<std::string> trainable,
         llvm::ArrayRef<std::string> frozen) {
  auto requests = Requests::parse(graph, trainable, frozen);
  if (!requests)
    return requests.takeError();
  return Classifier(graph, std::move(*requests)).run();
}

void printClassification(const Graph &graph, llvm::ArrayRef<Classified> roles,
                         llvm::raw_ostream &os) {
  size_t width = 11;
  for (const Initializer &initializer : graph.initializers)
    width = std::max(width, initializer.name.size());
  auto row = [&](StringRef name, StringRef type, StringRef role,
                 StringRef why) {
    os << llvm::left_justify(name, width) << "  "
       << llvm::left_justify(type, 22) << "  " << llvm::left_justify(role, 9)
       << "  " << why << '\n';
  };
  row("initializer", "type", "role", "why");
  for (auto [initializer, classified] : llvm::zip(graph.initializers, roles)) {
    std::string type =
        dataTypeName(static_cast<int32_t>(initializer.tensor.type)) + "[";
    for (auto [i, size] : llvm::enumerate(initializer.tensor.shape))
      type += (i ? "x" : "") + std::to_string(size);
    row(initializer.name, type + "]", roleName(classified.role),
        classified.reason);
  }
}

} // namespace dpc::onnx
