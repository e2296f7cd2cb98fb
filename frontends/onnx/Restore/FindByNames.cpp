// Identifies the module's parameters by the names and values that PyTorch's
// TorchScript exporter leaves.
//
// The TorchScript exporter merges equal initializers, but leaves an Identity for each
// name. So the names that nodes read tell which tensors were separate. A tensor that
// constant folding computed has a generated name ("onnx::MatMul_291"). Only its values
// and the nodes around it tell which parameter it was.

#include "frontends/onnx/Model/Classify.h"
#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Model/ValuePatterns.h"
#include "frontends/onnx/Restore/RestorationPlan.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using llvm::StringRef;

namespace dpc::onnx {
namespace {

constexpr StringRef kKeeps =
    "torch.onnx.export(..., dynamo=False, "
    "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False) "
    "keeps it";

class Finder {
public:
  explicit Finder(const Graph &graph) : graph(graph), reaches(differentiablyReachesOutput(graph)) {
    for (const Initializer &initializer : graph.initializers) {
      taken.insert(initializer.name);
      for (const std::string &alias : initializer.aliases)
        taken.insert(alias);
    }
  }

  RestorationPlan find();

private:
  struct Operand {
    int32_t node;
    int32_t operand;
  };
  bool isRestorable(const Initializer &initializer) const;
  bool isMatrix(const Initializer &initializer, llvm::ArrayRef<Operand> uses) const;
  std::string weightName(const Node &product) const;
  void planUses(const Initializer &initializer, const std::string &name,
                llvm::ArrayRef<Operand> uses);
  void planMatrix(const Initializer &initializer, const std::string &name,
                  llvm::ArrayRef<Operand> uses);
  void planFolded(const Initializer &initializer, const std::string &name,
                  llvm::ArrayRef<Operand> uses);
  void add(RestoredTensor tensor, const Initializer &was, Derivation steps,
           llvm::ArrayRef<Operand> uses);

