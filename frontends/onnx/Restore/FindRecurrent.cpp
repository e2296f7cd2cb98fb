// Finds the parameters of recurrent operators.
//
// PyTorch's lstm and gru take a flat list of parameters. ONNX's operators take one
// tensor for the input weights of all directions, one for the state weights and one
// for both biases, with the gates in another order. The call and the operator compute the
// same, so the order of the list tells to which parameter each row of an operand belongs.
// Cells that the module calls step by step (nn.LSTMCell) are exported as products; the
// state in the first product is zeros.

#include "frontends/onnx/Restore/MetadataFinder.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using llvm::StringRef;

namespace dpc::onnx {
namespace {

/// The arguments of `aten.lstm(x, [h, c], [weights..], has_biases, layers, dropout,
/// train, bidirectional, batch_first)`. A call of gru has one state instead of two.
struct RecurrentCall {
  std::vector<std::string> states, parameters;
  int64_t layers = 0, directions = 1;
  bool hasBiases = true;

  size_t perDirection() const { return hasBiases ? 4 : 2; }
};

std::vector<std::string> namesIn(StringRef text) {
  std::vector<std::string> names;
  while (true) {
    text = text.drop_until([](char c) { return c == '%'; });
    if (text.empty())
      return names;
    names.push_back(resultOf(text).str());
    text = text.drop_front();
  }
}

std::optional<RecurrentCall> parse(const FxCall &call) {
  RecurrentCall parsed;
  if (call.arguments.size() < 8 || StringRef(call.arguments[4]).getAsInteger(10, parsed.layers) ||
      parsed.layers < 1)
    return std::nullopt;
  parsed.states = namesIn(call.arguments[1]);
  parsed.parameters = namesIn(call.arguments[2]);
  parsed.hasBiases = call.arguments[3] == "True";
  parsed.directions = call.arguments[7] == "True" ? 2 : 1;
  return parsed;
}

/// For each gate in ONNX's order, its position in PyTorch's order. LSTM: ONNX has i, o,
/// f, c, and PyTorch has i, f, c, o. GRU: ONNX has z, r, h, and PyTorch has r, z, h.
llvm::SmallVector<int64_t, 4> gatesOf(const Node &node) {
  if (node.is("LSTM"))
    return {0, 3, 1, 2};
  if (node.is("GRU"))
    return {1, 0, 2};
  return {0};
}

/// Cuts one parameter out of `operand`, which consists of `count` parameters: the one at
/// position `which`, with its gates in PyTorch's order.
std::optional<Tensor> cut(const Tensor &operand, bool isBias, size_t count, size_t which,
                          llvm::ArrayRef<int64_t> gates) {
  int64_t columns = isBias ? 1 : operand.shape.back(), blocks = count * gates.size();
  if (columns < 1 || operand.numElements() % (columns * blocks) != 0)
    return std::nullopt;
  int64_t rows = operand.numElements() / columns / blocks;
  size_t bytes = rows * columns * elementBytes(operand.type);
  std::vector<char> values(bytes * gates.size());
  for (auto [i, gate] : llvm::enumerate(gates))
    std::copy_n(operand.bytes.begin() + (which * gates.size() + i) * bytes, bytes,
                values.begin() + gate * bytes);
  llvm::SmallVector<int64_t> shape = {int64_t(rows * gates.size())};
  if (!isBias)
    shape.push_back(columns);
  return makeTensor(operand.type, shape, std::move(values));
}

/// Finds the initializers that an operand of a recurrent operator consists of: one per
/// direction, or one for all directions. The initializer of an entry is null if nodes
/// compute that part of the operand.
class Leaves {
public:
  Leaves(const Graph &graph, llvm::ArrayRef<int32_t> nodes) : graph(graph), nodes(nodes) {}

  void visit(int32_t node, int32_t operand) {
    ValueId value = graph.nodes[node].input(operand);
    const Initializer *initializer = graph.initializerOf(value);
    const Node *maker = graph.makerOf(value);
    const int32_t made = maker ? graph.values[value].index : -1;
    if (!llvm::is_contained(nodes, made))
      maker = nullptr;
    if (maker && maker->is("Unsqueeze"))
      return visit(made, 0);
    if (maker && maker->is("Concat")) {
      for (size_t i = 0; i < maker->inputs.size(); ++i)
        visit(made, int32_t(i));
      return;
    }
    found.push_back({node, operand, initializer});
  }

