// Finds values that the module detaches. Also finds equal calls that the exporter merged,
// although the module detaches the result of one of them.

#include "frontends/onnx/Restore/CompareCalls.h"

#include "frontends/onnx/Restore/BufferUpdates.h"
#include "frontends/onnx/Restore/CallReads.h"
#include "frontends/onnx/Restore/DroppedArithmetic.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::StringRef;

namespace dpc::onnx {
namespace {

/// Whether the exporter may drop calls with this stem, because their result
/// equals an operand.
bool mayGiveItsOperand(StringRef stem) {
  static const llvm::StringSet<> stems = {
      "add",    "sub",     "mul",        "div",     "clone",     "alias",     "contiguous",
      "view",   "reshape", "_to_copy",   "to",      "expand",    "squeeze",   "permute",
      "slice",  "flatten", "transpose",  "dropout", "unsqueeze", "expand_as", "type_as",
      "detach", "copy",    "lift_fresh", "repeat",  "narrow",    "cat",       "native_dropout"};
  return stems.contains(stem);
}

class Comparer {
public:
  Comparer(const Graph &graph, RestorationPlan &plan) : graph(graph), plan(plan), calls(graph) {}

  void run() {
    findTrained();
    findDetached();
    if (hasDetach)
      findMergedTwins();
    findRunning();
    findFrozenDraws();
    findDroppedCopies();
    for (std::string &message : findDroppedArithmetic(graph, calls))
      plan.lost.push_back(std::move(message));
  }

private:
  void findTrained();
  void findDetached();
  void findMergedTwins();
  void findRunning();
  void findFrozenDraws();
  void findDroppedCopies();
  void detach(OperandAt at, StringRef name) {
    if (detached.insert(at).second)
      plan.detachedUses.push_back({at.node, at.operand, name.str()});
  }
  bool isRestoredTwin(const CallArgument &argument) const;
  void lose(const CallReads &reader, const CallArgument &argument, const CallReads &kept);

