//===- FindByMetadata.cpp - restoration from the default exporter's metadata =//
//
// Every node says in `fx_node` which ATen call it came from, with the module's
// own names of its arguments. Nodes of one call are matched with its arguments:
// what an operand was before equal tensors were merged, transposed or folded.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/ExporterMetadata.h"
#include "frontends/onnx/Restore/FxCall.h"
#include "frontends/onnx/Restore/RestorationPlan.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <set>

using llvm::StringRef;

namespace dpc::onnx {
namespace {

/// A float operand of the file's graph.
struct Operand {
  int32_t node;
  int32_t operand;
  const Initializer *initializer;
};

/// How an operand is one of the module's tensors.
struct Identified {
  Operand at;
  /// The tensor's own argument of the call; false when the call takes something
  /// computed from it.
  bool isArgument;
};

/// The nodes of one call, and what the call takes of the module.
struct CallNodes {
  FxCall call;
  std::vector<int32_t> nodes;
  /// Parameters and buffers among the arguments, in their order.
  std::vector<const SignatureEntry *> entries;
};

TensorKind kindOf(const SignatureEntry &entry) {
  return entry.kind == "PARAMETER" ? TensorKind::Parameter
         : entry.kind == "BUFFER"  ? TensorKind::Buffer
                                   : TensorKind::Constant;
}

StringRef lastName(StringRef target) {
  return target.substr(target.rfind('.') + 1);
}
StringRef ownerOf(StringRef target) {
  size_t dot = target.rfind('.');
  return dot == StringRef::npos ? StringRef() : target.take_front(dot);
}
std::string within(StringRef owner, StringRef name) {
  return owner.empty() ? name.str() : (owner + "." + name).str();
}

class Finder {
public:
  explicit Finder(const Graph &graph)
      : graph(graph), signature(graphSignature(graph)) {
    for (const Initializer &initializer : graph.initializers)
      byName[initializer.name] = &initializer;
  }

  RestorationPlan find();

private:
  bool isParameter(StringRef target) const {
    const SignatureEntry *entry = signature.findTarget(target);
    return entry && entry->kind == "PARAMETER";
  }
  const Initializer *inFile(StringRef name) const {
    auto found = byName.find(name.str());
    return found == byName.end() ? nullptr : found->second;
  }
  std::vector<std::string> parametersOf(const Initializer &initializer) const;

  /// The name of the call's argument that operand `operand` is, where a single
  /// node has them all in the same order; else empty.
  std::string argumentName(const CallNodes &group, int32_t node,
                           int32_t operand) const {
    std::vector<std::string> names =
        fxArguments(graph.nodes[node].metadata(kFxNode));
    return group.nodes.size() == 1 &&
                   names.size() == graph.nodes[node].inputs.size()
               ? names[operand]
               : std::string();
  }
  /// A parameter that no call names and no tensor was computed from.
  bool isUnaccounted(const SignatureEntry &entry) const {
    return entry.kind == "PARAMETER" && !inFile(entry.target) &&
           !named.count(entry.placeholder) && !foldedNames.count(entry.target);
  }
  void findMergedNodes();
  void planMergedNode(const CallNodes &group, int32_t kept,
                      llvm::ArrayRef<std::pair<int32_t, int32_t>> takers);

  void groupCalls();
  void identify(const CallNodes &group);
  void identifyLoose(const CallNodes &group, const Operand &at);
  void assign(StringRef target, const Operand &at, bool isArgument) {
    identified[target.str()].push_back({at, isArgument});
  }
  void findDroppedBiases(const CallNodes &group);
  void findTrainingNorms(const CallNodes &group);
  void planTensor(StringRef target, llvm::ArrayRef<Identified> found);
  std::optional<Derived> invert(const Identified &found) const;
  std::optional<Derived> invertFolded(const Initializer &initializer) const;
  void planConstants();
  void findFoldedNorms();
  void lose(StringRef target, const Initializer &initializer);

