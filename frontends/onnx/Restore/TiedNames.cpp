// Which names of the module's parameter list are other names of a tensor that
// the graph has.

#include "frontends/onnx/Restore/TiedNames.h"

#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Restore/MetadataFinder.h"

#include <set>

namespace dpc::onnx {

std::map<std::string, std::vector<std::string>> findTiedNames(const Graph &graph) {
  GraphSignature signature = graphSignature(graph);
  if (signature.empty())
    return {};
  std::set<std::string> present;
  for (const Initializer &initializer : graph.initializers) {
    present.insert(initializer.name);
    present.insert(initializer.aliases.begin(), initializer.aliases.end());
  }
  // The parameters of the list that nodes of their module take from elsewhere.
  std::map<std::string, std::set<std::string>> taken;
  for (const Node &node : graph.nodes) {
    // The last scope is the call itself, the one before it the module.
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
      if (own && other && own->kind == other->kind && !present.count(name))
        taken[name].insert(initializer->name);
    }
  }
  std::map<std::string, std::vector<std::string>> others;
  for (const auto &[name, initializers] : taken)
    if (initializers.size() == 1)
      others[*initializers.begin()].push_back(name);
  return others;
}

} // namespace dpc::onnx