  const Graph &graph;
  RestorationPlan &plan;
  CallComparison calls;
  /// Values that depend on a parameter of the module.
  std::vector<bool> isTrained;
  std::set<OperandAt> detached;
  bool hasDetach = false;
};

void Comparer::findTrained() {
  isTrained.assign(graph.values.size(), false);
  auto isParameter = [&](StringRef target) {
    const SignatureEntry *entry = calls.getSignature().findTarget(target);
    return entry && entry->kind == "PARAMETER";
  };
  for (const Initializer &initializer : graph.initializers)
    isTrained[initializer.value] =
        isFloat(initializer.tensor.type) &&
        (isParameter(initializer.name) || recordedKind(initializer) == "PARAMETER" ||
         llvm::any_of(foldedFrom(initializer), isParameter));
  for (const Node &node : graph.nodes) {
    bool trained = false;
    forEachUse(node, [&](ValueId value, int32_t) { trained |= isTrained[value]; });
    for (ValueId value : node.outputs)
      if (value != kNoValue)
        isTrained[value] = trained;
  }
}

void Comparer::findDetached() {
  for (const CallReads &call : calls.getCalls())
    for (const CallArgument &argument : call.arguments) {
      if (!isDetachName(argument.name))
        continue;
      if (argument.isMade) { // an Identity, or an input of this name
        hasDetach |= !calls.getSignature().findPlaceholder(argument.name);
        continue;
      }
      if (argument.value != kNoValue && !isTrained[argument.value])
        continue;
      hasDetach = true;
      for (OperandAt at : argument.reads)
        detach(at, argument.name);
      if (argument.value == kNoValue && llvm::any_of(call.nodes, [&](int32_t n) {
            return llvm::any_of(graph.nodes[n].inputs, [&](ValueId value) {
              return value != kNoValue && isTrained[value];
            });
          }))
        plan.lost.push_back(llvm::formatv(
            "{0}: takes '{1}', which the export dropped, and the file does not say which operand "
            "that was; torch.onnx.export(..., optimize=False) keeps it",
            describe(graph.nodes[call.nodes.front()]), argument.name));
    }
  // Next, the tensors that the exporter computed from a detached value.
  for (const Initializer &initializer : graph.initializers) {
    if (!isTrained[initializer.value])
      continue;
    for (const std::string &name : foldedFrom(initializer)) {
      if (!isDetachName(name) || calls.isMade(name))
        continue;
      hasDetach = true;
      for (const Use &use : graph.values[initializer.value].uses)
        if (use.operand >= 0)
          detach({use.node, use.operand}, name);
    }
  }
  for (const auto &[name, output] : calls.getDroppedOutputs())
    if (isDetachName(name) && isTrained[graph.outputs[output].value]) {
      hasDetach = true;
      plan.detachedOutputs.push_back({output, name});
    }
}

bool Comparer::isRestoredTwin(const CallArgument &argument) const {
  return llvm::any_of(plan.nodes, [&](const RestoredNode &copy) {
    return llvm::any_of(argument.reads, [&](OperandAt at) {
      return llvm::is_contained(copy.takers, std::pair(at.node, at.operand));
    });
  });
}

void Comparer::lose(const CallReads &reader, const CallArgument &argument, const CallReads &kept) {
  plan.lost.push_back(llvm::formatv(
      "{0}: takes '{1}', which the export merged with '{2}', although a detach may tell them "
      "apart; torch.onnx.export(..., optimize=False) keeps both",
      describe(graph.nodes[reader.nodes.front()]), argument.name, kept.result));
}

/// Finds equal calls that the exporter merged into one. If the module detaches values, the
/// gradient may pass only one of the merged calls, and the file does not say which one.
void Comparer::findMergedTwins() {
  for (const CallReads &call : calls.getCalls())
    for (const CallArgument &argument : call.arguments) {
      if (argument.isMade || argument.value == kNoValue || isDetachName(argument.name) ||
          !isTrained[argument.value])
        continue;
      const CallReads *kept = calls.callOf(argument.value);
      if (!kept || stemOf(kept->result) != stemOf(argument.name))
        continue;
      bool isDropped = mayGiveItsOperand(stemOf(argument.name)) && calls.hasHiddenUser(*kept);
      if (!isDropped && !isRestoredTwin(argument))
        lose(call, argument, *kept);
    }
}

/// Finds values that depend on a buffer which forward() updates. No gradient may pass
/// them: it would flow into the update of the previous step.
void Comparer::findRunning() {
  std::map<std::string, ValueId> standIns;
  for (const RestoredUse &use : plan.uses)
    if (use.was != kNoValue && plan.tensors[use.tensor].kind == TensorKind::Buffer)
      standIns[plan.tensors[use.tensor].name] = use.was;
  UpdatedBuffers buffers = findUpdatedBuffers(graph, calls, standIns);
  plan.lost.insert(plan.lost.end(), buffers.lost.begin(), buffers.lost.end());
  for (ValueId value : buffers.running) {
    if (!isTrained[value])
      continue;
    for (const Use &use : graph.values[value].uses)
      if (use.operand >= 0 && !graph.nodes[use.node].stopsGradient)
        detach({use.node, use.operand},
               calls.callOf(value) ? calls.callOf(value)->result : graph.values[value].name);
  }
}

/// Finds random calls that the exporter evaluated, so that the file has the drawn
/// numbers as a constant.
void Comparer::findFrozenDraws() {
  static const llvm::StringSet<> draws = {"bernoulli",  "rand",       "rand_like", "randn",
                                          "randn_like", "normal",     "uniform",   "randint",
                                          "randperm",   "multinomial"};
  for (const CallReads &call : calls.getCalls())
    for (const CallArgument &argument : call.arguments) {
      const Initializer *drawn =
          argument.value == kNoValue ? nullptr : graph.initializerOf(argument.value);
      if (drawn && draws.contains(stemOf(argument.name)) &&
          !calls.getSignature().findPlaceholder(argument.name) &&
          !calls.getSignature().findTarget(drawn->name))
        plan.lost.push_back(llvm::formatv(
            "{0}: takes '{1}', which the module draws at each step and the export drew once; "
            "torch.onnx.export(..., optimize=False) keeps it",
            describe(graph.nodes[call.nodes.front()]), argument.name));
    }
}

/// Finds dropped calls of x.clone() that do not change the memory order. They matter
/// because a detach() before the clone is dropped as well: the reader of the copy names
/// only the copy.
void Comparer::findDroppedCopies() {
  static const llvm::StringSet<> reorders = {
      "permute", "transpose", "t",         "expand",  "movedim", "slice", "select", "view",
      "reshape", "squeeze",   "unsqueeze", "getitem", "split",   "chunk", "unbind", "flip"};
  for (const CallReads &call : calls.getCalls())
    for (const CallArgument &argument : call.arguments) {
      if (argument.isMade || argument.value == kNoValue || stemOf(argument.name) != "clone" ||
          !isTrained[argument.value] || argument.reads.empty())
        continue;
      const CallReads *kept = calls.callOf(argument.value);
      // PyTorch's own cosine similarity copies its norms. This clone is not a call of the
      // module.
      if (kept && stemOf(kept->result) == "linalg_vector_norm" &&
          stemOf(call.result) == "clamp_min")
        continue;
      if (kept && !reorders.contains(stemOf(kept->result)) && !detached.count(argument.reads[0]))
        plan.droppedCopies.push_back(argument.name);
    }
}

} // namespace

void compareCalls(const Graph &graph, RestorationPlan &plan) { Comparer(graph, plan).run(); }

} // namespace dpc::onnx
