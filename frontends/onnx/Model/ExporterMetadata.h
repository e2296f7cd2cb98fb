// What PyTorch's exporters wrote about a graph.

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
  /// False for a buffer that the module's state_dict leaves out.
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
/// The signature of `graph`, empty when its exporter wrote none.
GraphSignature graphSignature(const Graph &graph);

/// "%p_w" and "%add" of an fx node's text, without the percent sign, result
/// name excluded.
std::vector<std::string> fxArguments(llvm::StringRef fxNode);
/// The entries of a printed Python list of strings: "['a', 'b']".
std::vector<std::string> parsePythonList(llvm::StringRef text);

/// Which exporter wrote the graph; decides what its names mean.
enum class Exporter { Dynamo, TorchScript, Other };
Exporter exporterOf(const Graph &graph);
/// True when TorchScript made `name` up ("onnx::MatMul_291",
/// "/a/Constant_output_0", "57"): it is no module attribute.
bool isGeneratedName(llvm::StringRef name);

/// InputSpec kind recorded on an initializer: PARAMETER, BUFFER,
/// CONSTANT_TENSOR, or empty.
llvm::StringRef recordedKind(const Initializer &initializer);
/// The values that constant folding computed this one from, initializers among
/// them. What gave equal numbers its shape alone is left out: zeros_like(w).
std::vector<std::string> foldedFrom(const Initializer &initializer);
/// True when `node` was written for a call of aten's detach.
bool isDetach(const onnxpb::NodeProto &node);
/// True when the exporter merged a BatchNorm into `node`.
bool hasFoldedBatchNorm(const Node &node);

/// "embedding" of "embedding_12".
llvm::StringRef stemOf(llvm::StringRef fxName);
/// "aten.max.dim" of the call that the exporter names in the node's metadata;
/// empty where it names none.
llvm::StringRef targetOf(const Node &node);
/// The same without the overload: "aten.max".
llvm::StringRef calledBy(const Node &node);

constexpr llvm::StringLiteral kFxNode = "pkg.torch.onnx.fx_node";
/// How a call of aten's detach is written there.
constexpr llvm::StringLiteral kDetachTarget = "[target=torch.ops.aten.detach.default]";
constexpr llvm::StringLiteral kNameScopes = "pkg.torch.onnx.name_scopes";
/// The classes of the modules around a call, then the call.
constexpr llvm::StringLiteral kClassHierarchy = "pkg.torch.onnx.class_hierarchy";
/// The lines of Python that made a call, the innermost last.
constexpr llvm::StringLiteral kStackTrace = "pkg.torch.onnx.stack_trace";
constexpr llvm::StringLiteral kInputKind = "pkg.torch.export.graph_signature.InputSpec.kind";
/// A kind of our own, in memory only: a parameter that its module does not
/// train.
constexpr llvm::StringLiteral kFixedKind = "fixed PARAMETER";
/// A kind of our own, in memory only: a buffer that forward() updates.
constexpr llvm::StringLiteral kUpdatedKind = "updated BUFFER";
/// Of our own, in memory only: the row of a Gather's table that its module does
/// not train.
constexpr llvm::StringLiteral kPaddingRow = "padding row";
/// Of our own, in memory only: a Gather divides each place's gradient by the
/// number of places that read the same row.
constexpr llvm::StringLiteral kScaledByCounts = "scaled by counts";
constexpr llvm::StringLiteral kRewriterRule = "pkg.onnxscript.rewriter.rule_name";

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_EXPORTERMETADATA_H
