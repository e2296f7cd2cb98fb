// Computes on which chunks of a pipeline the values of a function are available.

#include "passes/Stages/ChunkSets.h"

#include "dialects/Dist/IR/Messages.h"
#include "dialects/NN/IR/Program.h"

#include <algorithm>

using namespace mlir;
using namespace dpc;

ChunkSet ChunkSet::intersect(const ChunkSet &other) const {
  if (isEverywhere())
    return other;
  if (other.isEverywhere())
    return *this;
  SmallVector<int64_t> both;
  llvm::copy_if(*chunks, std::back_inserter(both),
                [&](int64_t chunk) { return other.contains(chunk); });
  return ChunkSet(both);
}

ChunkSet ChunkSet::unite(ArrayRef<int64_t> others) const {
  if (isEverywhere())
    return *this;
  SmallVector<int64_t> all(chunks->begin(), chunks->end());
  llvm::append_range(all, others);
  llvm::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return ChunkSet(all);
}

ChunkSet dpc::getChunks(Operation *op) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(dist::DistDialect::kChunksAttrName);
  return attr ? ChunkSet(attr.asArrayRef()) : ChunkSet();
}

void dpc::setChunks(Operation *op, const ChunkSet &set) {
  if (set.isEverywhere())
    op->removeAttr(dist::DistDialect::kChunksAttrName);
  else
    op->setAttr(dist::DistDialect::kChunksAttrName,
                DenseI64ArrayAttr::get(op->getContext(), set.getChunks()));
}

/// Whether the cut of the forward pass has set the chunk of `op`.
static bool hasFixedChunks(Operation *op) {
  return op->hasAttr(dist::DistDialect::kChunksAttrName);
}

ValueChunks::ValueChunks(func::FuncOp function, const StateHomes &homes, bool trains)
    : trains(trains) {
  for (BlockArgument argument : function.getArguments()) {
    nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber());
    auto home = homes.find(arg.getName().str());
    sets[argument] = nn::isState(arg.getKind()) && home != homes.end() ? home->second : ChunkSet();
    if (!nn::isState(arg.getKind()) && arg.getKind() != nn::ArgKind::control)
      fromInputs.insert(argument);
  }
  findValuesFromInputs(function.front());
  hasLoop = !function.front().getOps<dist::MicroOp>().empty();
  if (!hasLoop)
    findOpsOfMicrobatch(function.front());
  visitBlock(function.front());
}

bool ValueChunks::isFromInputs(Operation *op) const {
  auto isConstant = [](Value operand) {
    return operand.getDefiningOp() && operand.getDefiningOp()->getNumOperands() == 0;
  };
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return fromInputs.contains(operand); }) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return fromInputs.contains(operand) || isConstant(operand);
         });
}

void ValueChunks::findValuesFromInputs(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto loop = dyn_cast<dist::MicroOp>(op)) {
      for (auto [argument, operand] :
           llvm::zip_equal(loop.getBodyBlock().getArguments(), loop.getInputs()))
        if (fromInputs.contains(operand))
          fromInputs.insert(argument);
      findValuesFromInputs(loop.getBodyBlock());
    } else if (isFromInputs(&op)) {
      fromInputs.insert(op.result_begin(), op.result_end());
    }
  }
}

void ValueChunks::findOpsOfMicrobatch(Block &block) {
  // The values of one microbatch that the forward pass has: its results, and the values that are
  // computed from inputs alone.
  auto isOfForward = [&](Value value) {
    return fromInputs.contains(value) ||
           (value.getDefiningOp() && hasFixedChunks(value.getDefiningOp()));
  };
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (hasFixedChunks(&op) || llvm::any_of(op.getOperands(), isOfForward) ||
        llvm::any_of(op.getUsers(),
                     [&](Operation *user) { return opsOfMicrobatch.contains(user); }))
      opsOfMicrobatch.insert(&op);
}

