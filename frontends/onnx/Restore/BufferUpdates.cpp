// Finds the buffers that forward() updates. The signature names each buffer and its next
// value (`add: BUFFER_MUTATION target='centre'`). Next values are not outputs of the
// graph, so they are searched by these names.

#include "frontends/onnx/Restore/BufferUpdates.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::StringRef;

namespace dpc::onnx {
namespace {

/// Whether a call of batch normalisation takes the buffer.
bool isStatistic(const CallComparison &calls, const SignatureEntry &buffer) {
  return llvm::any_of(calls.getCalls(), [&](const CallReads &call) {
    return StringRef(call.call.op).contains("batch_norm") &&
           llvm::any_of(call.arguments, [&](const CallArgument &argument) {
             return argument.name == buffer.placeholder;
           });
  });
}

/// The initializer that holds the buffer; kNoValue if no node reads it.
ValueId findHeld(const Graph &graph, const SignatureEntry &buffer) {
  for (const Initializer &initializer : graph.initializers)
    if (!graph.values[initializer.value].uses.empty() &&
        (initializer.name == buffer.target ||
         llvm::is_contained(initializer.aliases, buffer.target)))
      return initializer.value;
  return kNoValue;
}

/// Whether the result of a call has the same numbers as its operand. `stem`
/// names the call.
bool isCopy(StringRef stem) {
  return stem == "clone" || stem == "detach" || stem == "alias" || stem == "_to_copy" ||
         stem == "contiguous" || stem == "view" || stem == "lift_fresh_copy";
}

/// Whether the exporter computed a tensor of the file from the buffer. If that tensor
/// equals the buffer, the exporter may have merged the two.
bool isFolded(const Graph &graph, const CallComparison &calls, const SignatureEntry &buffer,
              ValueId held) {
  for (const CallReads &call : calls.getCalls())
    for (const CallArgument &argument : call.arguments)
      if (held != kNoValue && argument.value == held && !argument.isMade &&
          !isCopy(stemOf(argument.name)))
        return true;
  return llvm::any_of(graph.initializers, [&](const Initializer &initializer) {
    return initializer.name != buffer.target && !graph.values[initializer.value].uses.empty() &&
           llvm::is_contained(foldedFrom(initializer), buffer.target);
  });
}

/// Whether a call takes the buffer and at least one node of the call has
/// operands.
bool isTaken(const Graph &graph, const CallComparison &calls, const SignatureEntry &buffer) {
  return llvm::any_of(calls.getCalls(), [&](const CallReads &call) {
    return llvm::any_of(
               call.arguments,
               [&](const CallArgument &argument) { return argument.name == buffer.placeholder; }) &&
           llvm::any_of(call.nodes, [&](int32_t n) { return !graph.nodes[n].inputs.empty(); });
  });
}

/// Whether the exporter dropped a sum or product whose other operand may be a
/// counter, such as a division by a counter that is 1 at the export.
bool hasDroppedArithmetic(const CallComparison &calls) {
  auto isArithmetic = [](StringRef name) {
    StringRef stem = stemOf(name);
    return stem == "add" || stem == "sub" || stem == "mul" || stem == "div";
  };
  for (const CallReads &call : calls.getCalls())
    for (const CallArgument &argument : call.arguments) {
      if (argument.isMade || argument.value == kNoValue || !isArithmetic(argument.name))
        continue;
      const CallReads *kept = calls.callOf(argument.value);
      if (!kept || stemOf(kept->result) != stemOf(argument.name) || calls.hasHiddenUser(*kept))
        return true;
    }
  return llvm::any_of(calls.getDroppedOutputs(),
                      [&](const auto &output) { return isArithmetic(output.first); });
}

/// The value of the file that `name` denotes; kNoValue if no value or several values fit.
ValueId valueNamed(const Graph &graph, const CallComparison &calls, StringRef name) {
  std::vector<ValueId> values = calls.valuesOf(name);
  // If another node of the same call reads a value, the value is an intermediate of the
  // call and not its result.
  std::set<ValueId> inner;
  for (ValueId value : values)
    if (const CallReads *call = calls.callOf(value))
      for (int32_t n : call->nodes)
        inner.insert(graph.nodes[n].inputs.begin(), graph.nodes[n].inputs.end());
  llvm::erase_if(values, [&](ValueId value) { return inner.count(value) > 0; });
  if (values.size() == 1)
    return values.front();
  for (ValueId value : values)
    if (graph.values[value].name == name)
      return value;
  for (const auto &[output, position] : calls.getDroppedOutputs())
    if (output == name)
      return graph.outputs[position].value;
  // The exporter dropped the call: find the value that the readers of its result
  // take instead.
  ValueId found = kNoValue;
  for (const CallReads &call : calls.getCalls())
    for (const CallArgument &argument : call.arguments)
      if (argument.name == name && !argument.isMade && argument.value != kNoValue) {
        if (found != kNoValue && found != argument.value)
          return kNoValue;
        found = argument.value;
      }
  return found;
}

/// The values among `candidates` that are computed from at least one of
/// `buffers`.
std::vector<ValueId> dependOn(const Graph &graph, llvm::ArrayRef<ValueId> buffers,
                              llvm::ArrayRef<ValueId> candidates) {
  std::vector<bool> depends(graph.values.size());
  for (ValueId buffer : buffers)
    depends[buffer] = true;
  for (const Node &node : graph.nodes) {
    bool reads = false;
    forEachUse(node, [&](ValueId value, int32_t) { reads |= depends[value]; });
    for (ValueId value : node.outputs)
      if (value != kNoValue)
        depends[value] = reads;
  }
  std::vector<ValueId> found;
  for (ValueId value : candidates)
    if (depends[value] && graph.values[value].kind == GraphValue::Kind::Result)
      found.push_back(value);
  return found;
}

} // namespace

UpdatedBuffers findUpdatedBuffers(const Graph &graph, const CallComparison &calls,
                                  const std::map<std::string, ValueId> &standIns) {
  UpdatedBuffers result;
  std::vector<ValueId> held, next;
  const GraphSignature &signature = calls.getSignature();
  auto lose = [&](const SignatureEntry &entry, const std::string &what, StringRef remedy) {
    result.lost.push_back(
        llvm::formatv("buffer '{0}': forward() updates it, {1}; torch.onnx.export(..., "
                      "optimize=False) keeps it{2}",
                      entry.target, what, remedy));
  };
  for (const SignatureEntry &entry : signature.outputs) {
    if (entry.kind == "PARAMETER_MUTATION")
      result.lost.push_back(
          llvm::formatv("parameter '{0}': forward() sets it to '{1}', beside the optimizer's "
                        "update; dpc trains parameters by the optimizer alone",
                        entry.target, entry.placeholder));
    const SignatureEntry *buffer = signature.findTarget(entry.target);
    if (entry.kind != "BUFFER_MUTATION" || !buffer || isStatistic(calls, *buffer))
      continue;
    ValueId value = valueNamed(graph, calls, entry.placeholder);
    ValueId tensor = findHeld(graph, *buffer);
    if (auto standIn = standIns.find(entry.target); standIn != standIns.end())
      tensor = standIn->second;
    if (value != kNoValue)
      next.push_back(value);
    if (isFolded(graph, calls, *buffer, tensor))
      lose(entry, "and the file holds what the export computed from it, not the buffer", "");
    else if (tensor != kNoValue && value == kNoValue)
      lose(entry, "and the file does not hold its next value '" + entry.placeholder + "'",
           " if forward() also returns it");
    else if (tensor != kNoValue)
      result.updates.push_back({tensor, value});
    else if (isTaken(graph, calls, *buffer))
      lose(entry, "and the file does not hold it", "");
    else if (value == kNoValue && !StringRef(entry.target).ends_with("num_batches_tracked") &&
             hasDroppedArithmetic(calls))
      lose(entry, "and what the export dropped as a factor or an addend may be it", "");
    if (tensor != kNoValue)
      held.push_back(tensor);
  }
  result.running = dependOn(graph, held, next);
  return result;
}

} // namespace dpc::onnx
