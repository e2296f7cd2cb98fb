// Compares the arguments of ATen calls with the operands of the ONNX nodes that the
// exporter wrote for the calls.

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

/// One argument of a call: its name, and the operands of the call's nodes that read the
/// argument.
struct CallArgument {
  /// The name, e.g. "detach_1".
  std::string name;
  /// kNoValue if no operand could be identified with the argument.
  ValueId value = kNoValue;
  /// Every operand that reads the argument.
  llvm::SmallVector<OperandAt, 2> reads;
  /// False if no value of the file has the name. The exporter then dropped the call of
  /// that name, and `value` is the value that the nodes read in place of its result.
  bool isMade = true;
};

/// The nodes of one call, with the call's arguments in their order.
struct CallReads {
  FxCall call;
  /// The name of the call's result, e.g. "add_3".
  std::string result;
  std::vector<int32_t> nodes;
  std::vector<CallArgument> arguments;
};

/// Compares every call of a graph with the nodes of the call. The names of the arguments
/// are aligned with the operands, both in their order, so that as many as possible agree.
/// A name that no value of the file has is identified with the operand that it is aligned
/// with.
class CallComparison {
public:
  explicit CallComparison(const Graph &graph);

  llvm::ArrayRef<CallReads> getCalls() const { return calls; }
  /// Results of the signature whose call the exporter dropped. Each is paired with the
  /// position in Graph::outputs of the output that replaces it.
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
  /// Whether the exporter dropped a call that used the result of `call`: the result has
  /// more users than the file has. Also true if the metadata do not give the number of
  /// users.
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
