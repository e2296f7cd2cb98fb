// Parses the ATen call that an ONNX node was exported from.

#include "frontends/onnx/Restore/FxCall.h"

#include "frontends/onnx/Model/ExporterMetadata.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace dpc::onnx {

std::optional<FxCall> parseFxCall(StringRef text) {
  size_t target = text.find("[target="), open = text.find("args = (");
  if (target == StringRef::npos || open == StringRef::npos || open < target)
    return std::nullopt;
  StringRef callee = text.slice(target + 8, open);
  callee = callee.take_front(callee.find(']'));
  llvm::SmallVector<StringRef> parts;
  callee.split(parts, '.');
  FxCall call;
  // A callee is e.g. torch.ops.aten.linear.default, which ends in an overload, or
  // operator.getitem, which does not.
  bool hasOverload = callee.contains("ops.") && parts.size() > 3;
  call.op = parts[parts.size() - (hasOverload ? 2 : 1)].str();

  int depth = 0;
  std::string argument;
  for (char c : text.drop_front(open + 8)) {
    if (depth == 0 && (c == ')' || c == ',')) {
      if (StringRef trimmed = StringRef(argument).trim(); !trimmed.empty())
        call.arguments.push_back(trimmed.str());
      argument.clear();
      if (c == ')')
        return call;
      continue;
    }
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    argument += c;
  }
  return std::nullopt;
}

StringRef resultOf(StringRef text) {
  if (!text.consume_front("%"))
    return {};
  return text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
}

StringRef valueArgument(const FxCall &call, int position) {
  if (position < 0 || position >= int(call.arguments.size()))
    return {};
  StringRef text = call.arguments[position];
  if (!text.consume_front("%") ||
      !llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return {};
  return text;
}

/// argumentOf for a clamp. nullopt if the exporter merged two clamps, because a bound may
/// then come from either of them.
static std::optional<int> clampArgumentOf(StringRef op, const Node &node, int32_t operand) {
  llvm::SmallVector<StringRef> rules;
  node.metadata(kRewriterRule).split(rules, ", ");
  if (llvm::is_contained(rules, "FuseSuccessiveClip"))
    return std::nullopt;
  if (op == "clamp")
    return operand;
  if (operand == 0)
    return 0;
  return operand == (op == "clamp_max" ? 2 : 1) ? 1 : kNoArgument;
}

std::optional<int> argumentOf(const FxCall &call, const Node &node, int32_t operand) {
  StringRef op = call.op;
  if (op == "linear") {
    if (node.is("MatMul") || node.is("Gemm"))
      return operand;
    if (node.is("Add"))
      return 2;
  } else if (op == "addmm") {
    if (node.is("MatMul") || node.is("Gemm"))
      return operand == 2 ? 0 : operand + 1;
    if (node.is("Add"))
      return 0;
  } else if (op.starts_with("conv")) {
    if (node.is("Conv") || node.is("ConvTranspose"))
      return operand;
  } else if (op == "layer_norm" || op == "native_layer_norm") {
    if (node.is("LayerNormalization"))
      return operand + 1;
  } else if (op.contains("batch_norm")) {
    if (node.is("BatchNormalization"))
      return operand;
  } else if (op == "instance_norm") {
    if (node.is("InstanceNormalization"))
      return operand;
  } else if (op == "group_norm" || op == "native_group_norm") {
    if (node.is("InstanceNormalization"))
      return kNoArgument;
    if (op == "group_norm" && node.is("Mul"))
      return 2;
    if (op == "group_norm" && node.is("Add"))
      return 3;
    if (op == "group_norm" && node.is("GroupNormalization"))
      return operand + 1;
  } else if (op == "embedding") {
    if (node.is("Gather"))
      return operand;
  } else if (op == "prelu") {
    if (node.is("PRelu"))
      return operand;
  } else if (op.starts_with("clamp") && node.is("Clip")) {
    return clampArgumentOf(op, node, operand);
  }
  return std::nullopt;
}

bool isRecurrent(const FxCall &call) {
  StringRef op = call.op;
  return op == "lstm" || op == "gru" || op.starts_with("rnn_");
}

std::string callingModule(const Node &node) {
  std::vector<std::string> scopes = parsePythonList(node.metadata(kNameScopes));
  return scopes.size() < 2 ? std::string() : scopes[scopes.size() - 2];
}

} // namespace dpc::onnx
