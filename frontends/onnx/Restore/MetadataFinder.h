// Restoration from the metadata of PyTorch's default exporter.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_METADATAFINDER_H
#define DPC_FRONTENDS_ONNX_RESTORE_METADATAFINDER_H

#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Restore/FxCall.h"
#include "frontends/onnx/Restore/MovedStatistics.h"
#include "frontends/onnx/Restore/RestorationPlan.h"

#include <map>
#include <optional>
#include <set>

namespace dpc::onnx {

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
  /// What the call takes of it, where the file says ("permute_1").
  std::string argument;
};

/// The nodes of one call, and what the call takes of the module.
struct CallNodes {
  FxCall call;
  std::vector<int32_t> nodes;
  /// Parameters and buffers among the arguments, in their order.
  std::vector<const SignatureEntry *> entries;
};

/// What an entry of the signature is.
TensorKind kindOf(const SignatureEntry &entry);
/// "weight" and "a.norm" of "a.norm.weight", and back.
llvm::StringRef lastName(llvm::StringRef target);
llvm::StringRef ownerOf(llvm::StringRef target);
std::string within(llvm::StringRef owner, llvm::StringRef name);

/// Finds the plan of one graph. The steps share what is known of every tensor
/// of the module; they stand in FindByMetadata.cpp (whose a tensor is),
/// FindFolded.cpp (what it was before), FindRecurrent.cpp (what recurrent
/// operators join), FindDropped.cpp (what is gone) and PlanTensors.cpp.
class MetadataFinder {
public:
  explicit MetadataFinder(const Graph &graph) : graph(graph), signature(graphSignature(graph)) {
    for (const Initializer &initializer : graph.initializers)
      byName[initializer.name] = &initializer;
  }

  RestorationPlan find();

private:
  bool isParameter(llvm::StringRef target) const {
    const SignatureEntry *entry = signature.findTarget(target);
    return entry && entry->kind == "PARAMETER";
  }
  const Initializer *inFile(llvm::StringRef name) const {
    auto found = byName.find(name.str());
    return found == byName.end() ? nullptr : found->second;
  }
  std::vector<std::string> parametersOf(const Initializer &initializer) const;

  /// The name of the call's argument that operand `operand` is, where the
  /// operator says or a single node has them all in the same order; else empty.
  std::string argumentName(const CallNodes &group, int32_t node, int32_t operand) const {
    if (std::optional<int> position = argumentOf(group.call, graph.nodes[node], operand))
      return valueArgument(group.call, *position).str();
    std::vector<std::string> names = fxArguments(graph.nodes[node].metadata(kFxNode));
    return group.nodes.size() == 1 && names.size() == graph.nodes[node].inputs.size()
               ? names[operand]
               : std::string();
  }
  /// A parameter that no call names and no tensor was computed from.
  bool isUnaccounted(const SignatureEntry &entry) const {
    return entry.kind == "PARAMETER" && !inFile(entry.target) && !named.count(entry.placeholder) &&
           !foldedNames.count(entry.target);
  }
  void findMergedNodes();
  bool planMergedModule(int32_t reader, bool isKept,
                        llvm::ArrayRef<std::pair<int32_t, int32_t>> takers);
  void planMergedTensor(int32_t reader, bool isKept,
                        llvm::ArrayRef<std::pair<int32_t, int32_t>> takers);
  void loseTwin(int32_t reader, const std::string &of);
  /// Tensors of the module by their targets, each as an operand of one node.
  using Reads = std::vector<std::pair<std::string, const Identified *>>;
  Reads parametersAt(int32_t node) const;
  int32_t readerOfParameters(int32_t node) const;

  /// The tensor of the module that a call names; a running statistic also once
  /// a call has moved it.
  const SignatureEntry *entryNamed(llvm::StringRef name) const {
    const SignatureEntry *entry = signature.findPlaceholder(name);
    return entry ? entry : statistics->find(name);
  }
  void groupCalls();
  bool isReadForItsType(int32_t node, int32_t operand) const;
  void identify(const CallNodes &group);
  void identifyLoose(const CallNodes &group, const Operand &at);
  void assign(llvm::StringRef target, const Operand &at, bool isArgument,
              llvm::StringRef argument = {}) {
    identified[target.str()].push_back({at, isArgument, argument.str()});
  }
  bool isMovedView(const Identified &found) const;
  void identifySilent(int32_t node);
  bool identifyOfZeros(const Operand &at, llvm::ArrayRef<std::string> sources);
  void findRecurrent(const CallNodes &group);
  void findFirstState(llvm::ArrayRef<int32_t> layers, int32_t operand, llvm::StringRef argument);
  std::optional<size_t> planJoinedTensor(const std::string &target, Tensor value);
  void planLayered(size_t position);
  void addAlias(size_t tensor, const Initializer &initializer);
  void planJoined();
  void findDroppedBiases(const CallNodes &group);
  void findTrainingNorms(const CallNodes &group);
  void findFlaggedLookups(const CallNodes &group);
  bool isTableOf(const CallNodes &bag, ValueId value) const;
  void planTensor(llvm::StringRef target, llvm::ArrayRef<Identified> found);
  std::optional<Derivation> stepsTo(const Identified &found, const Tensor &value,
                                    const std::map<const Initializer *, Derivation> &known) const;
  std::optional<Undone> invert(const Identified &found) const;
  std::optional<Undone> invertArgument(const Identified &found) const;
  std::optional<Undone> invertFolded(const Identified &found) const;
  std::optional<Undone> invertBilinear(const Identified &found) const;
  void planConstants();
  void findFoldedNorms();
  void lose(llvm::StringRef target, const Initializer &initializer);

  const Graph &graph;
  GraphSignature signature;
  std::map<std::string, const Initializer *> byName;
  std::vector<CallNodes> groups;
  /// Operands by the target of the signature that they are.
  std::map<std::string, std::vector<Identified>> identified;
  /// The same by node, once all are identified.
  std::map<int32_t, Reads> reads;
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
  /// Nodes that say nothing of their call.
  std::vector<int32_t> silentNodes;
  /// Which group a node belongs to; -1: none.
  std::vector<int32_t> groupOfNode;
  std::optional<MovedStatistics> statistics;
  std::set<std::string> lostNames;
  /// Operands of recurrent operators, with the targets that they are joined
  /// from.
  struct Joined {
    int32_t node;
    int32_t operand;
    const Initializer *initializer;
    std::vector<std::string> targets;
    llvm::SmallVector<int64_t, 4> gates;
    bool isBias;
  };
  std::vector<Joined> joined;
  /// A first state of several layers, with the operand of each.
  struct LayeredState {
    std::string target;
    bool isItself;
    std::vector<Operand> layers;
  };
  std::vector<LayeredState> layeredStates;
  RestorationPlan plan;
};

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_METADATAFINDER_H
