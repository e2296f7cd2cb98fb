// Moves the wait for each collective and message as far down as its buffers and the loops of the
// entry allow.

#include "passes/Overlap/Passes.h"

#include "dialects/Exec/IR/Accesses.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_DELAYWAITS
#include "passes/Overlap/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;

/// Whether `op` must not run while the collective or message that `start` starts is in flight: it
/// accesses bytes that `start` writes, or writes bytes that `start` reads.
static bool conflicts(Operation *op, Operation *start, SymbolTableCollection &symbols) {
  return llvm::any_of(accessesOf(op), [&](const Access &access) {
    const Extent extent(access.buffer, symbols);
    return llvm::any_of(accessesOf(start), [&](const Access &busy) {
      return (access.isWrite || busy.isWrite) && extent.mayOverlap(Extent(busy.buffer, symbols));
    });
  });
}

/// Moves each wait of `block` down to the first op that must not run before it. This is an op that
/// conflicts with the collective, or a loop. If neither follows, the wait moves to the end of the
/// block. A wait that does not directly follow its start stays in place: dpc-schedule-pipeline has
/// chosen the place.
static void delayWaits(Block &block, SymbolTableCollection &symbols) {
  SmallVector<WaitOp> waits; // in the order of their starts
  auto waitBefore = [&](Operation *op, llvm::function_ref<bool(Operation *)> ends) {
    llvm::erase_if(waits, [&](WaitOp wait) {
      if (!ends(wait.getEvent().getDefiningOp()))
        return false;
      op ? wait->moveBefore(op) : wait->moveBefore(&block, block.end());
      return true;
    });
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto wait = dyn_cast<WaitOp>(op)) {
      if (op.getPrevNode() == wait.getEvent().getDefiningOp())
        waits.push_back(wait);
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      // No collective may be in flight while a loop runs, because iterations reuse buffers.
      waitBefore(loop, [](Operation *) { return true; });
      delayWaits(loop.getBodyBlock(), symbols);
    } else {
      waitBefore(&op, [&](Operation *start) { return conflicts(&op, start, symbols); });
    }
  }
  waitBefore(nullptr, [](Operation *) { return true; });
}

namespace {

struct DelayWaitsPass : dpc::impl::DelayWaitsBase<DelayWaitsPass> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto entry : getOperation().getOps<EntryOp>())
      delayWaits(entry.getBodyBlock(), symbols);
    for (auto routine : getOperation().getOps<RoutineOp>())
      delayWaits(routine.getBodyBlock(), symbols);
  }
};

} // namespace
