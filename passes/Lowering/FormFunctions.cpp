// Outlines each run of consecutive launches, copies and `exec.microbatch` ops of an entry into a
// function. One action (`exec.compute`) calls this function.

#include "passes/Lowering/Passes.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Stages.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_FORMFUNCTIONS
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;

static bool isComputation(Operation &op) { return isa<LaunchOp, CopyOp, MicrobatchOp>(op); }

static bool isStorage(Operation &op) { return namesMemory(&op); }

namespace {

struct FormFunctionsPass : dpc::impl::FormFunctionsBase<FormFunctionsPass> {
  void runOnOperation() override {
    for (dist::RankProgram program : dist::programsOf(getOperation())) {
      numberBuffers(program.module);
      for (EntryOp entry : llvm::to_vector(program.module.getOps<EntryOp>())) {
        count = 0;
        formFunctions(entry, entry.getSymName(), entry.getBodyBlock());
        for (RoutineOp routine : llvm::to_vector(program.module.getOps<RoutineOp>()))
          if (routine.getEntry() == entry.getSymName())
            formFunctions(entry, routine.getSymName(), routine.getBodyBlock());
      }
      program.module->removeAttr(dist::DistDialect::kPlanAttrName);
    }
    // Two programs with equal code and tables should be equal, even if different plans led to them.
    getOperation()->removeAttr(dist::DistDialect::kPlanAttrName);
  }

private:
  /// Numbers the buffers. Each function has its own copy of the buffer ops that it uses. Two copies
  /// stand for the same buffer if their numbers are equal.
  static void numberBuffers(ModuleOp program) {
    Builder builder(program.getContext());
    int64_t number = 0;
    for (Operation &op : *program.getBody())
      if (isa<EntryOp, RoutineOp>(op))
        op.walk(
            [&](BufferOp buffer) { buffer.setNumberAttr(builder.getI64IntegerAttr(number++)); });
  }

  /// Forms functions from the ops of `block`. Their names begin with `prefix`.
  void formFunctions(EntryOp entry, StringRef prefix, Block &block) {
    SmallVector<Operation *> run;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isStorage(op))
        continue;
      if (isComputation(op)) {
        run.push_back(&op);
        continue;
      }
      outline(entry, prefix, run);
      if (auto loop = dyn_cast<LoopOp>(op))
        formFunctions(entry, prefix, loop.getBodyBlock());
    }
    outline(entry, prefix, run);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isStorage(op) && op.use_empty())
        op.erase();
  }

  /// Moves `run` into a function of its own. Copies into this function the ops that define the
  /// buffers of `run`. The offsets of these buffers are already fixed, so a copy stands for the
  /// same bytes.
  void outline(EntryOp entry, StringRef prefix, SmallVector<Operation *> &run) {
    if (run.empty())
      return;
    SmallVector<Location> locations;
    for (Operation *op : run)
      locations.push_back(op->getLoc());
    OpBuilder builder(entry);
    Location loc = builder.getFusedLoc(locations);
    auto function = builder.create<FunctionOp>(loc, (prefix + "." + Twine(count)).str(), count,
                                               entry.getSymName());
    ++count;
    builder.setInsertionPointToEnd(&function.getBody().emplaceBlock());
    IRMapping mapping;
    for (Operation *op : run) {
      for (Value operand : op->getOperands())
        copyStorage(operand, builder, mapping);
      builder.clone(*op, mapping);
    }
    builder.setInsertionPoint(run.front());
    builder.create<ComputeOp>(loc, function.getSymName());
    for (Operation *op : run)
      op->erase();
    run.clear();
  }

  void copyStorage(Value buffer, OpBuilder &builder, IRMapping &mapping) {
    if (mapping.contains(buffer))
      return;
    Operation *op = buffer.getDefiningOp();
    for (Value operand : op->getOperands())
      copyStorage(operand, builder, mapping);
    builder.clone(*op, mapping);
  }

  unsigned count = 0;
};

} // namespace
