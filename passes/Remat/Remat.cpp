// Repeats segments of the forward pass in the backward pass, by RematPlan.

#include "passes/Forward/ForwardPass.h"
#include "passes/Remat/Passes.h"
#include "passes/Remat/RematPlan.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_REMAT
#include "passes/Remat/Passes.h.inc"
} // namespace dpc

using namespace dpc;

/// Whether the results of `op` take no memory of their own: views, and what kernels compute
/// where they read it, such as constants. It is made again wherever it is read.
static bool isFree(Operation *op) {
  const FusionKind kind = getFusionKind(op);
  return kind == FusionKind::view || kind == FusionKind::repeated;
}

namespace {

/// Plans one block and applies the plan.
class BlockRemat {
public:
  /// `forward` and `updates` are what the loss, and the new state, depend on.
  BlockRemat(Block &block, const Ancestors &forward, const Ancestors &updates,
             const Machine &machine, int64_t savedBytes)
      : block(block) {
    for (Operation &op : block.without_terminator())
      if (forward.ops.contains(&op) && llvm::any_of(op.getResultTypes(), hasRank))
        lastForward = &op;
    bool isBehind = false;
    for (Operation &op : block.without_terminator()) {
      // What stands before the end of the forward pass and serves the backward pass alone,
      // a mask say, is made of the forward pass and goes with it.
      const bool isForward = forward.ops.contains(&op) || (!isBehind && updates.ops.contains(&op));
      isBehind |= &op == lastForward;
      if (isForward) {
        numberOf[&op] = ops.size();
        ops.push_back(&op);
      } else if (updates.ops.contains(&op)) {
        backward.insert(&op);
      }
    }
    problem.ops = ops.size();
    problem.savedBytes = savedBytes;
    for (Operation *op : ops)
      problem.seconds.push_back(secondsOf(op, machine));
    addValues();
  }

  LogicalResult run() {
    if (!lastForward)
      return success();
    llvm::Expected<RematPlan> made = planSegments(problem);
    llvm::Error error = made ? made->verify(problem) : made.takeError();
    if (error)
      return block.getParentOp()->emitError("recomputation: ") << llvm::toString(std::move(error));
    plan = *made;
    // The backward pass begins with the last segment, which is still there.
    for (int64_t segment = plan.cuts.size(); segment-- > 0;)
      if (plan.repeated[segment])
        repeat(segment);
    return success();
  }

  const RematPlan &getPlan() const { return plan; }
  int64_t countRepeated() const {
    return std::count(plan.repeated.begin(), plan.repeated.end(), true);
  }

private:
  static double secondsOf(Operation *op, const Machine &machine) {
    if (dist::isCollective(op)) {
      const double bytes = std::max(tensorBytes(op->getOperand(0).getType()),
                                    tensorBytes(op->getResult(0).getType()));
      const int64_t members = dist::membersOf(op);
      return machine.linkOver(dist::axesOf(op))
          .transferSeconds(isa<dist::AllReduceOp>(op) ? allReduceBytes(bytes, members)
                                                      : gatherBytes(bytes, members));
    }
    auto cost = dyn_cast<CostOpInterface>(op);
    return cost ? machine.device.computeSeconds(cost.getFlops(), getFusedBytes(op)) : 0;
  }

  /// Makes a value of the problem of each result of the forward pass that has memory.
  void addValues() {
    for (Operation *op : ops) {
      // Loops are never repeated.
      if (isFree(op) || op->getNumRegions())
        continue;
      for (Value result : op->getResults()) {
        RematValue value;
        value.maker = value.lastReader = numberOf.lookup(op);
        value.bytes = tensorBytes(result.getType());
        value.isReadBackward = false;
        addReaders(result, value);
        valueOf[result] = problem.values.size();
        problem.values.push_back(value);
      }
    }
  }

  /// Ops of the block that read `read`, itself or through what is free.
  void addReaders(Value read, RematValue &value) {
    for (Operation *user : read.getUsers()) {
      Operation *op = block.findAncestorOpInBlock(*user);
      auto number = numberOf.find(op);
      if (op && isFree(op))
        for (Value result : op->getResults())
          addReaders(result, value);
      else if (number != numberOf.end())
        value.lastReader = std::max(value.lastReader, number->second);
      if (backward.contains(op))
        value.isReadBackward = true;
    }
  }

  int64_t segmentOf(Operation *op) const {
    auto number = numberOf.find(op);
    return number == numberOf.end() ? -1 : plan.segmentOf(number->second);
  }

  /// Whether the first computation of `value` is still there in the backward pass: it
  /// comes from outside, or crosses a cut.
  bool isKept(Value value) const {
    Operation *op = value.getDefiningOp();
    if (op && isFree(op))
      return false;
    auto number = valueOf.find(value);
    return number == valueOf.end() || plan.keeps(problem.values[number->second]);
  }

  /// Whether `value`, or something of which it is made for nothing, is made in `segment`
  /// and not kept.
  bool isLost(Value value, int64_t segment) const {
    Operation *op = value.getDefiningOp();
    if (!op || isKept(value))
      return false;
    if (isFree(op))
      return llvm::any_of(op->getOperands(),
                          [&](Value operand) { return isLost(operand, segment); });
    return segmentOf(op) == segment;
  }

