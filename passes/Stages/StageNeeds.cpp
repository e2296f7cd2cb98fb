// Walks backwards from the results of functions to find the values that each stage needs.

#include "passes/Stages/StageNeeds.h"

#include "dialects/NN/IR/Conversions.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Shape.h"

using namespace mlir;
using namespace dpc;

/// The loop whose body has the argument or the result `value`; null outside of loops.
static dist::MicroOp loopAround(Value value) {
  return dyn_cast_or_null<dist::MicroOp>(value.getParentBlock()->getParentOp());
}

/// Whether a stage should receive the operands of `op` and run it, instead of receiving its result:
/// `op` is a view, a broadcast or a conversion, and its operands have no more bytes than its
/// result. A stage often reads a gradient and a view of it, and then receives it only once.
static bool runsAtReader(Operation *op) {
  const FusionKind kind = getFusionKind(op);
  if (op->getNumOperands() == 0 || op->getNumRegions() > 0 ||
      (kind != FusionKind::view && kind != FusionKind::repeated && !nn::isConversion(op)))
    return false;
  int64_t read = 0, made = 0;
  for (Value operand : op->getOperands())
    read += tensorBytes(operand.getType());
  for (Value result : op->getResults())
    made += tensorBytes(result.getType());
  return read <= made;
}

SmallVector<int64_t> StageNeeds::stagesOf(const ChunkSet &set) const {
  SmallVector<int64_t> found;
  for (int64_t stage = 0; stage < stages; ++stage)
    if (set.isEverywhere() ||
        llvm::any_of(set.getChunks(), [&](int64_t chunk) { return chunk % stages == stage; }))
      found.push_back(stage);
  return found;
}

/// The chunks on which `value` is available, by the attributes of dpc-assign-stages.
ChunkSet StageNeeds::chunksOf(Value value) const {
  if (auto result = dyn_cast<OpResult>(value)) {
    if (auto loop = dyn_cast<dist::MicroOp>(result.getOwner()))
      return chunksOf(loop.getBodyBlock().getTerminator()->getOperand(result.getResultNumber()));
    return getChunks(result.getOwner());
  }
  auto argument = cast<BlockArgument>(value);
  if (dist::MicroOp loop = loopAround(value))
    return chunksOf(loop.getInputs()[argument.getArgNumber()]);
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto attr = function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(),
                                                           dist::DistDialect::kChunksAttrName);
  return attr ? ChunkSet(attr.asArrayRef()) : ChunkSet();
}

void StageNeeds::run(Operation *op, int64_t stage) {
  if (!running.insert({op, stage}).second)
    return;
  if (auto loop = dyn_cast<dist::MicroOp>(op->getParentOp()))
    run(loop, stage);
  if (isa<dist::MicroOp>(op)) // the needs of its body are added one by one
    return;
  if (auto combine = dyn_cast<dist::CombineStagesOp>(op))
    return addCombine(combine, stage);
  for (Value operand : op->getOperands())
    need(operand, stage);
}

void StageNeeds::addCombine(dist::CombineStagesOp combine, int64_t stage) {
  const bool isNew = combines[combine].members.empty();
  combines[combine].members.insert(stage);
  if (!isNew)
    return;
  combines[combine].number = nextNumber++;
  for (Value term : combine.getTerms()) {
    // dpc-assign-stages makes terms that one chunk has, or that it adds to such a term.
    const int64_t own = stagesOf(chunksOf(term)).front();
    need(term, own);
    combines[combine].members.insert(own);
    run(combine, own);
  }
}

void StageNeeds::need(Value value, int64_t stage) {
  if (known.insert({value, stage}).second)
    waiting.push_back({value, stage});
}

void StageNeeds::addOperandsOfWaiting() {
  while (!waiting.empty()) {
    const auto [value, stage] = waiting.pop_back_val();
    addOperands(value, stage);
  }
}

