// Compares the arguments of ATen calls with the operands of the ONNX nodes they
// became.

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

/// One argument of a call: its name, and the operands of the call's nodes that read
/// it.
struct CallArgument {
  /// "detach_1".
  std::string name;
  /// kNoValue if no operand could be identified with the argument.
  ValueId value = kNoValue;
  /// Every operand that reads the argument.
  llvm::SmallVector<OperandAt, 2> reads;
  /// False if no node makes a value of this name: the exporter dropped the call of
  /// that name, and `value` is the value that replaces its result.
  bool isMade = true;
};

/// The nodes of one call, with the call's arguments in their order.
struct CallReads {
  FxCall call;
  /// "add_3".
  std::string result;
  std::vector<int32_t> nodes;
  std::vector<CallArgument> arguments;
};

/// Compares every call of a graph with its nodes. Argument names and operands are
/// aligned in their order, so that as many as possible agree. A name that no node
/// makes is identified with the operand at its place.
class CallComparison {
public:
  explicit CallComparison(const Graph &graph);

  llvm::ArrayRef<CallReads> getCalls() const { return calls; }
  /// Results in the signature that no call makes, each with the output of the graph
  /// that replaces it (position in Graph::outputs).
  llvm::ArrayRef<std::pair<std::string, size_t>> getDroppedOutputs() const {
    return droppedOutputs;
  }
  const GraphSignature &getSignature() const { return signature; }

  /// The call that `value` is a result of; nullptr for any other value.
  const CallReads *callOf(ValueId value) const;
  /// Whether a node, an input or an initializer of the file has the name.
  bool isMade(llvm::StringRef name) const;
  /// The values that `name` may denote: results of its call, an input, or a tensor
  /// of the module.
  std::vector<ValueId> valuesOf(llvm::StringRef name) const;
  /// Whether the result of `call` has a user that is not a call of the file: a call
  /// that the exporter dropped.
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
  /// Results of calls whose nodes are inside subgraphs.
  std::set<std::string, std::less<>> madeInside;
  /// The number of calls that take each name.
  std::map<std::string, int, std::less<>> takers;
  std::vector<std::pair<std::string, size_t>> droppedOutputs;
};

/// Whether a call of aten's detach has this result name ("detach", "detach_3").
bool isDetachName(llvm::StringRef name);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_CALLREADS_H
