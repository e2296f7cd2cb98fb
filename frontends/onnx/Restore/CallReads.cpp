// Compares the arguments of ATen calls with the operands of the ONNX nodes that the
// exporter wrote for the calls.

#include "frontends/onnx/Restore/CallReads.h"

#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace dpc::onnx {

bool isDetachName(StringRef name) { return stemOf(name) == "detach"; }

CallComparison::CallComparison(const Graph &graph)
    : graph(graph), signature(graphSignature(graph)) {
  groupNodes();
  collectNames();
  for (CallReads &call : calls)
    align(call);
  findDroppedOutputs();
}

void CallComparison::groupNodes() {
  std::map<StringRef, size_t> groupOf;
  callOfNode.assign(graph.nodes.size(), -1);
  for (auto [n, node] : llvm::enumerate(graph.nodes)) {
    StringRef text = node.metadata(kFxNode);
    if (text.empty() || !node.callers.empty())
      continue;
    auto [found, isNew] = groupOf.try_emplace(text, calls.size());
    if (isNew) {
      std::optional<FxCall> call = parseFxCall(text);
      calls.push_back({call.value_or(FxCall()), resultOf(text).str(), {}, {}});
      std::set<std::string> distinct;
      for (const std::string &name : fxArguments(text)) {
        calls.back().arguments.push_back({name, kNoValue, {}, true});
        if (distinct.insert(name).second)
          ++takers[name];
      }
    }
    callOfNode[n] = int32_t(found->second);
    calls[found->second].nodes.push_back(int32_t(n));
  }
}

static void collectInside(const Node &node, std::set<std::string, std::less<>> &names) {
  for (const Subgraph &subgraph : node.subgraphs)
    for (const Node &inner : subgraph.nodes) {
      names.insert(resultOf(inner.metadata(kFxNode)).str());
      collectInside(inner, names);
    }
}

void CallComparison::collectNames() {
  for (const CallReads &call : calls)
    for (int32_t n : call.nodes)
      for (ValueId value : graph.nodes[n].outputs)
        if (value != kNoValue)
          named[call.result].push_back(value);
  for (const Node &node : graph.nodes)
    collectInside(node, madeInside);
  auto add = [&](StringRef name, ValueId value) {
    auto [found, isNew] = named.try_emplace(name.str());
    if (isNew)
      found->second.push_back(value);
  };
  for (const GraphInput &input : graph.inputs)
    add(input.name, input.value);
  for (const Initializer &initializer : graph.initializers) {
    auto addTarget = [&](StringRef target) {
      if (const SignatureEntry *entry = signature.findTarget(target))
        add(entry->placeholder, initializer.value);
    };
    addTarget(initializer.name);
    for (const std::string &alias : initializer.aliases)
      addTarget(alias);
  }
  // If a call has several results, each result has its own name, and a value of the file
  // has the same name. Names of graph outputs do not count, because the user chooses
  // them.
  std::set<StringRef> outputs;
  for (const GraphOutput &output : graph.outputs)
    outputs.insert(output.name);
  for (auto [value, each] : llvm::enumerate(graph.values))
    if (!each.name.empty() && !outputs.count(each.name) && !isDetachName(each.name))
      add(each.name, ValueId(value));
}

bool CallComparison::isMade(StringRef name) const {
  return named.find(name) != named.end() || madeInside.find(name) != madeInside.end() ||
         signature.findPlaceholder(name);
}

std::vector<ValueId> CallComparison::valuesOf(StringRef name) const {
  auto found = named.find(name);
  return found == named.end() ? std::vector<ValueId>() : found->second;
}

const CallReads *CallComparison::callOf(ValueId value) const {
  const GraphValue &each = graph.values[value];
  if (each.kind != GraphValue::Kind::Result || callOfNode[each.index] < 0)
    return nullptr;
  return &calls[callOfNode[each.index]];
}

bool CallComparison::hasHiddenUser(const CallReads &call) const {
  StringRef text = graph.nodes[call.nodes.front()].metadata(kFxNode);
  size_t at = text.find("num_users=");
  int users = 0;
  if (at == StringRef::npos || text.drop_front(at + 10).consumeInteger(10, users))
    return true; // no number of users is recorded, so assume one was dropped
  int known = 0;
  if (auto found = takers.find(call.result); found != takers.end())
    known = found->second;
  // An output of the exported program counts as one user.
  known += llvm::any_of(signature.outputs, [&](const SignatureEntry &entry) {
    return entry.placeholder == call.result;
  });
  return known < users;
}

