// Assigns the ops of a function to loops over microbatches, and gives a time to every op and
// loop.

#include "passes/Sharding/Partition/LoopSchedule.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

static std::vector<Layout> layoutsOf(Operation *op, StringRef name) {
  std::vector<Layout> result;
  if (auto list = op->getAttrOfType<ArrayAttr>(name))
    for (Attribute layout : list)
      result.push_back(cast<LayoutAttr>(layout).getLayout());
  return result;
}

std::vector<Layout> dpc::operandLayouts(Operation *op) {
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return {reshard.getFrom().getLayout()};
  return layoutsOf(op, DistDialect::kOperandsAttrName);
}

std::vector<Layout> dpc::resultLayouts(Operation *op) {
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return {reshard.getTo().getLayout()};
  return layoutsOf(op, DistDialect::kResultsAttrName);
}

static bool runsInLoop(Operation *op, const MicrobatchAxis &micro) {
  if (!micro)
    return false;
  if (auto reshard = dyn_cast<ReshardOp>(op)) {
    Layout from = reshard.getFrom().getLayout(), to = reshard.getTo().getLayout();
    return micro.isUsedBy(from) && micro.isPartial(from) == micro.isPartial(to) &&
           micro.sameSlices(from, to);
  }
  auto usesLoop = [&](const Layout &layout) { return micro.isUsedBy(layout); };
  return llvm::any_of(operandLayouts(op), usesLoop) || llvm::any_of(resultLayouts(op), usesLoop);
}

LoopSchedule::LoopSchedule(func::FuncOp function, const MicrobatchAxis &micro) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.front().without_terminator()) {
    ops.push_back(&op);
    if (runsInLoop(&op, micro))
      looped.insert(&op);
  }
  for (Operation *op : ops) {
    int64_t now = inLoop(op) ? 1 : 0;
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer)
        continue;
      bool leaves = !inLoop(producer) && inLoop(op);
      now = std::max(now, time[producer] + (leaves ? 1 : 0));
    }
    time[op] = now;
    last = std::max(last, now);
  }
  // Then every op moves to the latest time that its users allow. A value that crosses from one loop
  // to another must be stored, so an op should run in the loop of its readers. A loop that computes
  // one number for a later loop then has only the ops that this number needs.
  earliest = time;
  for (Operation *op : llvm::reverse(ops)) {
    int64_t latest = last;
    for (Operation *user : op->getUsers())
      if (!user->hasTrait<OpTrait::IsTerminator>()) {
        bool enters = !inLoop(op) && inLoop(user);
        latest = std::min(latest, time[user] - (enters ? 1 : 0));
      }
    time[op] = latest;
  }
}

SmallVector<ReshardOp> LoopSchedule::madeBefore(ReshardOp op) const {
  SmallVector<ReshardOp> made;
  for (Operation *user : op.getInput().getUsers()) {
    auto other = dyn_cast<ReshardOp>(user);
    if (!other || other == op || inLoop(other) != inLoop(op))
      continue;
    // The result of a reshard in one loop does not exist in another loop.
    const int64_t own = getTime(op), theirs = getTime(other);
    if (theirs == own ? other->isBeforeInBlock(op) : !inLoop(op) && theirs < own)
      made.push_back(other);
  }
  llvm::sort(made, [](ReshardOp a, ReshardOp b) { return a->isBeforeInBlock(b); });
  return made;
}
