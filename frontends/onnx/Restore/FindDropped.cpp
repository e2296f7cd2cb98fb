// Finds operands, nodes and flags that the exporter left out of the graph.

#include "frontends/onnx/Restore/MetadataFinder.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::StringRef;

namespace dpc::onnx {

/// Finds biases that the exporter dropped. Its rule `RemoveOptionalBias..` drops a bias
/// of zeros from a convolution or product, but the call still names the bias.
void MetadataFinder::findDroppedBiases(const CallNodes &group) {
  StringRef op = group.call.op;
  int position = op == "addmm" ? 0 : 2;
  if (op != "addmm" && op != "linear" && !op.starts_with("conv"))
    return;
  const SignatureEntry *entry = signature.findPlaceholder(valueArgument(group.call, position));
  if (!entry || entry->target.empty())
    return;
  for (int32_t n : group.nodes) {
    const Node &node = graph.nodes[n];
    bool isProduct = node.is("Gemm");
    if ((!isProduct && !node.is("Conv") && !node.is("ConvTranspose")) || node.inputs.size() != 2 ||
        hasFoldedBatchNorm(node) ||
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

/// Finds calls of aten's batch norm in training mode, which this exporter writes in
/// ONNX's inference form.
void MetadataFinder::findTrainingNorms(const CallNodes &group) {
  if (!movesStatistics(group.call))
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

/// Whether `value` is the table of `bag`, a call of embedding_bag. The other lookups that
/// the exporter writes for the call read integers.
bool MetadataFinder::isTableOf(const CallNodes &bag, ValueId value) const {
  if (const Initializer *table = graph.initializerOf(value))
    return isFloat(table->tensor.type);
  const GraphValue &made = graph.values[value];
  return made.kind == GraphValue::Kind::Result &&
         resultOf(graph.nodes[made.index].metadata(kFxNode)) == valueArgument(bag.call, 0);
}

/// Finds the flags of aten's lookups that change the gradient: embedding (weight,
/// indices, padding_idx, scale_grad_by_freq) and embedding_bag (weight, indices,
/// offsets, scale_grad_by_freq, ..). The flags do not change the forward pass, so ONNX
/// has no attribute for them. For a bag, padding_idx needs no flag, because the exported
/// graph itself leaves that row out.
void MetadataFinder::findFlaggedLookups(const CallNodes &group) {
  llvm::ArrayRef<std::string> arguments(group.call.arguments);
  const bool isBag = group.call.op == "embedding_bag";
  if ((group.call.op != "embedding" && !isBag) || arguments.size() < 3)
    return;
  int64_t row;
  if (isBag || StringRef(arguments[2]).getAsInteger(10, row) || row < 0)
    row = -1;
  const bool isScaled = arguments.size() > 3 && arguments[3] == "True";
  if (row < 0 && !isScaled)
    return;
  bool isFound = false;
  for (int32_t n : group.nodes) {
    const Node &node = graph.nodes[n];
    if (!node.is("Gather") || (isBag && !isTableOf(group, node.input(0))))
      continue;
    plan.flaggedLookups.push_back({n, row, isScaled});
    isFound = true;
  }
  if (isBag && !isFound)
    plan.lost.push_back(llvm::formatv(
        "{0}: the export does not say which node looks up the rows of this embedding_bag, whose "
        "gradients are divided by counts (scale_grad_by_freq); "
        "torch.onnx.export(..., optimize=False) keeps it",
        describe(graph.nodes[group.nodes.front()])));
}

/// Reports convolutions with a folded BatchNorm. Their weight is the product of two
/// parameters, which cannot be separated.
void MetadataFinder::findFoldedNorms() {
  std::vector<std::string> nodes;
  for (const Node &node : graph.nodes)
    if (hasFoldedBatchNorm(node))
      nodes.push_back(describe(node));
  if (!nodes.empty())
    plan.lost.push_back(llvm::formatv(
        "{0}: the export folded a BatchNorm into it{1}, whose parameters and "
        "statistics are lost; torch.onnx.export(..., optimize=False) keeps it",
        nodes.front(),
        nodes.size() > 1 ? llvm::formatv(" (and into {0} more)", nodes.size() - 1).str()
                         : std::string()));
}

/// The parameters that `node` reads, each with its operand.
MetadataFinder::Reads MetadataFinder::parametersAt(int32_t node) const {
  Reads parameters;
  if (auto found = reads.find(node); found != reads.end())
    llvm::copy_if(found->second, std::back_inserter(parameters),
                  [&](const auto &read) { return isParameter(read.first); });
  return parameters;
}

/// The node of a layer that reads the layer's parameters, if `node` is the last node of
/// the layer. It is `node` itself, or a node whose result reaches `node` through a chain
/// of nodes that have no other computed operand. -1 if no such node exists.
int32_t MetadataFinder::readerOfParameters(int32_t node) const {
  constexpr int most = 8;
  for (int i = 0; i < most; ++i) {
    if (!parametersAt(node).empty())
      return node;
    int32_t maker = -1;
    for (ValueId value : graph.nodes[node].inputs) {
      if (value == kNoValue || graph.values[value].kind != GraphValue::Kind::Result)
        continue;
      if (maker >= 0 && maker != graph.values[value].index)
        return -1;
      maker = graph.values[value].index;
    }
    if (maker < 0)
      return -1;
    node = maker;
  }
  return -1;
}

/// Finds merged layers. If two layers have equal initial values and the same input (e.g.
/// the two norms of a parallel residual), the exporter writes one node for both. Later
/// calls still name the result of the other layer, e.g. `%layer_norm_1`, but no value of
/// the file has that name.
void MetadataFinder::findMergedNodes() {
  for (const auto &[target, found] : identified)
    for (const Identified &each : found)
      reads[each.at.node].push_back({target, &each});
  std::map<std::pair<int32_t, std::string>, std::vector<std::pair<int32_t, int32_t>>> takers;
  std::set<std::string> results;
  for (const GraphValue &value : graph.values)
    results.insert(value.name);
  for (const Node &node : graph.nodes)
    results.insert(resultOf(node.metadata(kFxNode)).str());
  for (const CallNodes &group : groups)
    for (int32_t n : group.nodes)
      for (auto [i, value] : llvm::enumerate(graph.nodes[n].inputs)) {
        if (value == kNoValue || graph.values[value].kind != GraphValue::Kind::Result)
          continue;
        int32_t kept = graph.values[value].index;
        StringRef own = resultOf(graph.nodes[kept].metadata(kFxNode));
        std::vector<std::string> names = fxArguments(graph.nodes[n].metadata(kFxNode));
        if (groupOfNode[kept] < 0 || own.empty() || llvm::is_contained(names, own.str()))
          continue;
        for (const std::string &name : names)
          if (stemOf(name) == stemOf(own) && !results.count(name)) {
            takers[{kept, name}].push_back({n, int32_t(i)});
            break;
          }
      }
  for (const auto &[merged, found] : takers) {
    const int32_t kept = merged.first, reader = readerOfParameters(kept);
    if (reader >= 0 && groupOfNode[reader] >= 0 && !planMergedModule(reader, reader == kept, found))
      planMergedTensor(reader, reader == kept, found);
  }
}

void MetadataFinder::loseTwin(int32_t reader, const std::string &of) {
  plan.lost.push_back(llvm::formatv("{0}: the export merged it with an equal one, of {1}; "
                                    "torch.onnx.export(..., optimize=False) keeps them",
                                    describe(graph.nodes[reader]), of));
}

/// Plans the parameters of the dropped node. They belong to a sibling of the kept node's
/// module, their names have the same last parts, and no operand was identified with them.
/// False if no sibling has such parameters.
bool MetadataFinder::planMergedModule(int32_t reader, bool isKept,
                                      llvm::ArrayRef<std::pair<int32_t, int32_t>> takers) {
  const CallNodes &group = groups[groupOfNode[reader]];
  if (group.entries.empty())
    return false;
  std::string owner = ownerOf(group.entries.front()->target).str();
  std::set<std::string> candidates;
  for (const SignatureEntry &entry : signature.inputs)
    if (isUnaccounted(entry) && ownerOf(entry.target) != owner &&
        ownerOf(ownerOf(entry.target)) == ownerOf(owner))
      candidates.insert(ownerOf(entry.target).str());
  for (auto it = candidates.begin(); it != candidates.end();) {
    bool fits = llvm::all_of(group.entries, [&](const SignatureEntry *entry) {
      const SignatureEntry *other = signature.findTarget(within(*it, lastName(entry->target)));
      return ownerOf(entry->target) == owner && other && isUnaccounted(*other);
    });
    it = fits ? std::next(it) : candidates.erase(it);
  }
  if (candidates.empty())
    return false; // one module that is called twice
  if (candidates.size() > 1 || !isKept) {
    std::string of = "the parameters of '" + *candidates.begin() + "'";
    if (candidates.size() > 1)
      of += " or '" + *candidates.rbegin() + "'";
    loseTwin(reader, of);
    return true;
  }
  RestoredNode copy{reader, {}, {takers.begin(), takers.end()}};
  for (const auto &[target, each] : reads[reader])
    if (ownerOf(target) == owner) {
      const SignatureEntry *other =
          signature.findTarget(within(*candidates.begin(), lastName(target)));
      copy.operands.push_back({each->at.operand, plan.tensors.size()});
      named.insert(other->placeholder);
      plan.tensors.push_back(
          {other->target, kindOf(*other), each->at.initializer->tensor, false, {}});
    }
  if (!copy.operands.empty())
    plan.nodes.push_back(std::move(copy));
  return true;
}

/// Like planMergedModule, but for two parameters of one module: of `h * self.p` and `h *
/// self.q` the file has only the first product.
void MetadataFinder::planMergedTensor(int32_t reader, bool isKept,
                                      llvm::ArrayRef<std::pair<int32_t, int32_t>> takers) {
  const auto read = parametersAt(reader);
  const std::string owner = ownerOf(read.front().first).str();
  std::vector<const SignatureEntry *> candidates;
  for (const SignatureEntry &entry : signature.inputs)
    if (isUnaccounted(entry) && ownerOf(entry.target) == owner)
      candidates.push_back(&entry);
  if (candidates.empty())
    return;
  const auto &[target, at] = read.front();
  if (candidates.size() > 1 || read.size() > 1 || !isKept || !at->isArgument ||
      at->at.initializer->name != target)
    return loseTwin(reader, "parameter '" + candidates.front()->target + "'");
  RestoredNode copy{reader, {}, {takers.begin(), takers.end()}};
  copy.operands.push_back({at->at.operand, plan.tensors.size()});
  named.insert(candidates.front()->placeholder);
  plan.tensors.push_back({candidates.front()->target,
                          kindOf(*candidates.front()),
                          at->at.initializer->tensor,
                          false,
                          {}});
  plan.nodes.push_back(std::move(copy));
}

} // namespace dpc::onnx
