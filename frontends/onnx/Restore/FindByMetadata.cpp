// Identifies the module's parameters by the metadata of PyTorch's default exporter.
//
// Nearly every node has an `fx_node` that quotes the ATen call from which it was
// exported, with the module's own names of the arguments. The finder matches the operands
// of a call's nodes with the arguments of the call. So it learns which parameter an
// operand was before the exporter merged, transposed or folded tensors.

#include "frontends/onnx/Restore/CompareCalls.h"
#include "frontends/onnx/Restore/MetadataFinder.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::StringRef;

namespace dpc::onnx {

TensorKind kindOf(const SignatureEntry &entry) {
  return entry.kind == "PARAMETER" ? TensorKind::Parameter
         : entry.kind == "BUFFER"  ? TensorKind::Buffer
                                   : TensorKind::Constant;
}

StringRef lastName(StringRef target) { return target.substr(target.rfind('.') + 1); }
StringRef ownerOf(StringRef target) {
  size_t dot = target.rfind('.');
  return dot == StringRef::npos ? StringRef() : target.take_front(dot);
}
std::string within(StringRef owner, StringRef name) {
  return owner.empty() ? name.str() : (owner + "." + name).str();
}

/// If the signature has an entry with the name of `initializer`: that name. Otherwise
/// the targets of the PARAMETERs from which the exporter computed `initializer`.
std::vector<std::string> MetadataFinder::parametersOf(const Initializer &initializer) const {
  std::vector<std::string> targets;
  if (const SignatureEntry *entry = signature.findTarget(initializer.name)) {
    targets.push_back(entry->target);
    return targets;
  }
  for (const std::string &name : foldedFrom(initializer))
    if (isParameter(name))
      targets.push_back(name);
  return targets;
}

void MetadataFinder::groupCalls() {
  std::map<StringRef, size_t> groupOf;
  groupOfNode.assign(graph.nodes.size(), -1);
  for (const Initializer &initializer : graph.initializers)
    for (const std::string &name : foldedFrom(initializer))
      foldedNames.insert(name);
  for (auto [n, node] : llvm::enumerate(graph.nodes)) {
    StringRef text = node.metadata(kFxNode);
    if (text.empty() && node.callers.empty() && !hasFoldedBatchNorm(node))
      silentNodes.push_back(int32_t(n));
    if (text.empty() || !node.callers.empty())
      continue;
    auto [found, isNew] = groupOf.try_emplace(text, groups.size());
    if (isNew) {
      std::optional<FxCall> call = parseFxCall(text);
      groups.push_back({call ? *call : FxCall(), {}, {}});
      for (const std::string &name : fxArguments(text)) {
        named.insert(name);
        if (const SignatureEntry *entry = signature.findPlaceholder(name);
            entry && !entry->target.empty())
          groups.back().entries.push_back(entry);
      }
    }
    groupOfNode[n] = int32_t(found->second);
    groups[found->second].nodes.push_back(int32_t(n));
  }
}

/// Whether the node reads only the type of the operand.
bool MetadataFinder::isReadForItsType(int32_t node, int32_t operand) const {
  return operand == 1 && graph.nodes[node].is("CastLike");
}

/// Matches the float operands of a call's nodes with the arguments of the call. It first
/// uses the known operands of the operator, then the names of the tensors. The remaining
/// operands are matched by the last parts of the names, then in their order, and finally
/// by the values of the tensors.
void MetadataFinder::identify(const CallNodes &group) {
  if (isRecurrent(group.call))
    return findRecurrent(group);
  if (llvm::any_of(group.nodes, [&](int32_t n) { return hasFoldedBatchNorm(graph.nodes[n]); }))
    return;
  std::vector<Operand> open;
  std::vector<const SignatureEntry *> left = group.entries;
  auto take = [&](const SignatureEntry *entry, const Operand &at) {
    assign(entry->target, at, true);
    if (auto found = llvm::find(left, entry); found != left.end())
      left.erase(found);
  };
  std::vector<Operand> loose;
  for (int32_t n : group.nodes)
    for (auto [i, value] : llvm::enumerate(graph.nodes[n].inputs)) {
      const Initializer *initializer = graph.initializerOf(value);
      if (!initializer || !isFloat(initializer->tensor.type) || isReadForItsType(n, i))
        continue;
      Operand at{n, int32_t(i), initializer};
      std::optional<int> position = argumentOf(group.call, graph.nodes[n], at.operand);
      if (position && *position == kNoArgument)
        continue;
      if (position) {
        StringRef name = valueArgument(group.call, *position);
        const SignatureEntry *entry = entryNamed(name);
        if (entry && !entry->target.empty())
          take(entry, at);
        else if (!name.empty())
          loose.push_back(at);
        continue;
      }
      open.push_back(at);
    }
  auto assignIf = [&](auto &&fits) {
    for (size_t i = 0; i < open.size();) {
      auto entry =
          llvm::find_if(left, [&](const SignatureEntry *each) { return fits(*each, open[i]); });
      if (entry == left.end()) {
        ++i;
        continue;
      }
      take(*entry, open[i]);
      open.erase(open.begin() + i);
    }
  };
  assignIf([&](const SignatureEntry &entry, const Operand &at) {
    return llvm::is_contained(parametersOf(*at.initializer), entry.target);
  });
  // If the operand has the name of another parameter, the exporter merged the two,
  // because they were equal.
  assignIf([&](const SignatureEntry &entry, const Operand &at) {
    std::vector<std::string> others = parametersOf(*at.initializer);
    return !inFile(entry.target) && others.size() == 1 &&
           lastName(others[0]) == lastName(entry.target);
  });
  assignIf([&](const SignatureEntry &entry, const Operand &at) {
    return !inFile(entry.target) &&
           (!parametersOf(*at.initializer).empty() || at.initializer->tensor.numElements() > 1);
  });
  assignIf([&](const SignatureEntry &entry, const Operand &at) {
    const Initializer *own = inFile(entry.target);
    return own && findDerivation(own->tensor, at.initializer->tensor);
  });
  // Several nodes of a call may read the same argument.
  left = group.entries;
  assignIf([&](const SignatureEntry &entry, const Operand &at) {
    return at.initializer->name == entry.target;
  });
  for (const std::vector<Operand> &rest : {open, loose})
    for (const Operand &at : rest)
      identifyLoose(group, at);
}

/// Identifies an operand that no argument of its call names. The operand is either a
/// value that the exporter computed from a parameter, or a constant that merely equals a
/// parameter.
void MetadataFinder::identifyLoose(const CallNodes &group, const Operand &at) {
  const Initializer &initializer = *at.initializer;
  std::vector<std::string> sources = parametersOf(initializer);
  if (sources.empty())
    return; // computed from no parameter
  if (identifyOfZeros(at, sources))
    return;
  if (sources.size() > 1) {
    for (const std::string &source : sources)
      if (isParameter(source))
        lose(source, initializer);
    return;
  }
  const std::string &source = sources.front();
  bool isItself = initializer.name == source;
  const Node &node = graph.nodes[at.node];
  std::string argument = argumentName(group, at.node, at.operand);
  std::vector<std::string> names = fxArguments(node.metadata(kFxNode));
  if (!isItself && (argument.empty() ? llvm::is_contained(names, initializer.name)
                                     : argument == initializer.name ||
                                           llvm::is_contained(foldedFrom(initializer), argument)))
    return assign(source, at, false, argument);

  // The source belongs to the calling module itself.
  std::string scope = callingModule(node);
  if (scope == ownerOf(source)) {
    // The operand may also be the only parameter of the module that is not identified
    // yet.
    std::vector<std::string> others;
    if ((!isItself || isMovedView({at, false, argument})) && !argument.empty())
      for (const SignatureEntry &entry : signature.inputs)
        if (ownerOf(entry.target) == scope && isUnaccounted(entry))
          others.push_back(entry.target);
    // If the call exchanges dimensions, either parameter may have become this matrix.
    if (others.size() > 1 || (isItself && !others.empty()))
      return lose(others.front(), initializer);
    return assign(others.empty() ? source : others.front(), at, false, argument);
  }
  std::string other = within(scope, lastName(source));
  if (isParameter(other) && !inFile(other))
    return assign(other, at, false, argument);
  size_t uses = graph.values[initializer.value].uses.size();
  ViewKind kind = viewKindOf(argument);
  if (!isItself || uses == 1 || kind != ViewKind::None || stemOf(argument) == "expand")
    return assign(source, at, false, argument);
  constants.push_back(at);
}

RestorationPlan MetadataFinder::find() {
  findFoldedNorms();
  groupCalls();
  statistics.emplace(graph, signature, groups);
  plan.lost.insert(plan.lost.end(), statistics->getLost().begin(), statistics->getLost().end());
  for (const CallNodes &group : groups) {
    identify(group);
    findDroppedBiases(group);
    findTrainingNorms(group);
    findFlaggedLookups(group);
  }
  for (int32_t node : silentNodes)
    identifySilent(node);
  for (const DroppedBias &each : dropped)
    identified[each.target]; // This adds biases that no other operand uses, too.
  for (const SignatureEntry &entry : signature.inputs)
    if (auto found = identified.find(entry.target); found != identified.end())
      planTensor(entry.target, found->second);
  planJoined();
  planConstants();
  findMergedNodes();
  return std::move(plan);
}

RestorationPlan planByMetadata(const Graph &graph) {
  RestorationPlan plan = MetadataFinder(graph).find();
  compareCalls(graph, plan);
  return plan;
}

} // namespace dpc::onnx
