// Applies a kernel plan (KernelPlan.h): moves the ops of each kernel into an `nn.kernel`, with
// copies of the constants and broadcasts that these ops read.

#include "passes/Fusion/KernelPlan.h"
#include "passes/Fusion/Passes.h"
#include "passes/Machine/MachineTarget.h"

#include "dialects/NN/IR/Program.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/Fusion/Passes.h.inc"
} // namespace dpc

using namespace dpc;

/// Whether every kernel that reads `value` computes it again. This holds if a `repeated` op
/// (FusionKind), e.g. a broadcast, computes `value` and this op is not in `members`. The op may be
/// in another block.
static bool isRepeated(Value value, const DenseSet<Operation *> &members) {
  Operation *op = value.getDefiningOp();
  return op && !members.contains(op) && getFusionKind(op) == FusionKind::repeated;
}

namespace {

/// Moves the ops of one kernel into an `nn.kernel` op.
class KernelBuilder {
public:
  KernelBuilder(ArrayRef<Operation *> ops, OpBuilder &builder)
      : ops(ops), members(ops.begin(), ops.end()), builder(builder) {}

  void run() {
    llvm::SetVector<Value> inputs;
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        collectInputs(operand, inputs);
    SmallVector<Value> outputs;
    SmallVector<Location> locations;
    for (Operation *op : ops) {
      locations.push_back(op->getLoc());
      for (Value result : op->getResults())
        if (isReadOutside(result))
          outputs.push_back(result);
    }
    if (outputs.empty()) // the ops are dead
      return eraseOps();

    auto kernel = builder.create<nn::KernelOp>(
        builder.getFusedLoc(locations), TypeRange(ValueRange(outputs)), inputs.getArrayRef());
    Block &body = kernel.getBody().emplaceBlock();
    for (Value input : inputs)
      mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
    OpBuilder inner = OpBuilder::atBlockEnd(&body);
    for (Operation *op : ops)
      copy(op, inner);
    SmallVector<Value> yielded;
    for (Value output : outputs)
      yielded.push_back(mapping.lookup(output));
    inner.create<nn::YieldOp>(kernel.getLoc(), yielded);
    for (auto [output, result] : llvm::zip_equal(outputs, kernel.getResults()))
      output.replaceUsesWithIf(result,
                               [&](OpOperand &use) { return !members.contains(use.getOwner()); });
    eraseOps();
  }

private:
  void collectInputs(Value value, llvm::SetVector<Value> &inputs) {
    if (Operation *op = value.getDefiningOp()) {
      if (members.contains(op))
        return;
      if (isRepeated(value, members)) {
        for (Value operand : op->getOperands())
          collectInputs(operand, inputs);
        return;
      }
    }
    inputs.insert(value);
  }

  void copy(Operation *op, OpBuilder &inner) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand) && isRepeated(operand, members))
        copy(operand.getDefiningOp(), inner);
    inner.clone(*op, mapping);
  }

  /// Whether an op outside of this kernel reads `value`, directly or through `repeated` ops, of
  /// which each kernel has its own copies.
  bool isReadOutside(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (members.contains(user))
        return false;
      return getFusionKind(user) != FusionKind::repeated ||
             llvm::any_of(user->getResults(), [&](Value result) { return isReadOutside(result); });
    });
  }

  /// Erases `op` and the `repeated` ops that read it. Every kernel that needs these ops has its own
  /// copies.
  static void eraseWithReaders(Operation *op) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      eraseWithReaders(user);
    op->erase();
  }

  void eraseOps() {
    for (Operation *op : llvm::reverse(ops))
      eraseWithReaders(op);
  }

  ArrayRef<Operation *> ops;
  DenseSet<Operation *> members;
  OpBuilder &builder;
  IRMapping mapping;
};

struct FormKernelsPass : dpc::impl::FormKernelsBase<FormKernelsPass> {
  using FormKernelsBase::FormKernelsBase;

  void runOnOperation() override {
    target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    code = codeOptionsOf(getOperation()->getParentOfType<ModuleOp>(), recompute, orderedSums,
                         factors, products);
    // Inner regions come first. Their kernels may copy ops of outer blocks, which is possible only
    // before these ops move into kernels of the outer block.
    SmallVector<Block *> blocks;
    getOperation()->walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (getFusionKind(op) != FusionKind::outside ||
          isa_and_nonnull<nn::NNDialect>(op->getDialect()))
        return;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          blocks.push_back(&block);
    });
    for (Block *block : blocks)
      if (failed(formKernels(*block)))
        return signalPassFailure();
  }

private:
  LogicalResult formKernels(Block &block) {
    const KernelProblem problem{block, *target, code, maxOps, recomputedOps};
    llvm::Expected<KernelPlan> plan = planKernels(problem);
    llvm::Error error = plan ? plan->verify(problem) : plan.takeError();
    if (error)
      return block.getParentOp()->emitError("kernels: ") << llvm::toString(std::move(error));
    OpBuilder builder(block.getTerminator());
    for (const KernelOps &ops : plan->kernels) {
      FusionKind kind = getFusionKind(ops.front());
      if (kind == FusionKind::view || kind == FusionKind::outside)
        ops.front()->moveBefore(block.getTerminator());
      else
        KernelBuilder(ops, builder).run();
    }
    // Erase the `repeated` ops that have no uses left, because each kernel has its own copies of
    // them.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (getFusionKind(&op) == FusionKind::repeated && op.use_empty())
        op.erase();
    return success();
  }

  const Target *target = nullptr;
  CodeOptions code;
};

} // namespace
