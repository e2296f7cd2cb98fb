// Moves the wait for each collective as far down as the buffers of the collective and the loops of
// the entry allow.

#include "passes/Overlap/Passes.h"

#include "dialects/Exec/IR/Accesses.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_DELAYWAITS
#include "passes/Overlap/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;

/// Whether `op` must not run while the collective `start` is in flight: it accesses the output of
/// the collective, or writes the input of the collective.
static bool conflicts(Operation *op, StartOp start, SymbolTableCollection &symbols) {
  const Extent input(start.getInput(), symbols), output(start.getOutput(), symbols);
  return llvm::any_of(accessesOf(op), [&](const Access &access) {
    Extent extent(access.buffer, symbols);
    return extent.mayOverlap(output) || (access.isWrite && extent.mayOverlap(input));
  });
}

/// Moves each wait of `block` down to the first op that must not run before it. This is an op that
/// conflicts with the collective, or a loop. If neither follows, the wait moves to the end of the
/// block.
static void delayWaits(Block &block, SymbolTableCollection &symbols) {
  SmallVector<WaitOp> waits; // in the order of their starts
  auto waitBefore = [&](Operation *op, llvm::function_ref<bool(StartOp)> ends) {
    llvm::erase_if(waits, [&](WaitOp wait) {
      if (!ends(wait.getEvent().getDefiningOp<StartOp>()))
        return false;
      op ? wait->moveBefore(op) : wait->moveBefore(&block, block.end());
      return true;
    });
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto wait = dyn_cast<WaitOp>(op)) {
      waits.push_back(wait);
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      // No collective may be in flight while a loop runs, because iterations reuse buffers.
      waitBefore(loop, [](StartOp) { return true; });
      delayWaits(loop.getBodyBlock(), symbols);
    } else {
      waitBefore(&op, [&](StartOp start) { return conflicts(&op, start, symbols); });
    }
  }
  waitBefore(nullptr, [](StartOp) { return true; });
}

namespace {

struct DelayWaitsPass : dpc::impl::DelayWaitsBase<DelayWaitsPass> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto entry : getOperation().getOps<EntryOp>())
      delayWaits(entry.getBodyBlock(), symbols);
  }
};

} // namespace