  /// Computes again what the backward pass reads of a segment.
  void repeat(int64_t segment) {
    llvm::SetVector<Value> needed;
    Operation *reader = nullptr;
    SmallVector<OpOperand *> uses;
    for (Operation *op : ops)
      if (isFree(op) || segmentOf(op) == segment)
        for (Value result : op->getResults()) {
          if (!isLost(result, segment))
            continue;
          for (OpOperand &use : result.getUses()) {
            Operation *user = block.findAncestorOpInBlock(*use.getOwner());
            if (!backward.contains(user))
              continue;
            needed.insert(result);
            uses.push_back(&use);
            if (!reader || user->isBeforeInBlock(reader))
              reader = user;
          }
        }
    Value trigger = reader ? findTrigger(reader) : Value();
    if (!trigger)
      return;
    OpBuilder builder(reader);
    IRMapping again;
    for (Operation *op : collect(needed)) {
      for (Value operand : op->getOperands())
        if (!again.contains(operand))
          again.map(operand, readAgain(builder, operand, trigger));
      Operation *clone = builder.clone(*op, again);
      clone->setLoc(op->getLoc());
    }
    for (OpOperand *use : uses)
      use->set(again.lookup(use->get()));
  }

  /// The ops that make `needed` of what is kept, in their order.
  SmallVector<Operation *> collect(const llvm::SetVector<Value> &needed) const {
    llvm::DenseSet<Operation *> wanted; // looked up by key only
    SmallVector<Value> waiting(needed.begin(), needed.end());
    while (!waiting.empty()) {
      Value value = waiting.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (op && !isKept(value) && wanted.insert(op).second)
        llvm::append_range(waiting, op->getOperands());
    }
    SmallVector<Operation *> inOrder;
    for (Operation *op : ops)
      if (wanted.contains(op))
        inOrder.push_back(op);
    return inOrder;
  }

  /// What a repeated op reads in the place of `operand`, which is kept. Single numbers are
  /// at hand for all.
  Value readAgain(OpBuilder &builder, Value operand, Value trigger) const {
    if (nn::typeOf(operand).getRank() == 0)
      return operand;
    return builder.create<nn::AfterOp>(operand.getLoc(), operand.getType(), operand, trigger);
  }

  /// A value of the backward pass that is there when `reader` begins; null if there is
  /// none.
  Value findTrigger(Operation *reader) const {
    for (Value operand : reader->getOperands())
      if (isInBackwardPass(operand.getDefiningOp()))
        return operand;
    for (Operation *op = reader->getPrevNode(); op; op = op->getPrevNode())
      if (isInBackwardPass(op))
        return op->getResult(0);
    return {};
  }

  /// Whether `op` comes behind the forward pass; learning rates may not.
  bool isInBackwardPass(Operation *op) const {
    return op && backward.contains(op) && lastForward->isBeforeInBlock(op) &&
           llvm::any_of(op->getResultTypes(), hasRank) && !op->hasTrait<OpTrait::ConstantLike>();
  }

  static bool hasRank(Type type) { return cast<RankedTensorType>(type).getRank() > 0; }

  Block &block;
  /// The forward pass in its order, and its numbers.
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, int64_t> numberOf;
  llvm::DenseSet<Operation *> backward; // looked up by key only
  /// The last op of the forward pass that makes more than a number.
  Operation *lastForward = nullptr;
  RematProblem problem;
  llvm::DenseMap<Value, int64_t> valueOf;
  RematPlan plan;
};

struct RematPass : dpc::impl::RematBase<RematPass> {
  using RematBase::RematBase;

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!step || step.isExternal())
      return;
    FailureOr<Machine> machine = dist::getMachine(getOperation());
    if (failed(machine))
      return signalPassFailure();
    SmallVector<Value> read;
    for (auto update : step.front().getOps<nn::UpdateOp>())
      llvm::append_range(read, update->getOperands());
    const Ancestors forward = findForwardPass(step), updates(read);
    SmallVector<dist::MicroOp> loops(step.front().getOps<dist::MicroOp>());
    for (dist::MicroOp loop : loops)
      if (forward.ops.contains(loop) && updates.ops.contains(loop))
        if (failed(remat(loop.getBodyBlock(), Ancestors(loop, forward), Ancestors(loop, updates),
                         *machine)))
          return signalPassFailure();
    if (failed(remat(step.front(), forward, updates, *machine)))
      signalPassFailure();
  }

private:
  LogicalResult remat(Block &block, const Ancestors &forward, const Ancestors &updates,
                      const Machine &machine) {
    BlockRemat remat(block, forward, updates, machine,
                     savedBytes < 0 ? std::numeric_limits<int64_t>::max() : int64_t(savedBytes));
    if (failed(remat.run()))
      return failure();
    const RematPlan &plan = remat.getPlan();
    if (explain && remat.countRepeated())
      block.getParentOp()->emitRemark("keeps ")
          << plan.keptBytes << " bytes between segments of the forward pass, and computes "
          << remat.countRepeated() << " of " << plan.cuts.size() + 1 << " again, of "
          << plan.segmentBytes << " bytes at most";
    return success();
  }
};

} // namespace