  std::vector<Operand> found;

private:
  const Graph &graph;
  llvm::ArrayRef<int32_t> nodes;
};

} // namespace

void MetadataFinder::findRecurrent(const CallNodes &group) {
  std::vector<int32_t> layers;
  for (int32_t n : group.nodes)
    if (const Node &node = graph.nodes[n]; node.is("LSTM") || node.is("GRU") || node.is("RNN"))
      layers.push_back(n);
  std::optional<RecurrentCall> call = parse(group.call);
  if (!call || int64_t(layers.size()) != call->layers)
    return;
  const size_t directions = call->directions, each = call->perDirection();
  if (call->parameters.size() != layers.size() * directions * each) {
    plan.lost.push_back(
        llvm::formatv("{0}: the export left out the projection of its states (proj_size); no "
                      "torch.onnx.export writes it",
                      describe(graph.nodes[layers.front()])));
    return;
  }
  for (auto [layer, n] : llvm::enumerate(layers)) {
    for (int32_t operand : {1, 2, 3}) {
      if (graph.nodes[n].input(operand) == kNoValue)
        continue;
      Leaves leaves(graph, group.nodes);
      leaves.visit(n, operand);
      // The names of the parameters in this operand, for all directions.
      std::vector<std::string> names;
      for (size_t d = 0; d < directions; ++d) {
        auto first = call->parameters.begin() + (layer * directions + d) * each;
        if (operand < 3)
          names.push_back(first[operand - 1]);
        else
          names.insert(names.end(), first + 2, first + 4);
      }
      if (names.size() % leaves.found.size() != 0)
        continue;
      size_t share = names.size() / leaves.found.size();
      for (auto [i, leaf] : llvm::enumerate(leaves.found)) {
        if (!leaf.initializer || !isFloat(leaf.initializer->tensor.type))
          continue;
        Joined use{leaf.node,   leaf.operand, leaf.initializer, {}, gatesOf(graph.nodes[n]),
                   operand == 3};
        for (size_t k = i * share; k < (i + 1) * share; ++k)
          if (const SignatureEntry *entry = signature.findPlaceholder(names[k]);
              entry && !entry->target.empty())
            use.targets.push_back(entry->target);
        if (share == 1 && use.targets == std::vector<std::string>{leaf.initializer->name})
          continue; // the initializer is the parameter, and other nodes may use it
        if (use.targets.size() == share)
          joined.push_back(std::move(use));
        else // computed from other parameters
          for (const std::string &source : parametersOf(*leaf.initializer))
            lose(source, *leaf.initializer);
      }
    }
  }
  for (auto [i, state] : llvm::enumerate(call->states))
    findFirstState(layers, int32_t(5 + i), state);
}

/// Finds an initial state that is trained. The state is a parameter, or a parameter
/// repeated for each sample. Every layer reads its own rows of the state.
void MetadataFinder::findFirstState(llvm::ArrayRef<int32_t> layers, int32_t operand,
                                    StringRef argument) {
  std::vector<Operand> at;
  for (int32_t node : layers) {
    ValueId value = graph.nodes[node].input(operand);
    const Initializer *initializer = graph.initializerOf(value);
    if (!initializer)
      return;
    at.push_back({node, operand, initializer});
  }
  const Initializer &first = *at.front().initializer;
  const SignatureEntry *entry = signature.findPlaceholder(argument);
  std::vector<std::string> sources = parametersOf(first);
  bool isItself = entry && !entry->target.empty();
  if ((isItself && first.name == entry->target) || (!isItself && sources.empty()))
    return;
  std::string target = isItself ? entry->target : sources.front();
  if (!isItself && sources.size() > 1)
    return lose(target, first);
  if (!isItself && !llvm::is_contained(foldedFrom(first), argument)) {
    // The exporter merged the state with an equal tensor. The state must then be the only
    // parameter of the module that is not identified.
    std::vector<std::string> others;
    for (const SignatureEntry &other : signature.inputs)
      if (ownerOf(other.target) == ownerOf(target) && isUnaccounted(other))
        others.push_back(other.target);
    if (others.empty() && signature.findTarget(first.name))
      return; // the file has the parameter unchanged
    if (others.size() != 1)
      return lose(target, first);
    target = others.front();
  }
  if (layers.size() == 1)
    return assign(target, at.front(), isItself, argument);
  if (!isItself && llvm::any_of(foldedFrom(first), [&](StringRef name) {
        return !name.starts_with("val_") && !isParameter(name) && stemOf(name) != "expand";
      }))
    return lose(target, first);
  layeredStates.push_back({target, isItself, std::move(at)});
}

/// Plans an initial state of several layers as the concatenation of their rows.
void MetadataFinder::planLayered(size_t position) {
  const LayeredState &state = layeredStates[position];
  const Tensor &first = state.layers.front().initializer->tensor;
  auto shape = llvm::to_vector<6>(first.shape);
  std::vector<char> bytes;
  for (const Operand &at : state.layers)
    bytes.insert(bytes.end(), at.initializer->tensor.bytes.begin(),
                 at.initializer->tensor.bytes.end());
  int64_t rows = shape[0];
  shape[0] *= int64_t(state.layers.size());
  Derived whole{makeTensor(first.type, shape, std::move(bytes)), {}};
  if (!state.isItself)
    whole = collapseRepeated(whole.parameter, 1);
  std::optional<size_t> tensor = planJoinedTensor(state.target, std::move(whole.parameter));
  if (!tensor)
    return lose(state.target, *state.layers.front().initializer);
  for (auto [i, at] : llvm::enumerate(state.layers)) {
    Derivation steps = whole.steps;
    steps.push_back(
        {DerivationStep::Kind::Slice, {int64_t(i) * rows, int64_t(i + 1) * rows}, {}, 0});
    plan.uses.push_back({at.node, at.operand, at.initializer->value, *tensor, std::move(steps)});
    addAlias(*tensor, *at.initializer);
  }
}

/// Identifies the operands of a node without metadata. The exporter made this node for
/// several calls (e.g. a Split), and computed its initializers from parameters of the
/// module.
void MetadataFinder::identifySilent(int32_t node) {
  for (auto [i, value] : llvm::enumerate(graph.nodes[node].inputs)) {
    const Initializer *initializer = graph.initializerOf(value);
    if (!initializer || !isFloat(initializer->tensor.type) ||
        signature.findTarget(initializer->name))
      continue;
    Operand at{node, int32_t(i), initializer};
    std::vector<std::string> sources = parametersOf(*initializer);
    if (sources.empty() || identifyOfZeros(at, sources))
      continue;
    if (sources.size() == 1)
      assign(sources.front(), at, false);
    else
      for (const std::string &source : sources)
        lose(source, *initializer);
  }
}

/// Identifies an operand of the first step of a recurrent cell, whose initial state is
/// zeros. The exporter dropped the product of these zeros and the weight. The remaining
/// operand is the bias, repeated for each sample, or zeros.
bool MetadataFinder::identifyOfZeros(const Operand &at, llvm::ArrayRef<std::string> sources) {
  const Initializer &initializer = *at.initializer;
  if (stemOf(initializer.name) != "linear" || sources.size() > 2)
    return false;
  bool hasZeros = false;
  for (const std::string &name : foldedFrom(initializer)) {
    bool isZeros = stemOf(name) == "zeros";
    hasZeros |= isZeros;
    if (!isZeros && !StringRef(name).starts_with("val_") && !isParameter(name) &&
        stemOf(name) != "expand" && viewKindOf(name) == ViewKind::None)
      return false;
  }
  if (!hasZeros)
    return false;
  if (sources.size() == 1 &&
      llvm::all_of(initializer.tensor.bytes, [](char byte) { return byte == 0; })) {
    constants.push_back(at);
    return true;
  }
  // The call of a later step tells which of the two is the bias.
  for (const std::string &source : sources)
    for (const CallNodes &group : groups)
      if (sources.size() == 2 && group.call.op == "linear" &&
          valueArgument(group.call, 2) == signature.findTarget(source)->placeholder) {
        assign(source, at, false);
        return true;
      }
  return false;
}

/// The position in the plan of the restored tensor `target`, which must have the value
/// `value`. Adds the tensor to the plan if it is missing. nullopt if the plan or the file
/// has another value for `target`.
std::optional<size_t> MetadataFinder::planJoinedTensor(const std::string &target, Tensor value) {
  for (auto [i, tensor] : llvm::enumerate(plan.tensors))
    if (tensor.name == target)
      return isSame(tensor.value, value) ? std::optional(i) : std::nullopt;
  const Initializer *own = inFile(target);
  if (own && !isSame(own->tensor, value))
    return std::nullopt;
  plan.tensors.push_back(
      {target, kindOf(*signature.findTarget(target)), std::move(value), own != nullptr, {}});
  return plan.tensors.size() - 1;
}

void MetadataFinder::addAlias(size_t tensor, const Initializer &initializer) {
  std::vector<std::string> &aliases = plan.tensors[tensor].aliases;
  if (!signature.findTarget(initializer.name) && !llvm::is_contained(aliases, initializer.name))
    aliases.push_back(initializer.name);
}

void MetadataFinder::planJoined() {
  for (size_t i = 0; i < layeredStates.size(); ++i)
    planLayered(i);
  for (const Joined &use : joined) {
    const Initializer &initializer = *use.initializer;
    JoinedUse planned{use.node, use.operand, initializer.value, {}, use.gates};
    for (auto [i, target] : llvm::enumerate(use.targets)) {
      std::optional<Tensor> value =
          cut(initializer.tensor, use.isBias, use.targets.size(), i, use.gates);
      std::optional<size_t> tensor =
          value ? planJoinedTensor(target, std::move(*value)) : std::nullopt;
      if (!tensor) {
        lose(target, initializer);
        break;
      }
      planned.tensors.push_back(*tensor);
      addAlias(*tensor, initializer);
    }
    if (planned.tensors.size() == use.targets.size())
      plan.joinedUses.push_back(std::move(planned));
  }
}

} // namespace dpc::onnx
