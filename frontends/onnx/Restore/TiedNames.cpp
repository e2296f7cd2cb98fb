// Finds names of the module's parameters that are further names of a tensor in the graph.

#include "frontends/onnx/Restore/TiedNames.h"

#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Restore/MetadataFinder.h"

#include <set>

namespace dpc::onnx {

namespace {

/// A naming convention for tied parameters, used if no call of the graph decides. A
/// name that ends in `ending` ("m.cls.predictions.bias") denotes the tensor whose
/// name has `instead` in place of that ending.
struct Convention {
  llvm::StringLiteral ending, instead;
};

/// The names of tied parameters in transformers (_tied_weights_keys of its models)
/// that belong to no called module.
constexpr Convention kConventions[] = {
    {"shared.weight", "encoder.embed_tokens.weight"},
    {"shared.weight", "decoder.embed_tokens.weight"},
    {"shared.weight", "text_encoder.embed_tokens.weight"},
    {"shared.weight", "text_decoder.embed_tokens.weight"},
    {"encoder.embed_tokens.weight", "shared.weight"},
    {"decoder.embed_tokens.weight", "shared.weight"},
    {"predictions.bias", "predictions.decoder.bias"},
    {"lm_head.bias", "lm_head.decoder.bias"},
};

class TiedNames {
public:
  explicit TiedNames(const Graph &graph) : graph(graph), signature(graphSignature(graph)) {
    for (const Initializer &initializer : graph.initializers)
      holder[initializer.name] = initializer.name;
    for (const Initializer &initializer : graph.initializers)
      for (const std::string &alias : initializer.aliases)
        holder.try_emplace(alias, initializer.name);
  }

  std::map<std::string, std::vector<std::string>> run() {
    addAliases();
    addCalledModules();
    addConventions();
    return std::move(others);
  }

private:
  /// Adds the names of Identity nodes of the file that are names of the module's
  /// parameters.
  void addAliases() {
    const bool isTorchScript = exporterOf(graph) == Exporter::TorchScript;
    for (const Initializer &initializer : graph.initializers)
      for (const std::string &alias : initializer.aliases) {
        const SignatureEntry *entry = signature.findTarget(alias);
        const bool isOfModule =
            entry ? entry->kind == "PARAMETER"
                  : isTorchScript && !isGeneratedName(initializer.name) && !isGeneratedName(alias);
        if (isOfModule && holder[alias] == initializer.name)
          others[initializer.name].push_back(alias);
      }
  }

  /// Adds parameters that the signature lists but the file lacks, if the nodes of their
  /// module read a tensor with another name.
  void addCalledModules() {
    std::map<std::string, std::set<std::string>> taken;
    for (const Node &node : graph.nodes) {
      // The last scope is the call itself, and the scope before it is the module.
      std::vector<std::string> scopes = parsePythonList(node.metadata(kNameScopes));
      if (scopes.size() < 2)
        continue;
      const std::string &module = scopes[scopes.size() - 2];
      for (ValueId input : node.inputs) {
        const Initializer *initializer = graph.initializerOf(input);
        if (!initializer)
          continue;
        const SignatureEntry *own = signature.findTarget(initializer->name);
        std::string name = within(module, lastName(initializer->name));
        const SignatureEntry *other = signature.findTarget(name);
        if (own && other && own->kind == other->kind && !holder.count(name))
          taken[name].insert(initializer->name);
      }
    }
    for (const auto &[name, initializers] : taken)
      if (initializers.size() == 1)
        add(name, *initializers.begin());
  }

  void addConventions() {
    for (const SignatureEntry &entry : signature.inputs) {
      if (entry.kind != "PARAMETER" || holder.count(entry.target))
        continue;
      std::set<std::string> found;
      for (const Convention &convention : kConventions) {
        llvm::StringRef stem = entry.target;
        if (!stem.consume_back(convention.ending) || (!stem.empty() && !stem.ends_with(".")))
          continue;
        auto known = holder.find(stem.str() + convention.instead.str());
        if (known != holder.end())
          found.insert(known->second);
      }
      if (found.size() == 1)
        add(entry.target, *found.begin());
    }
  }

  void add(const std::string &name, const std::string &initializer) {
    others[initializer].push_back(name);
    holder[name] = initializer;
  }

  const Graph &graph;
  const GraphSignature signature;
  /// Maps each name of a tensor to the name of its initializer in the graph.
  std::map<std::string, std::string> holder;
  std::map<std::string, std::vector<std::string>> others;
};

} // namespace

std::map<std::string, std::vector<std::string>> findTiedNames(const Graph &graph) {
  return TiedNames(graph).run();
}

} // namespace dpc::onnx