  const Graph &graph;
  GraphSignature signature;
  std::map<std::string, const Initializer *> byName;
  std::vector<CallNodes> groups;
  /// Operands by the target of the signature that they are.
  std::map<std::string, std::vector<Identified>> identified;
  /// Operands that merely equal a tensor of the module.
  std::vector<Operand> constants;
  /// Biases that the exporter dropped because they were zero.
  struct DroppedBias {
    int32_t node;
    std::string target;
    int64_t extent;
    ElementType type;
  };
  std::vector<DroppedBias> dropped;
  /// Placeholders that some call takes; parameters that a tensor of the file
  /// was computed from.
  std::set<std::string> named, foldedNames;
  /// Which group a node belongs to; -1: none.
  std::vector<int32_t> groupOfNode;
  std::set<std::string> lostNames;
  RestorationPlan plan;
};

/// The PARAMETERs that the exporter computed `initializer` from, or that it is.
std::vector<std::string>
Finder::parametersOf(const Initializer &initializer) const {
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

void Finder::groupCalls() {
  std::map<StringRef, size_t> groupOf;
  groupOfNode.assign(graph.nodes.size(), -1);
  for (const Initializer &initializer : graph.initializers)
    for (const std::string &name : foldedFrom(initializer))
      foldedNames.insert(name);
  for (auto [n, node] : llvm::enumerate(graph.nodes)) {
    StringRef text = node.metadata(kFxNode);
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

/// Matches the float operands of a call's nodes with its arguments: by what the
/// operator says of its operands; by the tensor's own name; what is left on
/// both sides by last name and in order.
void Finder::identify(const CallNodes &group) {
  // A recurrent operator's are joined from several, which train the same.
  if (isRecurrent(group.call) || llvm::any_of(group.nodes, [&](int32_t n) {
        return hasFoldedBatchNorm(graph.nodes[n]);
      }))
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
      if (!initializer || !isFloat(initializer->tensor.type))
        continue;
      Operand at{n, int32_t(i), initializer};
      std::optional<int> position =
          argumentOf(group.call, graph.nodes[n], at.operand);
      if (position && *position == kNoArgument)
        continue;
      if (position) {
        StringRef name = valueArgument(group.call, *position);
        const SignatureEntry *entry = signature.findPlaceholder(name);
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
      auto entry = llvm::find_if(left, [&](const SignatureEntry *each) {
        return fits(*each, open[i]);
      });
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
  // What is somebody else's: the exporter merged equal tensors.
  assignIf([&](const SignatureEntry &entry, const Operand &at) {
    std::vector<std::string> others = parametersOf(*at.initializer);
    return !inFile(entry.target) && others.size() == 1 &&
           lastName(others[0]) == lastName(entry.target);
  });
  assignIf([&](const SignatureEntry &entry, const Operand &at) {
    return !inFile(entry.target) && (!parametersOf(*at.initializer).empty() ||
                                     at.initializer->tensor.numElements() > 1);
  });
  assignIf([&](const SignatureEntry &entry, const Operand &at) {
    const Initializer *own = inFile(entry.target);
    return own && findDerivation(own->tensor, at.initializer->tensor);
  });
  for (const std::vector<Operand> &rest : {open, loose})
    for (const Operand &at : rest)
      identifyLoose(group, at);
}

/// An operand that no argument of its call names: the call takes something
/// computed from a parameter, or a number that merely equals one.
void Finder::identifyLoose(const CallNodes &group, const Operand &at) {
  const Initializer &initializer = *at.initializer;
  std::vector<std::string> sources = parametersOf(initializer);
  if (sources.empty())
    return; // Of no parameter.
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
  if (!isItself &&
      (argument.empty() ? llvm::is_contained(names, initializer.name)
                        : argument == initializer.name))
    return assign(source, at, false);

  // The calling module's own tensor of this name.
  std::string scope = callingModule(node);
  if (scope == ownerOf(source)) {
    // Or its only one that nothing else is known of.
    std::vector<std::string> others;
    if (!isItself && !argument.empty())
      for (const SignatureEntry &entry : signature.inputs)
        if (ownerOf(entry.target) == scope && isUnaccounted(entry))
          others.push_back(entry.target);
    if (others.size() > 1)
      return lose(others.front(), initializer);
    return assign(others.empty() ? source : others.front(), at, false);
  }
  std::string other = within(scope, lastName(source));
  if (isParameter(other) && !inFile(other))
    return assign(other, at, false);
  size_t uses = graph.values[initializer.value].uses.size();
  static const llvm::StringSet<> views = {
      "_to_copy", "alias",   "detach", "clone",   "contiguous", "view",
      "reshape",  "permute", "t",      "squeeze", "transpose",  "unsqueeze",
      "expand",   "slice",   "select", "type_as"};
  if (!isItself || uses == 1 || views.contains(stemOf(argument)))
    return assign(source, at, false);
  constants.push_back(at);
}

/// `RemoveOptionalBias..`: a bias of zeros was dropped from a convolution or
/// product whose call still names it.
void Finder::findDroppedBiases(const CallNodes &group) {
  StringRef op = group.call.op;
  int position = op == "addmm" ? 0 : 2;
  if (op != "addmm" && op != "linear" && !op.starts_with("conv"))
    return;
  const SignatureEntry *entry =
      signature.findPlaceholder(valueArgument(group.call, position));
  if (!entry || entry->target.empty())
    return;
  for (int32_t n : group.nodes) {
    const Node &node = graph.nodes[n];
    bool isProduct = node.is("Gemm");
    if ((!isProduct && !node.is("Conv") && !node.is("ConvTranspose")) ||
        node.inputs.size() != 2 || hasFoldedBatchNorm(node) ||
        !StringRef(node.metadata(kRewriterRule)).contains("RemoveOptionalBias"))
      continue;
    const Initializer *weight = graph.initializerOf(node.input(1));
    if (!weight || weight->tensor.shape.size() < 2)
      continue;
    auto attribute = [&](const char *name, int64_t fallback) {
      auto found = node.attributes.find(name);
      return found == node.attributes.end() ? fallback : found->second->i();
    };
    llvm::ArrayRef<int64_t> shape(weight->tensor.shape);
    int64_t extent = isProduct         ? shape[attribute("transB", 0) ? 0 : 1]
                     : node.is("Conv") ? shape[0]
                                       : shape[1] * attribute("group", 1);
    dropped.push_back({n, entry->target, extent, weight->tensor.type});
  }
}

/// aten's batch norm in training mode, which this exporter writes as ONNX's
/// inference form: (x, weight, bias, mean, variance, True, momentum, eps).
void Finder::findTrainingNorms(const CallNodes &group) {
  StringRef op = group.call.op;
  if (!op.starts_with("_native_batch_norm_legit") ||
      op.contains("no_training") || group.call.arguments.size() < 7 ||
      group.call.arguments[5] != "True")
    return;
  double momentum;
  if (StringRef(group.call.arguments[6]).getAsDouble(momentum))
    return;
  for (int32_t n : group.nodes) {
    const Node &node = graph.nodes[n];
    auto mode = node.attributes.find("training_mode");
    if (node.is("BatchNormalization") && node.inputs.size() == 5 &&
        (mode == node.attributes.end() || mode->second->i() == 0))
      plan.trainingNorms.push_back({n, 1 - momentum});
  }
}

void Finder::lose(StringRef target, const Initializer &initializer) {
  if (!lostNames.insert((target + "|" + initializer.name).str()).second)
    return;
  plan.lost.push_back(llvm::formatv(
      "parameter '{0}' is not in the file: the export computed '{1}' from it, "
      "and the file does not say how; torch.onnx.export(..., optimize=False) "
      "keeps it",
      target, initializer.name));
}

/// The module's tensor behind a computed one, from the names of what was
/// computed on the way.
std::optional<Derived>
Finder::invertFolded(const Initializer &initializer) const {
  static const llvm::StringSet<> views = {
      "_to_copy", "alias",   "detach",       "clone",   "contiguous",
      "view",     "reshape", "_unsafe_view", "permute", "transpose",
      "t",        "squeeze", "unsqueeze",    "flatten", "unflatten",
      "movedim",  "type_as", "to",           "slice",   "select",
      "narrow",   "split",   "getitem",      "chunk",   "split_with_sizes"};
  static const llvm::StringSet<> repeats = {"expand", "repeat", "tile",
                                            "expand_as", "repeat_interleave"};
  static const llvm::StringSet<> lookups = {"embedding", "index",
                                            "index_select", "gather"};
  // What only computes numbers that are differentiated, never places.
  static const llvm::StringSet<> arithmetic = {
      "linear",       "addmm",    "matmul", "mm",         "bmm",
      "einsum",       "sigmoid",  "tanh",   "exp",        "softmax",
      "relu",         "gelu",     "silu",   "layer_norm", "rsqrt",
      "softplus",     "conv1d",   "conv2d", "_softmax",   "sin",
      "cos",          "rms_norm", "sqrt",   "cat",        "linalg_vector_norm",
      "_weight_norm", "norm",     "stack"};
  const Tensor &value = initializer.tensor;
  StringRef stem = stemOf(initializer.name);
  bool looksUp = lookups.contains(stem), repeatsIt = false, computes = false;
  size_t others = 0, scalars = 0;
  double addend = 1;
  for (const std::string &name : foldedFrom(initializer)) {
    if (isParameter(name))
      continue; // The one parameter, or its equal that the exporter kept.
    ++others;
    scalars += StringRef(name).starts_with("val_") ||
               StringRef(name).starts_with("scalar");
    if (const Initializer *scalar = inFile(name);
        scalar && scalar->tensor.numElements() == 1)
      addend = scalar->tensor.asDouble(0);
    StringRef each = stemOf(name);
    looksUp |= lookups.contains(each);
    repeatsIt |= repeats.contains(each);
    if (arithmetic.contains(each))
      return std::nullopt;
    computes |= !StringRef(name).starts_with("val_") && !inFile(name) &&
                !signature.findTarget(name) && !views.contains(each) &&
                !repeats.contains(each) && !lookups.contains(each);
  }
  if (stem == "add" && others == 1 && scalars == 1) {
    Derivation minus(1), plus(1);
    minus[0].kind = plus[0].kind = DerivationStep::Kind::Add;
    minus[0].addend = -addend;
    plus[0].addend = addend;
    std::optional<Tensor> parameter = derive(value, minus);
    if (!parameter)
      return std::nullopt;
    return Derived{std::move(*parameter), std::move(plus)};
  }
  if (stem == "embedding" && value.shape.size() > 0) {
    if (isSplat(value))
      return std::nullopt;
    return distinctRows(value, 1);
  }
  if (repeats.contains(stem) && !looksUp && !computes)
    return collapseRepeated(value);
  if (!views.contains(stem) && !lookups.contains(stem) &&
      !repeats.contains(stem))
    return std::nullopt;
  if (looksUp || repeatsIt)
    return distinctRowsAnywhere(value);
  if (computes)
    return std::nullopt;
  return Derived{value, {}};
}

std::optional<Derived> Finder::invert(const Identified &found) const {
  const Tensor &value = found.at.initializer->tensor;
  if (!found.isArgument)
    return invertFolded(*found.at.initializer);
  // The call takes the tensor itself; ONNX's operand may be another view.
  const Node &node = graph.nodes[found.at.node];
  StringRef op = parseFxCall(node.metadata(kFxNode)).value_or(FxCall()).op;
  Derivation steps(1);
  if (op == "linear" && node.is("MatMul") && value.shape.size() == 2) {
    steps[0].kind = DerivationStep::Kind::Transpose;
    steps[0].dims = {1, 0};
    return Derived{*derive(value, steps), steps};
  }
  bool isPerChannel = op == "prelu" || op.ends_with("_norm");
  if (isPerChannel && value.shape.size() > 1 &&
      llvm::count_if(value.shape, [](int64_t each) { return each != 1; }) <=
          1) {
    Derivation flat(1);
    flat[0].kind = steps[0].kind = DerivationStep::Kind::Reshape;
    flat[0].dims = {value.numElements()};
    steps[0].dims = value.shape;
    return Derived{*derive(value, flat), steps};
  }
  return Derived{value, {}};
}

void Finder::planTensor(StringRef target, llvm::ArrayRef<Identified> found) {
  const SignatureEntry *entry = signature.findTarget(target);
  const Initializer *own = inFile(target);
  bool isWhole = own && llvm::all_of(found, [&](const Identified &each) {
                   return each.at.initializer == own;
                 });
  bool hasDropped = llvm::any_of(
      dropped, [&](const DroppedBias &each) { return each.target == target; });
  if (isWhole && !hasDropped)
    return;
  RestoredTensor tensor;
  tensor.name = target.str();
  tensor.kind = kindOf(*entry);
  tensor.isInFile = own != nullptr;
  std::map<const Initializer *, Derivation> steps;
  if (own) {
    tensor.value = own->tensor;
    steps[own] = {};
  } else if (found.empty()) {
    for (const DroppedBias &each : dropped)
      if (each.target == target)
        tensor.value = makeTensor(
            each.type, {each.extent},
            std::vector<char>(each.extent * elementBytes(each.type), 0));
  } else {
    // A use that names it says more than one that computes with it.
    const Identified *first = &found.front();
    for (const Identified &each : found)
      if (each.isArgument) {
        first = &each;
        break;
      }
    std::optional<Derived> inverse = invert(*first);
    if (!inverse)
      return lose(target, *first->at.initializer);
    tensor.value = std::move(inverse->parameter);
    steps[first->at.initializer] = std::move(inverse->steps);
  }
  std::vector<RestoredUse> uses;
  for (const Identified &each : found) {
    const Initializer *initializer = each.at.initializer;
    auto known = steps.find(initializer);
    if (known == steps.end()) {
      std::optional<Derivation> derivation =
          findDerivation(tensor.value, initializer->tensor);
      if (!derivation)
        return lose(target, *initializer);
      known = steps.emplace(initializer, std::move(*derivation)).first;
    }
    if (initializer != own)
      uses.push_back({each.at.node, each.at.operand, initializer->value,
                      plan.tensors.size(), known->second});
    if (initializer != own && !signature.findTarget(initializer->name) &&
        !llvm::is_contained(tensor.aliases, initializer->name))
      tensor.aliases.push_back(initializer->name);
  }
  for (const DroppedBias &each : dropped)
    if (each.target == target && llvm::ArrayRef<int64_t>(tensor.value.shape) ==
                                     llvm::ArrayRef<int64_t>(each.extent))
      uses.push_back({each.node, 2, kNoValue, plan.tensors.size(), {}});
  if (uses.empty())
    return;
  plan.tensors.push_back(std::move(tensor));
  plan.uses.insert(plan.uses.end(), uses.begin(), uses.end());
}

/// Numbers that merely equal a parameter get a copy that stays.
void Finder::planConstants() {
  std::map<const Initializer *, size_t> copies;
  for (const Operand &at : constants) {
    auto [found, isNew] =
        copies.try_emplace(at.initializer, plan.tensors.size());
    if (isNew) {
      RestoredTensor copy;
      copy.name = at.initializer->name + "/constant";
      copy.kind = TensorKind::Constant;
      copy.value = at.initializer->tensor;
      plan.tensors.push_back(std::move(copy));
    }
    plan.uses.push_back(
        {at.node, at.operand, at.initializer->value, found->second, {}});
  }
}

/// The values of a convolution and of the BatchNorm behind it are one product.
void Finder::findFoldedNorms() {
  std::vector<std::string> nodes;
  for (const Node &node : graph.nodes)
    if (hasFoldedBatchNorm(node))
      nodes.push_back(describe(node));
  if (!nodes.empty())
    plan.lost.push_back(llvm::formatv(
        "{0}: the export folded a BatchNorm into it{1}, whose parameters and "
        "statistics are lost; torch.onnx.export(..., optimize=False) keeps it",
        nodes.front(),
        nodes.size() > 1
            ? llvm::formatv(" (and into {0} more)", nodes.size() - 1).str()
            : std::string()));
}

/// Layers that begin alike and take one input were merged to one node (the two
/// norms of a parallel residual): the calls behind it still name the other
/// one's result, `%layer_norm_1`, which no node has any more.
void Finder::findMergedNodes() {
  std::map<std::pair<int32_t, std::string>,
           std::vector<std::pair<int32_t, int32_t>>>
      takers;
  std::set<std::string> results;
  for (const GraphValue &value : graph.values)
    results.insert(value.name);
  for (const Node &node : graph.nodes)
    results.insert(resultOf(node.metadata(kFxNode)).str());
  for (const CallNodes &group : groups)
    for (int32_t n : group.nodes)
      for (auto [i, value] : llvm::enumerate(graph.nodes[n].inputs)) {
        if (value == kNoValue ||
            graph.values[value].kind != GraphValue::Kind::Result)
          continue;
        int32_t kept = graph.values[value].index;
        if (groupOfNode[kept] < 0 || groups[groupOfNode[kept]].entries.empty())
          continue;
        StringRef own = resultOf(graph.nodes[kept].metadata(kFxNode));
        std::vector<std::string> names =
            fxArguments(graph.nodes[n].metadata(kFxNode));
        if (own.empty() || llvm::is_contained(names, own.str()))
          continue;
        for (const std::string &name : names)
          if (stemOf(name) == stemOf(own) && !results.count(name)) {
            takers[{kept, name}].push_back({n, int32_t(i)});
            break;
          }
      }
  for (const auto &[merged, found] : takers)
    planMergedNode(groups[groupOfNode[merged.first]], merged.first, found);
}

/// The parameters of the node that is gone: those of a module beside the kept
/// one's, of the same names, that nothing else is known of.
void Finder::planMergedNode(
    const CallNodes &group, int32_t kept,
    llvm::ArrayRef<std::pair<int32_t, int32_t>> takers) {
  std::string owner = ownerOf(group.entries.front()->target).str();
  std::set<std::string> candidates;
  for (const SignatureEntry &entry : signature.inputs)
    if (isUnaccounted(entry) &&
        ownerOf(ownerOf(entry.target)) == ownerOf(owner))
      candidates.insert(ownerOf(entry.target).str());
  for (auto it = candidates.begin(); it != candidates.end();) {
    bool fits = llvm::all_of(group.entries, [&](const SignatureEntry *entry) {
      const SignatureEntry *other =
          signature.findTarget(within(*it, lastName(entry->target)));
      return ownerOf(entry->target) == owner && other && isUnaccounted(*other);
    });
    it = fits ? std::next(it) : candidates.erase(it);
  }
  if (candidates.empty())
    return; // One module that was called twice.
  const Node &node = graph.nodes[kept];
  if (candidates.size() > 1) {
    plan.lost.push_back(llvm::formatv(
        "{0}: the export merged it with an equal one, of the parameters of "
        "'{1}' or '{2}'; torch.onnx.export(..., optimize=False) keeps them",
        describe(node), *candidates.begin(), *candidates.rbegin()));
    return;
  }
  RestoredNode copy{kept, {}, {takers.begin(), takers.end()}};
  for (const auto &[target, found] : identified)
    for (const Identified &each : found)
      if (each.at.node == kept && ownerOf(target) == owner) {
        const SignatureEntry *other =
            signature.findTarget(within(*candidates.begin(), lastName(target)));
        copy.operands.push_back({each.at.operand, plan.tensors.size()});
        named.insert(other->placeholder);
        plan.tensors.push_back({other->target,
                                kindOf(*other),
                                each.at.initializer->tensor,
                                false,
                                {}});
      }
  if (!copy.operands.empty())
    plan.nodes.push_back(std::move(copy));
}

RestorationPlan Finder::find() {
  findFoldedNorms();
  groupCalls();
  for (const CallNodes &group : groups) {
    identify(group);
    findDroppedBiases(group);
    findTrainingNorms(group);
  }
  for (const DroppedBias &each : dropped)
    identified[each.target]; // Also those that nothing else uses.
  for (const SignatureEntry &entry : signature.inputs)
    if (auto found = identified.find(entry.target); found != identified.end())
      planTensor(entry.target, found->second);
  planConstants();
  findMergedNodes();
  return std::move(plan);
}

} // namespace

RestorationPlan planByMetadata(const Graph &graph) {
  return Finder(graph).find();
}

} // namespace dpc::onnx
