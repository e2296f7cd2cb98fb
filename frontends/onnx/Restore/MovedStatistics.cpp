// Tracks running statistics from call to call.
//
// A call of batch norm has five results, which the exporter numbers consecutively. E.g.
// `getitem_5` is the normalised value, and `getitem_8` and `getitem_9` are the updated
// mean and variance. The next call of the same PyTorch module takes these two.

#include "frontends/onnx/Restore/MovedStatistics.h"

#include "frontends/onnx/Restore/MetadataFinder.h"

#include "llvm/Support/FormatVariadic.h"

using llvm::StringRef;

namespace dpc::onnx {
namespace {

/// Positions of the statistics among the arguments and the results of a call.
constexpr int kMean = 3, kVariance = 4;

bool isBatchNorm(const FxCall &call) {
  return StringRef(call.op).starts_with("_native_batch_norm_legit");
}

/// The name of result `position` of a call whose first result is `first`; empty if
/// `first` is not a name that the exporter generated.
std::string resultNamed(StringRef first, int position) {
  int number = 0;
  if (!first.consume_front("getitem") ||
      (!first.empty() && (!first.consume_front("_") || first.getAsInteger(10, number))))
    return {};
  return "getitem_" + std::to_string(number + position);
}

} // namespace

bool movesStatistics(const FxCall &call) {
  return isBatchNorm(call) && !StringRef(call.op).contains("no_training") &&
         call.arguments.size() >= 7 && call.arguments[5] == "True";
}

MovedStatistics::MovedStatistics(const Graph &graph, const GraphSignature &signature,
                                 llvm::ArrayRef<CallNodes> calls)
    : graph(graph), signature(signature) {
  for (const CallNodes &call : calls)
    if (movesStatistics(call.call))
      follow(call);
  checkEnds();
  checkReaders(calls);
}

const SignatureEntry *MovedStatistics::find(StringRef name) const {
  auto found = buffers.find(name);
  return found == buffers.end() ? nullptr : found->second;
}

/// The buffer that argument `position` of the call denotes. It is found by the name of
/// the argument, or else by the tensor that the node reads, or by the calling module.
const SignatureEntry *MovedStatistics::bufferOf(const CallNodes &call, int32_t node, int position) {
  StringRef name = valueArgument(call.call, position);
  if (const SignatureEntry *entry = signature.findPlaceholder(name))
    return entry->target.empty() ? nullptr : entry;
  if (const SignatureEntry *entry = find(name))
    return entry;
  const Node &reader = graph.nodes[node];
  const SignatureEntry *entry = nullptr;
  if (const Initializer *initializer = graph.initializerOf(reader.input(position)))
    entry = signature.findTarget(initializer->name);
  if (!entry || entry->kind != "BUFFER")
    entry = signature.findTarget(
        within(callingModule(reader), position == kMean ? "running_mean" : "running_var"));
  if (entry && ends.count(entry) && !ends[entry].empty()) {
    lost.push_back(llvm::formatv(
        "{0}: takes '{1}' as it is after a call of batch normalisation that the export merged "
        "with an equal one; torch.onnx.export(..., optimize=False) keeps both",
        describe(reader), entry->target));
    ends[entry].clear();
  }
  return entry;
}

void MovedStatistics::follow(const CallNodes &call) {
  for (int32_t n : call.nodes) {
    const Node &node = graph.nodes[n];
    if (!node.is("BatchNormalization") || node.inputs.size() != 5)
      continue;
    for (int position : {kMean, kVariance}) {
      const SignatureEntry *buffer = bufferOf(call, n, position);
      if (!buffer)
        continue;
      std::string moved = resultNamed(graph.values[node.output(0)].name, position);
      auto [end, isFirst] = ends.try_emplace(buffer, moved);
      if (!isFirst)
        end->second = end->second.empty() ? std::string() : moved;
      if (!moved.empty())
        buffers[moved] = buffer;
      buffers.try_emplace(valueArgument(call.call, position).str(), buffer);
    }
  }
}

/// Compares the tracked names with the signature, which names the last value of
/// each buffer.
void MovedStatistics::checkEnds() {
  for (const SignatureEntry &output : signature.outputs) {
    const SignatureEntry *buffer = signature.findTarget(output.target);
    auto end = ends.find(buffer);
    if (output.kind == "BUFFER_MUTATION" && end != ends.end() && !end->second.empty() &&
        end->second != output.placeholder)
      lost.push_back(llvm::formatv(
          "buffer '{0}': batch normalisation moves it once more in a call that the export merged "
          "with an equal one; torch.onnx.export(..., optimize=False) keeps both",
          output.target));
  }
}

void MovedStatistics::checkReaders(llvm::ArrayRef<CallNodes> calls) {
  for (const CallNodes &call : calls) {
    if (isBatchNorm(call.call))
      continue;
    for (const std::string &name : fxArguments(graph.nodes[call.nodes.front()].metadata(kFxNode)))
      if (const SignatureEntry *buffer = find(name); buffer && name != buffer->placeholder)
        lost.push_back(llvm::formatv(
            "{0}: takes '{1}' as batch normalisation has moved it, and the file holds its old "
            "value",
            describe(graph.nodes[call.nodes.front()]), buffer->target));
  }
}

} // namespace dpc::onnx
