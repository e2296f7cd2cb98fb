// Parses the ATen call that an ONNX node was exported from.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_FXCALL_H
#define DPC_FRONTENDS_ONNX_RESTORE_FXCALL_H

#include "frontends/onnx/Model/Graph.h"

#include <optional>
#include <string>
#include <vector>

namespace dpc::onnx {

/// A call as the metadata of a node quotes it (its fx text), e.g. `%linear : [..] =
/// call_function[target=torch.ops.aten.linear.default](args = (%x, %p_w, None), kwargs = {})`.
struct FxCall {
  /// "linear": the operator without namespace and overload.
  std::string op;
  /// Positional arguments as text: "%x", "%p_w", "None", "[32]".
  std::vector<std::string> arguments;
};

/// Parses `text`; nullopt if it is no call.
std::optional<FxCall> parseFxCall(llvm::StringRef text);

/// The name of the call's result: "linear" of "%linear : [..] = call_function[..".
llvm::StringRef resultOf(llvm::StringRef text);

/// "%p_w" as "p_w"; empty if the argument is not a single value.
llvm::StringRef valueArgument(const FxCall &call, int position);

/// The position of the argument of `call` that operand `operand` of `node` reads; `node`
/// is one of the call's nodes. Operands in ONNX may differ from the arguments in their
/// order and count. The result is `kNoArgument` if the exporter added the operand. It is
/// nullopt if this function does not know the call, or if the exporter merged two clamps.
constexpr int kNoArgument = -1;
std::optional<int> argumentOf(const FxCall &call, const Node &node, int32_t operand);

/// True for calls of LSTM, GRU and RNN that take a flat list of weights. ONNX's operators
/// take these weights joined and in another order.
bool isRecurrent(const FxCall &call);

/// The path of the PyTorch module whose forward() made the call ("m.h.0.mlp"), from the
/// node's name scopes.
std::string callingModule(const Node &node);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_FXCALL_H
