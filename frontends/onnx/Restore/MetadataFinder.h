// Plans the restoration of a PyTorch module's tensors. Uses the metadata that PyTorch's
// default exporter writes.

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

/// An operand that was identified with one of the module's tensors.
struct Identified {
  Operand at;
  /// Whether the tensor itself is an argument of the call. False if the call takes
  /// a value that was computed from it.
  bool isArgument;
  /// The name of the argument that was computed from the tensor ("permute_1"); empty if
  /// the file does not name the argument. Not used if `isArgument`.
  std::string argument;
};

/// The nodes of one call, and the tensors of the module among its arguments.
struct CallNodes {
  FxCall call;
  std::vector<int32_t> nodes;
  /// Parameters and buffers among the arguments, in their order.
  std::vector<const SignatureEntry *> entries;
};

/// The kind of an entry of the signature.
TensorKind kindOf(const SignatureEntry &entry);
/// For the target "a.norm.weight", lastName gives "weight" and ownerOf gives "a.norm".
/// `within` joins the two parts to the target again.
llvm::StringRef lastName(llvm::StringRef target);
llvm::StringRef ownerOf(llvm::StringRef target);
std::string within(llvm::StringRef owner, llvm::StringRef name);

/// Finds the restoration plan of one graph, in several steps that share the facts
/// known about every tensor of the module. The steps are in FindByMetadata.cpp
/// (identifies operands), FindFolded.cpp (undoes constant folding),
/// FindRecurrent.cpp (separates operands of recurrent operators), FindDropped.cpp
/// (finds dropped operands and nodes) and PlanTensors.cpp.
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

  /// The name of the call's argument that operand `operand` reads; empty if it is not
  /// known. argumentOf knows the argument for some calls. For another call the name is
  /// known if a single node with as many operands as arguments represents the call: its
  /// operands are then in the order of the arguments.
  std::string argumentName(const CallNodes &group, int32_t node, int32_t operand) const {
    if (std::optional<int> position = argumentOf(group.call, graph.nodes[node], operand))
      return valueArgument(group.call, *position).str();
    std::vector<std::string> names = fxArguments(graph.nodes[node].metadata(kFxNode));
    return group.nodes.size() == 1 && names.size() == graph.nodes[node].inputs.size()
               ? names[operand]
               : std::string();
  }
  /// Whether `entry` is a parameter that the file lacks, that no call names, and from
  /// which no tensor of the file was computed.
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
  /// The tensors of the module that one node reads: the target of each, and the operand
  /// that was identified with it.
  using Reads = std::vector<std::pair<std::string, const Identified *>>;
  Reads parametersAt(int32_t node) const;
  int32_t readerOfParameters(int32_t node) const;

  /// The tensor of the module that a call names. `name` is its placeholder or, for a
  /// running statistic that an earlier call has updated, the name of the new value.
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
  /// The identified operands of each tensor of the module, by its target.
  std::map<std::string, std::vector<Identified>> identified;
  /// The operands in `identified`, by node. Filled once all operands are identified.
  std::map<int32_t, Reads> reads;
  /// Operands that have the same value as a tensor of the module, but were not
  /// computed from this tensor. They read a copy, which is not trained.
  std::vector<Operand> constants;
  /// Biases that the exporter dropped because they were zero.
  struct DroppedBias {
    int32_t node;
    std::string target;
    int64_t extent;
    ElementType type;
  };
  std::vector<DroppedBias> dropped;
  /// `named` has the names of the arguments of all calls. `foldedNames` has the names of
  /// the values from which the exporter computed tensors of the file.
  std::set<std::string> named, foldedNames;
  /// Nodes without metadata about their call.
  std::vector<int32_t> silentNodes;
  /// The position in `groups` of each node's call; -1 if the node has no call.
  std::vector<int32_t> groupOfNode;
  std::optional<MovedStatistics> statistics;
  std::set<std::string> lostNames;
  /// Operands of recurrent operators, with the targets of the parameters that they
  /// consist of.
  struct Joined {
    int32_t node;
    int32_t operand;
    const Initializer *initializer;
    std::vector<std::string> targets;
    llvm::SmallVector<int64_t, 4> gates;
    bool isBias;
  };
  std::vector<Joined> joined;
  /// An initial state of several layers, with the operand of each layer.
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
