// The ONNX graph after its functions are inlined. Values and nodes are identified
// by index.

#ifndef DPC_FRONTENDS_ONNX_MODEL_GRAPH_H
#define DPC_FRONTENDS_ONNX_MODEL_GRAPH_H

#include "frontends/onnx/Model/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dpc::onnxpb {
class AttributeProto;
class NodeProto;
class ValueInfoProto;
} // namespace dpc::onnxpb

namespace dpc::onnx {

struct OnnxModel;

/// Index of a value in Graph::values; kNoValue is an omitted optional operand
/// or result.
using ValueId = int32_t;
constexpr ValueId kNoValue = -1;

/// A use of a value: operand number `operand` of node `node`. If a node inside a subgraph
/// reads the value, `node` is the node of the main graph that contains the subgraph, and
/// `operand` is -1.
struct Use {
  int32_t node;
  int32_t operand;
};

struct GraphValue {
  /// Inner: the input of a subgraph, or the result of a node in a subgraph.
  enum class Kind { Input, Initializer, Result, Inner };
  std::string name;
  Kind kind = Kind::Result;
  /// Position in Graph::inputs, Graph::initializers or Graph::nodes; unused for
  /// Inner.
  int32_t index = 0;
  llvm::SmallVector<Use, 2> uses;
};

struct Subgraph;

struct Node {
  const onnxpb::NodeProto *proto = nullptr;
  /// Unique and never empty: the node's own name, or "<op type>_<ordinal>" if it has
  /// none, with a number as suffix if another node has the same name. A node that was
  /// inlined has the name of its call as a prefix, and a node in a subgraph has the name
  /// of the node around it.
  std::string name;
  /// The domain of the operator; empty for "ai.onnx".
  std::string domain;
  std::string opType;
  /// The version of `domain` that the node is written for.
  int64_t opset = 0;
  llvm::SmallVector<ValueId, 4> inputs;
  llvm::SmallVector<ValueId, 2> outputs;
  /// Attributes by name; references to function attributes are resolved.
  std::map<std::string, const onnxpb::AttributeProto *> attributes;
  /// Whether the node is an Identity that the exporter wrote for a call of aten's detach.
  bool stopsGradient = false;
  /// The chain of call nodes this node was inlined from, innermost first.
  llvm::SmallVector<const onnxpb::NodeProto *, 1> callers;
  /// The graph attributes (of If, Loop, Scan), in their order in the file.
  std::vector<Subgraph> subgraphs;

  ValueId input(unsigned i) const { return i < inputs.size() ? inputs[i] : kNoValue; }
  ValueId output(unsigned i) const { return i < outputs.size() ? outputs[i] : kNoValue; }
  /// The node's metadata under `key`, or that of its nearest caller; empty if none
  /// has the key.
  llvm::StringRef metadata(llvm::StringRef key) const;
  bool is(llvm::StringRef op) const { return domain.empty() && opType == op; }
};

/// The body of an If, Loop or Scan. Its values are among Graph::values, and it
/// may use values of the graphs around it.
struct Subgraph {
  std::string attribute;
  llvm::SmallVector<ValueId, 4> inputs;
  std::vector<Node> nodes;
  llvm::SmallVector<ValueId, 4> outputs;
};

/// Calls `use` for every value that `node` or a node inside it reads, and for every
/// value that a subgraph inside it returns. The second argument is the operand's
/// number, or -1 for a use inside a subgraph.
void forEachUse(const Node &node, llvm::function_ref<void(ValueId, int32_t)> use);

struct Initializer {
  std::string name;
  ValueId value = kNoValue;
  Tensor tensor;
  /// Other names of the initializer: names of Identity results that had its value, and
  /// further names of a tied parameter (findTiedNames).
  std::vector<std::string> aliases;
  std::map<std::string, std::string> metadata;
};

struct GraphInput {
  std::string name;
  ValueId value = kNoValue;
  ElementType type = ElementType::F32;
  /// The extent of each dimension, -1 for a dynamic one. `dimNames` has the symbolic name
  /// of each dimension, "" if it has none.
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<std::string, 4> dimNames;
  bool hasRank = false;
  /// The dimension that counts samples, -1 for none; see findBatchDims.
  int64_t batchDim = -1;
};

struct GraphOutput {
  std::string name;
  ValueId value = kNoValue;
  /// The element type that the file declares, as ONNX's number; 0 if it declares
  /// none.
  int32_t declaredType = 0;
};

/// A buffer of the PyTorch module whose next value the graph computes.
struct BufferUpdate {
  /// `buffer` is an initializer; the next value may be any value of the graph.
  ValueId buffer;
  ValueId value;
};

/// The main graph with functions inlined and Identity nodes resolved, except those that
/// stop the gradient. Nodes are in execution order. Nodes that no output depends on are
/// dropped.
struct Graph {
  std::string name;
  std::string producer;
  std::vector<GraphValue> values;
  std::vector<Node> nodes;
  std::vector<Initializer> initializers;
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  /// Empty in a graph as read from a file: ONNX cannot express updates of buffers.
  std::vector<BufferUpdate> updates;
  std::map<std::string, std::string> metadata;

  /// The initializer with the id `value`; nullptr if `value` is not an
  /// initializer.
  const Initializer *initializerOf(ValueId value) const {
    if (value == kNoValue || values[value].kind != GraphValue::Kind::Initializer)
      return nullptr;
    return &initializers[values[value].index];
  }

  /// The node of the main graph that makes `value`, or nullptr.
  const Node *makerOf(ValueId value) const {
    if (value == kNoValue || values[value].kind != GraphValue::Kind::Result)
      return nullptr;
    return &nodes[values[value].index];
  }
};

/// Builds the graph of a model that passed checkModel: reads the initializers,
/// inlines model-local functions, resolves attribute references and replaces
/// Identity results by their operands. Errors name the node or tensor.
llvm::Expected<Graph> buildGraph(OnnxModel &model);

/// The form in which messages name a node: "node 'name' (Op, opset 17)".
std::string describe(const Node &node);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_GRAPH_H
