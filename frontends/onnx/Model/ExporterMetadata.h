// Parses the metadata that PyTorch's exporters write into a graph.

#ifndef DPC_FRONTENDS_ONNX_MODEL_EXPORTERMETADATA_H
#define DPC_FRONTENDS_ONNX_MODEL_EXPORTERMETADATA_H

#include "frontends/onnx/Model/Graph.h"

#include "llvm/ADT/StringRef.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace dpc::onnx {

/// One line of the graph signature: `p_fc1_weight: PARAMETER
/// target='fc1.weight'`.
struct SignatureEntry {
  std::string placeholder;
  std::string kind;
  std::string target;
  /// False for a buffer that the state_dict of the PyTorch module leaves out.
  bool isPersistent = true;
};

/// The exported program's signature, as the default (dynamo) exporter writes it
/// into the graph's metadata.
struct GraphSignature {
  std::vector<SignatureEntry> inputs;
  std::vector<SignatureEntry> outputs;

  bool empty() const { return inputs.empty(); }
  const SignatureEntry *findTarget(llvm::StringRef target) const;
  const SignatureEntry *findPlaceholder(llvm::StringRef placeholder) const;
};

GraphSignature parseGraphSignature(llvm::StringRef text);
/// The signature of `graph`; empty if the exporter of the graph wrote none.
GraphSignature graphSignature(const Graph &graph);

/// The names of the values that an fx node takes as arguments, from its text: e.g. "p_w"
/// and "add" for the arguments (%p_w, %add).
std::vector<std::string> fxArguments(llvm::StringRef fxNode);
/// The entries of a printed Python list of strings: "['a', 'b']".
std::vector<std::string> parsePythonList(llvm::StringRef text);

/// The exporter that wrote the graph. Each exporter names values by its own rules.
enum class Exporter { Dynamo, TorchScript, Other };
Exporter exporterOf(const Graph &graph);
/// True if TorchScript generated `name` ("onnx::MatMul_291",
/// "/a/Constant_output_0", "57"). Any other name of an initializer in its files is the name
/// of an attribute of the PyTorch module.
bool isGeneratedName(llvm::StringRef name);

/// The InputSpec kind recorded on an initializer: PARAMETER, BUFFER,
/// CONSTANT_TENSOR, or empty.
llvm::StringRef recordedKind(const Initializer &initializer);
/// Names of the values and initializers from which constant folding computed
/// `initializer`. If all elements of `initializer` are equal, values that gave only a
/// shape, such as w in zeros_like(w), are left out.
std::vector<std::string> foldedFrom(const Initializer &initializer);
/// True if the exporter wrote `node` for a call of aten's detach.
bool isDetach(const onnxpb::NodeProto &node);
/// True if the exporter merged a BatchNorm into `node`.
bool hasFoldedBatchNorm(const Node &node);

/// "embedding" of "embedding_12".
llvm::StringRef stemOf(llvm::StringRef fxName);
/// "aten.max.dim", the target of the call in the node's metadata; empty if the
/// metadata name no call.
llvm::StringRef targetOf(const Node &node);
/// The target without its overload: "aten.max".
llvm::StringRef calledBy(const Node &node);

/// The key of a node's fx text, which quotes the call of the exported program that the node
/// belongs to: `%add : .. = call_function[target=torch.ops.aten.add.Tensor](args = (%x, %p_w))`.
constexpr llvm::StringLiteral kFxNode = "pkg.torch.onnx.fx_node";
/// The spelling of a call of aten's detach in fx text.
constexpr llvm::StringLiteral kDetachTarget = "[target=torch.ops.aten.detach.default]";
/// The paths of the modules around a call, from the outermost to the innermost, then the call.
constexpr llvm::StringLiteral kNameScopes = "pkg.torch.onnx.name_scopes";
/// The classes of the modules around a call, then the call.
constexpr llvm::StringLiteral kClassHierarchy = "pkg.torch.onnx.class_hierarchy";
/// The lines of Python that made a call, the innermost last.
constexpr llvm::StringLiteral kStackTrace = "pkg.torch.onnx.stack_trace";
constexpr llvm::StringLiteral kInputKind = "pkg.torch.export.graph_signature.InputSpec.kind";
/// An InputSpec kind that dpc itself sets and no file has: a parameter that its module
/// does not train.
constexpr llvm::StringLiteral kFixedKind = "fixed PARAMETER";
/// An InputSpec kind that dpc itself sets and no file has: a buffer that forward()
/// updates.
constexpr llvm::StringLiteral kUpdatedKind = "updated BUFFER";
/// A metadata key that dpc itself sets and no file has: the row of a Gather's table that
/// gets no gradient (padding_idx of nn.Embedding).
constexpr llvm::StringLiteral kPaddingRow = "padding row";
/// A metadata key that dpc itself sets and no file has: the Gather divides the gradient
/// of each index by the number of indices that read the same row (scale_grad_by_freq).
constexpr llvm::StringLiteral kScaledByCounts = "scaled by counts";
/// The rules of the exporter's optimizer that made a node, separated by commas.
constexpr llvm::StringLiteral kRewriterRule = "pkg.onnxscript.rewriter.rule_name";

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_EXPORTERMETADATA_H
