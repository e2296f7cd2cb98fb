// Walks backwards from the results of functions to find the values that each stage needs.

#include "passes/Stages/StageNeeds.h"

#include "dialects/Interfaces/NodeNames.h"
#include "dialects/NN/IR/Conversions.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Shape.h"
#include "planning/SizeText.h"

#include "llvm/Support/FormatVariadic.h"

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
        llvm::any_of(set.getChunks(), [&](int64_t chunk) { return isOn(stage, chunk); }))
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
    messages[value].push_back({from, stage, nextNumber++, 0, 0, false});
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

/// Adds the needs of states that no stage has: the first stage holds them, e.g. a frozen table of
/// which only rows that were folded into constants are read. Such a state belongs to checkpoints
/// and to saved parameters as any other.
void StageNeeds::addUnreadStates(ArrayRef<func::FuncOp> functions) {
  std::map<std::string, BlockArgument> unread;
  std::set<std::string> held;
  for (func::FuncOp function : functions)
    for (BlockArgument argument : function.getArguments()) {
      nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber());
      if (!nn::isState(arg.getKind()))
        continue;
      unread.emplace(arg.getName().str(), argument);
      for (int64_t stage : stagesOf(chunksOf(argument)))
        if (has(argument, stage))
          held.insert(arg.getName().str());
    }
  for (const auto &[name, argument] : unread)
    if (!held.count(name))
      need(argument, stagesOf(chunksOf(argument)).front());
  addOperandsOfWaiting();
}

void StageNeeds::addFunctions(ArrayRef<func::FuncOp> functions) {
  for (func::FuncOp function : functions)
    for (OpOperand &result : function.front().getTerminator()->getOpOperands()) {
      nn::ResultAttr attr = nn::getResult(function, result.getOperandNumber());
      if (attr.getKind() == nn::ResultKind::state)
        continue;
      // The stage of the last chunk returns what every stage can compute, because it has the loss.
      const SmallVector<int64_t> able = stagesOf(chunksOf(result.get()));
      const int64_t last = stageOfChunk.back(),
                    stage = llvm::is_contained(able, last) ? last : able.back();
      returned[function].insert({result.getOperandNumber(), stage});
      need(result.get(), stage);
    }
  addOperandsOfWaiting();
  for (size_t before = ~size_t(0); before != known.size();) {
    before = known.size();
    addStateResults(functions);
    addOperandsOfWaiting();
  }
  addUnreadStates(functions);
  setChunksOfMessages();
}

SmallVector<std::string> StageNeeds::describeCrossings() const {
  std::map<int64_t, std::string> byNumber;
  for (const auto &[value, own] : messages)
    for (const StageMessage &message : own)
      if (!message.isBackward && message.chunk > message.maker + 1) {
        const StringRef node = firstNodeOf(value.getLoc());
        byNumber[message.number] =
            llvm::formatv("{0}, {1}, from stage {2} to stage {3}",
                          node.empty() ? "a value" : "what '" + node.str() + "' makes",
                          bytesText(tensorBytes(value.getType())), message.from, message.to);
      }
  return llvm::to_vector(llvm::make_second_range(byNumber));
}

std::set<int64_t> StageNeeds::readersOf(Value value, int64_t stage) const {
  std::set<int64_t> chunks;
  llvm::DenseSet<Value> seen = {value}; // looked up by key only
  SmallVector<Value> waiting = {value};
  auto follow = [&](Value next) {
    if (seen.insert(next).second)
      waiting.push_back(next);
  };
  while (!waiting.empty()) {
    Value read = waiting.pop_back_val();
    for (OpOperand &use : read.getUses()) {
      Operation *user = use.getOwner();
      if (!runs(user, stage))
        continue;
      if (auto loop = dyn_cast<dist::MicroOp>(user)) {
        follow(loop.getBodyBlock().getArgument(use.getOperandNumber()));
        continue;
      }
      const ChunkSet set = getChunks(user);
      bool isReader = false;
      if (!set.isEverywhere())
        for (int64_t chunk : set.getChunks())
          if (isOn(stage, chunk)) {
            chunks.insert(chunk);
            isReader = true;
          }
      if (!isReader)
        llvm::for_each(user->getResults(), follow);
    }
  }
  return chunks;
}

void StageNeeds::setChunksOfMessages() {
  for (auto &[value, own] : messages) {
    const ChunkSet makers = chunksOf(value);
    for (StageMessage &message : own) {
      message.maker = *llvm::find_if(makers.getChunks(),
                                     [&](int64_t chunk) { return isOn(message.from, chunk); });
      std::set<int64_t> readers = readersOf(value, message.to);
      if (readers.empty()) // what a loop yields or a function returns, and no op reads
        for (size_t chunk = 0; chunk < stageOfChunk.size(); ++chunk)
          if (isOn(message.to, chunk))
            readers.insert(chunk);
      auto after = readers.upper_bound(message.maker);
      message.isBackward = after == readers.end();
      message.chunk = message.isBackward ? *readers.rbegin() : *after;
      while (message.chunk > 0 && isOn(message.to, message.chunk - 1))
        --message.chunk;
    }
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