/// Aligns the argument names of `call` with the operands of its nodes, by dynamic
/// programming. The name of a value of the file matches only that value. The name of a
/// dropped call matches any operand.
void CallComparison::align(CallReads &call) {
  std::set<ValueId> own;
  for (int32_t n : call.nodes)
    own.insert(graph.nodes[n].outputs.begin(), graph.nodes[n].outputs.end());
  struct Read {
    OperandAt at;
    ValueId value;
  };
  std::vector<Read> reads;
  for (int32_t n : call.nodes)
    for (auto [i, value] : llvm::enumerate(graph.nodes[n].inputs)) {
      if (value == kNoValue || own.count(value))
        continue;
      const Initializer *initializer = graph.initializerOf(value);
      if (initializer && !isFloat(initializer->tensor.type))
        continue;
      reads.push_back({{n, int32_t(i)}, value});
    }

  const size_t numNames = call.arguments.size(), numReads = reads.size();
  std::vector<std::vector<ValueId>> values;
  for (CallArgument &argument : call.arguments) {
    values.push_back(valuesOf(argument.name));
    argument.isMade = isMade(argument.name);
  }
  auto score = [&](size_t a, size_t r) {
    if (!values[a].empty())
      return llvm::is_contained(values[a], reads[r].value) ? 4 : 0;
    if (call.arguments[a].isMade)
      return 0;
    // A single number is likely a constant that the exporter added, not the result
    // of a call.
    const Initializer *initializer = graph.initializerOf(reads[r].value);
    return initializer && initializer->tensor.numElements() <= 1 ? 1 : 2;
  };
  std::vector<std::vector<int>> best(numNames + 1, std::vector<int>(numReads + 1, 0));
  for (size_t a = numNames; a-- > 0;)
    for (size_t r = numReads; r-- > 0;) {
      int own = score(a, r);
      best[a][r] = std::max({best[a + 1][r], best[a][r + 1], own ? own + best[a + 1][r + 1] : 0});
    }
  std::vector<bool> isTaken(numReads);
  auto take = [&](CallArgument &argument, size_t r) {
    argument.value = reads[r].value;
    argument.reads.push_back(reads[r].at);
    isTaken[r] = true;
  };
  for (size_t a = 0, r = 0; a < numNames && r < numReads;) {
    int own = score(a, r);
    if (own && best[a][r] == own + best[a + 1][r + 1])
      take(call.arguments[a++], r++);
    else if (best[a][r] == best[a + 1][r])
      ++a;
    else
      ++r;
  }

  // Assigns the remaining operands. A node may read an argument twice, and may read an
  // argument at another position than the call has it.
  for (size_t r = 0; r < numReads; ++r) {
    llvm::SmallVector<CallArgument *> same;
    for (CallArgument &argument : call.arguments)
      if (!isTaken[r] && argument.value == reads[r].value)
        same.push_back(&argument);
    if (same.size() == 1)
      take(*same.front(), r);
  }
  std::set<ValueId> left;
  for (size_t r = 0; r < numReads; ++r)
    if (!isTaken[r] && !graph.initializerOf(reads[r].value))
      left.insert(reads[r].value);
  llvm::SmallVector<CallArgument *> open;
  for (CallArgument &argument : call.arguments)
    if (!argument.isMade && argument.value == kNoValue)
      open.push_back(&argument);
  if (open.size() == 1 && left.size() == 1)
    for (size_t r = 0; r < numReads; ++r)
      if (!isTaken[r] && left.count(reads[r].value))
        take(*open.front(), r);
}

void CallComparison::findDroppedOutputs() {
  std::vector<StringRef> names;
  for (const SignatureEntry &entry : signature.outputs)
    if (entry.kind == "USER_OUTPUT")
      names.push_back(entry.placeholder);
  if (names.size() != graph.outputs.size())
    return;
  for (auto [i, name] : llvm::enumerate(names))
    if (!isMade(name))
      droppedOutputs.push_back({name.str(), i});
}

} // namespace dpc::onnx
