// The ATen call behind ONNX nodes.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_FXCALL_H
#define DPC_FRONTENDS_ONNX_RESTORE_FXCALL_H

#include "frontends/onnx/Model/Graph.h"

#include <optional>
#include <string>
#include <vector>

namespace dpc::onnx {

/// `%linear : [..] = call_function[target=torch.ops.aten.linear.default](args =
/// (%x, %p_w, None), kwargs = {})`.
struct FxCall {
  /// "linear": the operator without namespace and overload.
  std::string op;
  /// Positional arguments as text: "%x", "%p_w", "None", "[32]".
  std::vector<std::string> arguments;
};

/// nullopt when `text` is no call.
std::optional<FxCall> parseFxCall(llvm::StringRef text);

/// "linear" of "%linear : [..] = call_function[..": the call's result.
llvm::StringRef resultOf(llvm::StringRef text);

/// "%p_w" as "p_w"; empty for what is no single value.
llvm::StringRef valueArgument(const FxCall &call, int position);

/// Which argument of `call` operand `operand` of `node` (one of the nodes that
/// the call became) is. Known for calls whose operands change places or number
/// on their way to ONNX. `kNoArgument`: the operand is none, the exporter
/// brought it.
constexpr int kNoArgument = -1;
std::optional<int> argumentOf(const FxCall &call, const Node &node, int32_t operand);

/// True when the call has LSTM's or GRU's flat list of weights, which ONNX
/// takes joined and in another order.
bool isRecurrent(const FxCall &call);

/// The path of the module whose forward made the call ("m.h.0.mlp"), from the
/// node's name scopes.
std::string callingModule(const Node &node);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_FXCALL_H