bool ValueChunks::isPerMicrobatch(Operation *op) const {
  if (hasLoop)
    return isa<dist::MicroOp>(op->getParentOp());
  return !trains || opsOfMicrobatch.contains(op);
}

/// Returns the chunk of `set` that is the highest one up to `chunk`; the lowest one of all if they
/// are all higher.
static int64_t nearest(const ChunkSet &set, int64_t chunk) {
  int64_t best = set.getChunks().front();
  for (int64_t each : set.getChunks())
    if (each <= chunk)
      best = each;
  return best;
}

void ValueChunks::addReader(Value value, int64_t chunk) {
  const ChunkSet &set = get(value);
  if (set.isEverywhere() ? !fromInputs.contains(value) : set.contains(chunk))
    return;
  SmallVectorImpl<int64_t> &chunks = received[value];
  if (!llvm::is_contained(chunks, chunk))
    chunks.insert(llvm::upper_bound(chunks, chunk), chunk);
}

ChunkSet ValueChunks::haveAfterForward(Value value) const {
  auto chunks = received.find(value);
  if (chunks == received.end())
    return get(value);
  return get(value).isEverywhere() ? ChunkSet(chunks->second) : get(value).unite(chunks->second);
}

ChunkSet ValueChunks::choose(Operation *op) const {
  if (llvm::all_of(op->getOperands(), [&](Value operand) { return get(operand).isEverywhere(); }))
    return ChunkSet();
  SmallVector<std::pair<Value, ChunkSet>> operands;
  ChunkSet common;
  for (Value operand : op->getOperands()) {
    const ChunkSet set = haveAfterForward(operand);
    common = common.intersect(set);
    if (!set.isEverywhere())
      operands.push_back({operand, set});
  }
  if (!common.isEmpty())
    return common;
  const bool isPerMicrobatch = this->isPerMicrobatch(op);
  if (isPerMicrobatch && !trains) {
    int64_t highest = 0;
    for (const auto &[operand, set] : operands)
      highest = std::max(highest, set.getChunks().front());
    return ChunkSet::only(highest);
  }
  if (isPerMicrobatch) {
    // First the operands that are on one chunk only, because the others follow them.
    int64_t lowest = std::numeric_limits<int64_t>::max();
    for (const auto &[operand, set] : operands)
      if (set.getChunks().size() == 1)
        lowest = std::min(lowest, set.getChunks().front());
    for (const auto &[operand, set] : operands)
      lowest = std::min(lowest, nearest(set, lowest));
    return ChunkSet::only(lowest);
  }
  std::map<int64_t, int64_t> received;
  for (const auto &[operand, set] : operands)
    for (int64_t chunk : set.getChunks())
      received[chunk];
  for (auto &[chunk, bytes] : received)
    for (const auto &[operand, set] : operands)
      if (!set.contains(chunk))
        bytes += tensorBytes(operand.getType());
  auto best = std::min_element(received.begin(), received.end(),
                               [](const auto &a, const auto &b) { return a.second < b.second; });
  return ChunkSet::only(best->first);
}

void ValueChunks::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto loop = dyn_cast<dist::MicroOp>(op)) {
      Block &body = loop.getBodyBlock();
      for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), loop.getInputs()))
        sets[argument] = ChunkSet(get(operand));
      visitBlock(body);
      for (auto [result, yielded] :
           llvm::zip_equal(loop.getResults(), body.getTerminator()->getOperands()))
        sets[result] = ChunkSet(get(yielded));
      continue;
    }
    ChunkSet set = getChunks(&op);
    if (!hasFixedChunks(&op) && !isa<dist::CombineStagesOp>(op))
      set = choose(&op);
    if (hasFixedChunks(&op))
      for (Value operand : op.getOperands())
        addReader(operand, set.getChunks().front());
    ops[&op] = set;
    for (Value result : op.getResults())
      sets[result] = set;
  }
}
