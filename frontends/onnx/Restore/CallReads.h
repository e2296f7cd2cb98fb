// What the calls behind ONNX nodes take, compared with what the nodes read.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_CALLREADS_H
#define DPC_FRONTENDS_ONNX_RESTORE_CALLREADS_H

#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Restore/FxCall.h"

#include <map>
#include <set>

namespace dpc::onnx {

/// An operand of a node of the main graph.
struct OperandAt {
  int32_t node;
  int32_t operand;
  bool operator<(const OperandAt &other) const {
    return std::pair(node, operand) < std::pair(other.node, other.operand);
  }
};

/// One argument of a call: its name, and where the call's nodes read it.
struct CallArgument {
  /// "detach_1".
  std::string name;
  /// kNoValue where nothing that the nodes read can be told to be it.
  ValueId value = kNoValue;
  /// Every operand that is it.
  llvm::SmallVector<OperandAt, 2> reads;
  /// False where no node makes a value of this name: the exporter dropped the
  /// call of that name, and `value` is what it left in its place.
  bool isMade = true;
};

/// The nodes of one call, with its arguments in their order.
struct CallReads {
  FxCall call;
  /// "add_3".
  std::string result;
  std::vector<int32_t> nodes;
  std::vector<CallArgument> arguments;
};

/// The comparison of every call of a graph. Names and operands are aligned in
/// their order, so that as many as possible agree; a name that no node makes
/// is then the operand that stands in its place.
class CallComparison {
public:
  explicit CallComparison(const Graph &graph);

  llvm::ArrayRef<CallReads> getCalls() const { return calls; }
  /// A result of the signature that no call makes, with the graph's output in
  /// its place (position in Graph::outputs).
  llvm::ArrayRef<std::pair<std::string, size_t>> getDroppedOutputs() const {
    return droppedOutputs;
  }
  const GraphSignature &getSignature() const { return signature; }

  /// The call of which `value` is a result; nullptr for anything else.
  const CallReads *callOf(ValueId value) const;
  /// Whether a node, an input or an initializer of the file has the name.
  bool isMade(llvm::StringRef name) const;
  /// The values that `name` may be: results of its call, an input, a tensor of
  /// the module.
  std::vector<ValueId> valuesOf(llvm::StringRef name) const;
  /// Whether something takes the result of `call` that no call of the file is:
  /// a call that the exporter dropped.
  bool hasHiddenUser(const CallReads &call) const;

private:
  void groupNodes();
  void collectNames();
  void align(CallReads &call);
  void findDroppedOutputs();

  const Graph &graph;
  GraphSignature signature;
  std::vector<CallReads> calls;
  /// Position in `calls` of each node; -1: none.
  std::vector<int32_t> callOfNode;
  std::map<std::string, std::vector<ValueId>, std::less<>> named;
  /// Results of calls that nodes inside subgraphs are of.
  std::set<std::string, std::less<>> madeInside;
  /// How many calls take each name.
  std::map<std::string, int, std::less<>> takers;
  std::vector<std::pair<std::string, size_t>> droppedOutputs;
};

/// Whether `name` is that of a call of aten's detach ("detach", "detach_3").
bool isDetachName(llvm::StringRef name);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_CALLREADS_H