  const Graph &graph;
  std::vector<bool> reaches;
  llvm::StringSet<> taken;
  RestorationPlan plan;
};

/// True for a float tensor that only nodes of the main graph read, and none in functions
/// or subgraphs.
bool Finder::isRestorable(const Initializer &initializer) const {
  return isFloat(initializer.tensor.type) &&
         llvm::all_of(graph.values[initializer.value].uses, [&](const Use &use) {
           return use.operand >= 0 && graph.nodes[use.node].callers.empty();
         });
}

/// True if the initializer is the right operand of products only: the transposed
/// weight of a linear layer.
bool Finder::isMatrix(const Initializer &initializer, llvm::ArrayRef<Operand> uses) const {
  return initializer.tensor.shape.size() == 2 && llvm::all_of(uses, [&](const Operand &use) {
           return graph.nodes[use.node].is("MatMul") && use.operand == 1;
         });
}

/// The name of the weight of a linear layer, e.g. "a.fc.weight". It follows from the name
/// of the bias that is added to `product`, or else from the module path in the name of
/// the product, "/a/fc/MatMul". Empty if neither gives a name.
std::string Finder::weightName(const Node &product) const {
  for (const Use &use : graph.values[product.output(0)].uses) {
    const Node &sum = graph.nodes[use.node];
    if (!sum.is("Add") || use.operand < 0)
      continue;
    for (const std::string &operand : sum.proto->input()) {
      StringRef bias = operand;
      if (!isGeneratedName(bias) && bias.consume_back("bias"))
        return (bias + "weight").str();
    }
  }
  StringRef path = product.name;
  if (!path.consume_front("/") || !path.contains('/'))
    return {};
  std::string module = path.rsplit('/').first.str();
  std::replace(module.begin(), module.end(), '/', '.');
  return module + ".weight";
}

void Finder::add(RestoredTensor tensor, const Initializer &was, Derivation steps,
                 llvm::ArrayRef<Operand> uses) {
  for (const Operand &use : uses)
    plan.uses.push_back({use.node, use.operand, was.value, plan.tensors.size(), steps});
  plan.tensors.push_back(std::move(tensor));
}

/// Plans the weight of a linear layer under the name `name`. The file has the transpose
/// of the weight as `initializer`. If another tensor of the file has the values of the
/// weight, that tensor is the weight, unless all its elements are equal, which proves
/// nothing. Otherwise the plan adds a tensor if a name for it is known.
void Finder::planMatrix(const Initializer &initializer, const std::string &name,
                        llvm::ArrayRef<Operand> uses) {
  Derivation transpose(1);
  transpose[0].kind = DerivationStep::Kind::Transpose;
  transpose[0].dims = {1, 0};
  Tensor weight = *derive(initializer.tensor, transpose);
  if (!isSplat(weight))
    for (const Initializer &other : graph.initializers)
      if (!isGeneratedName(other.name) && isSame(other.tensor, weight)) {
        RestoredTensor tied{other.name,
                            TensorKind::Parameter,
                            other.tensor,
                            /*isInFile=*/true,
                            {name}};
        for (RestoredTensor &known : plan.tensors)
          if (known.name == other.name) { // the tensor is in the plan already
            known.aliases.push_back(name);
            for (const Operand &use : uses)
              plan.uses.push_back({use.node, use.operand, initializer.value,
                                   size_t(&known - plan.tensors.data()), transpose});
            return;
          }
        return add(std::move(tied), initializer, std::move(transpose), uses);
      }
  std::string own = weightName(graph.nodes[uses.front().node]);
  if (!own.empty() && !taken.contains(own)) {
    taken.insert(own);
    return add({own, TensorKind::Parameter, std::move(weight), false, {name}}, initializer,
               std::move(transpose), uses);
  }
  // The export of a module that runs twice has its weight twice.
  for (RestoredTensor &known : plan.tensors)
    if (known.name == own && isSame(known.value, weight)) {
      known.aliases.push_back(name);
      for (const Operand &use : uses)
        plan.uses.push_back({use.node, use.operand, initializer.value,
                             size_t(&known - plan.tensors.data()), transpose});
      return;
    }
  if (name != initializer.name)
    add({name, TensorKind::Parameter, initializer.tensor, false, {}}, initializer, {}, uses);
}

/// Plans `name`, which constant folding computed from another tensor.
void Finder::planFolded(const Initializer &initializer, const std::string &name,
                        llvm::ArrayRef<Operand> uses) {
  const Tensor &tensor = initializer.tensor;
  const Node &node = graph.nodes[uses.front().node];
  size_t extents = llvm::count_if(tensor.shape, [](int64_t n) { return n > 1; });
  bool isTraining = reaches[initializer.value] && tensor.numElements() > 1 &&
                    !looksLikeMask(tensor) && !looksLikeTable(tensor);
  bool isRecurrent = node.is("LSTM") || node.is("GRU") || node.is("RNN");
  if (node.is("Conv") || node.is("ConvTranspose")) {
    if (uses.front().operand == 1)
      plan.lost.push_back(
          llvm::formatv("{0}: its weight '{1}' was computed by the export (a BatchNorm "
                        "folded in, or a weight made of parameters); {2}",
                        describe(node), name, kKeeps));
    return;
  }
  // If the tensor has one number per channel, followed by dimensions of extent 1,
  // constant folding only reshaped it.
  bool isPerChannel = extents == 1 && tensor.shape.size() > 1 && tensor.shape.back() == 1;
  if (isTraining && !isRecurrent && !isPerChannel) {
    std::optional<Derived> table =
        tensor.shape.size() > 1 ? distinctRowsAnywhere(tensor) : std::nullopt;
    if (!table) {
      plan.lost.push_back(
          llvm::formatv("{0}: '{1}' was computed by the export's constant folding from a "
                        "parameter or a buffer, and the file does not say which; {2}",
                        describe(node), name, kKeeps));
      return;
    }
    if (!table->steps.empty()) {
      std::string own = name + "/rows";
      return add({own, TensorKind::Parameter, std::move(table->parameter), false, {name}},
                 initializer, std::move(table->steps), uses);
    }
  }
  // If two computations use one parameter, the file has two names with equal values for
  // it. Equal values prove nothing if all elements of a tensor are equal, so each name
  // then gets its own tensor.
  if (name != initializer.name && isSplat(tensor))
    add({name, TensorKind::Parameter, tensor, false, {}}, initializer, {}, uses);
}

void Finder::planUses(const Initializer &initializer, const std::string &name,
                      llvm::ArrayRef<Operand> uses) {
  if (isGeneratedName(name) && isMatrix(initializer, uses))
    return planMatrix(initializer, name, uses);
  if (isGeneratedName(name))
    return planFolded(initializer, name, uses);
  if (name != initializer.name)
    add({name, TensorKind::Parameter, initializer.tensor, false, {}}, initializer, {}, uses);
}

RestorationPlan Finder::find() {
  for (const Initializer &initializer : graph.initializers) {
    if (!isRestorable(initializer))
      continue;
    std::map<std::string, std::vector<Operand>> byName;
    for (const Use &use : graph.values[initializer.value].uses)
      byName[graph.nodes[use.node].proto->input(use.operand)].push_back({use.node, use.operand});
    for (const auto &[name, uses] : byName)
      planUses(initializer, name, uses);
  }
  return std::move(plan);
}

} // namespace

RestorationPlan planByNames(const Graph &graph) { return Finder(graph).find(); }

} // namespace dpc::onnx