void StageNeeds::addOperands(Value value, int64_t stage) {
  const SmallVector<int64_t> able = stagesOf(chunksOf(value));
  const bool isLoopArgument = isa<BlockArgument>(value) && loopAround(value);
  if (Operation *op = value.getDefiningOp();
      op && !llvm::is_contained(able, stage) && runsAtReader(op))
    return run(op, stage);
  if (!llvm::is_contained(able, stage) && !isLoopArgument) {
    // Prefer a stage that has the value anyway.
    auto known = llvm::find_if(able, [&](int64_t each) { return has(value, each); });
    const int64_t from = known != able.end() ? *known : able.front();
    need(value, from);
    messages[value].push_back({from, stage, nextNumber++});
    if (dist::MicroOp loop = loopAround(value))
      run(loop, stage);
    return;
  }
  if (auto result = dyn_cast<OpResult>(value)) {
    if (auto loop = dyn_cast<dist::MicroOp>(result.getOwner())) {
      run(loop, stage);
      need(loop.getBodyBlock().getTerminator()->getOperand(result.getResultNumber()), stage);
      return;
    }
    run(result.getOwner(), stage);
    return;
  }
  if (isLoopArgument) {
    dist::MicroOp loop = loopAround(value);
    run(loop, stage);
    need(loop.getInputs()[cast<BlockArgument>(value).getArgNumber()], stage);
  }
}

/// Adds the needs of new values of states: each stage that holds a state computes its new value.
/// This can make more stages hold states, so the caller repeats it until nothing changes.
void StageNeeds::addStateResults(ArrayRef<func::FuncOp> functions) {
  std::map<std::string, std::set<int64_t>> holders;
  for (func::FuncOp function : functions)
    for (BlockArgument argument : function.getArguments()) {
      nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber());
      if (!nn::isState(arg.getKind()))
        continue;
      std::set<int64_t> &own = holders[arg.getName().str()];
      const ChunkSet set = chunksOf(argument);
      for (int64_t stage = 0; stage < stages; ++stage)
        if (has(argument, stage) && llvm::is_contained(stagesOf(set), stage))
          own.insert(stage);
      if (!set.isEverywhere())
        for (int64_t stage : stagesOf(set))
          own.insert(stage);
    }
  for (func::FuncOp function : functions)
    for (OpOperand &result : function.front().getTerminator()->getOpOperands()) {
      nn::ResultAttr attr = nn::getResult(function, result.getOperandNumber());
      if (attr.getKind() != nn::ResultKind::state)
        continue;
      std::set<int64_t> &own = holders[attr.getName().str()];
      if (own.empty()) // a state that no other result depends on
        own.insert(stagesOf(chunksOf(result.get())).front());
      for (int64_t stage : own) {
        returned[function].insert({result.getOperandNumber(), stage});
        need(result.get(), stage);
        // The stage holds the state, even if no op of this function reads it.
        for (BlockArgument argument : function.getArguments())
          if (nn::getArg(function, argument.getArgNumber()).getName() == attr.getName())
            need(argument, stage);
      }
    }
}

void StageNeeds::addFunctions(ArrayRef<func::FuncOp> functions) {
  for (func::FuncOp function : functions)
    for (OpOperand &result : function.front().getTerminator()->getOpOperands()) {
      nn::ResultAttr attr = nn::getResult(function, result.getOperandNumber());
      if (attr.getKind() == nn::ResultKind::state)
        continue;
      // The last stage returns what every stage can compute, because it has the loss.
      const int64_t stage = stagesOf(chunksOf(result.get())).back();
      returned[function].insert({result.getOperandNumber(), stage});
      need(result.get(), stage);
    }
  addOperandsOfWaiting();
  for (size_t before = ~size_t(0); before != known.size();) {
    before = known.size();
    addStateResults(functions);
    addOperandsOfWaiting();
  }
}

bool StageNeeds::returns(func::FuncOp function, unsigned index, int64_t stage) const {
  auto found = returned.find(function);
  return found != returned.end() && found->second.count({index, stage});
}

ArrayRef<StageMessage> StageNeeds::getMessages(Value value) const {
  auto found = messages.find(value);
  return found == messages.end() ? ArrayRef<StageMessage>() : ArrayRef<StageMessage>(found->second);
}

SmallVector<int64_t> StageNeeds::getMembers(dist::CombineStagesOp combine) const {
  const std::set<int64_t> &members = combines.find(combine)->second.members;
  return SmallVector<int64_t>(members.begin(), members.end());
}
