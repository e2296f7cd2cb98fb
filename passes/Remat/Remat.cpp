// Repeats ops of the forward pass in the backward pass, as a RematPlan decides.

#include "passes/Forward/ForwardPass.h"
#include "passes/Prices/OpPrices.h"
#include "passes/Remat/BackwardMoments.h"
#include "passes/Remat/Passes.h"
#include "passes/Remat/RematPlan.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/Interfaces/NodeNames.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Program.h"
#include "planning/SizeText.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_REMAT
#include "passes/Remat/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {

/// The options of the pass: the bytes to save, or the ONNX nodes whose values are rematerialized.
struct RematRequest {
  int64_t savedBytes;
  /// Patterns of ONNX node names. If there are any, only the values of the matching nodes, and
  /// values that take no time, are rematerialized.
  std::vector<llvm::GlobPattern> globs;
  /// By glob: whether the glob matches a node (`used`), and whether it matches a node whose ops
  /// have been repeated (`repeated`).
  std::vector<bool> used, repeated;
  GradientDivision division;

  /// Whether a glob matches an ONNX node that `op` was imported from. Sets `found` for each such
  /// glob. Always false for ops of the loss.
  bool names(Operation *op, std::vector<bool> &found) const {
    bool isNamed = false;
    if (isOfLoss(op->getLoc()))
      return false;
    for (StringRef node : nodesOf(op->getLoc()))
      for (auto [index, glob] : llvm::enumerate(globs))
        if (glob.match(node))
          isNamed = found[index] = true;
    return isNamed;
  }
};

/// Plans one block, the body of `@step` or of a loop over microbatches, and applies the plan.
class BlockRemat {
public:
  /// `forward` holds the ops on which the loss depends, and `updates` the ops on which the new
  /// state depends.
  BlockRemat(Block &block, const Ancestors &forward, const Ancestors &updates,
             const MeshPrices &prices, RematRequest &request)
      : block(block) {
    for (Operation &op : block.without_terminator())
      if (forward.ops.contains(&op) && llvm::any_of(op.getResultTypes(), hasRank))
        lastForward = &op;
    std::vector<Operation *> backward;
    bool isBehind = false;
    for (Operation &op : block.without_terminator()) {
      // The program may list an op before the end of the forward pass although only the backward
      // pass needs it, for example an op that draws a mask. Such an op reads only values of the
      // forward pass, so it counts as an op of the forward pass.
      const bool isForward = forward.ops.contains(&op) || (!isBehind && updates.ops.contains(&op));
      isBehind |= &op == lastForward;
      if (isForward) {
        numberOf[&op] = ops.size();
        ops.push_back(&op);
      } else if (updates.ops.contains(&op)) {
        backward.push_back(&op);
      }
    }
    moments.emplace(block, std::move(backward));
    if (request.globs.empty())
      findDerived();
    findBegins();
    problem.savedBytes = request.savedBytes;
    for (Operation *op : ops)
      addOp(op, prices, request);
    for (auto [value, index] : valueOf)
      addBackwardReaders(value, problem.values[index]);
    problem.backwardBytes = moments->countBytes(request.division);
  }

  LogicalResult run() {
    // There is nothing to plan if the block has no forward pass, or none of the nodes that the user
    // names.
    if (!lastForward || (isAsked && problem.asked.empty()))
      return success();
    llvm::Expected<RematPlan> made = planRemat(problem);
    llvm::Error error = made ? made->verify(problem) : made.takeError();
    if (error)
      return block.getParentOp()->emitError("recomputation: ") << llvm::toString(std::move(error));
    plan = *made;
    isPlanned = true;
    for (Operation *reader : moments->getOps())
      if (!derived.contains(reader))
        repeatFor(reader);
    for (Operation *op : llvm::reverse(moments->getOps()))
      if (derived.contains(op) && op->use_empty())
        op->erase();
    return success();
  }

  /// Sets `request.repeated` for the globs that match nodes whose ops have been repeated.
  void findRepeated(RematRequest &request) const {
    for (Operation *op : ops)
      if (copies.contains(op))
        request.names(op, request.repeated);
  }

  void explain() const {
    // Without a plan no op is repeated, so there is nothing to report.
    if (isPlanned && (plan.countRepeated(problem) > 0 || !copies.empty()))
      block.getParentOp()->emitRemark("keeps ")
          << exactBytesText(plan.keptBytes) << " of the forward pass, in " << plan.cuts.size() + 1
          << " segments, and computes " << plan.countRepeated(problem) << " of " << ops.size()
          << " ops again: " << exactBytesText(std::abs(plan.plainBytes - plan.peakBytes)) << " "
          << (plan.peakBytes > plan.plainBytes ? "more" : "fewer") << " at the most";
  }

private:
  static double secondsOf(Operation *op, const MeshPrices &prices) {
    if (auto collective = dyn_cast<dist::CollectiveOpInterface>(op))
      return priceCollective(collective, prices).seconds;
    // Kernels that read the result compute it in registers, as part of their own loops.
    if (getFusionKind(op) == FusionKind::elementwise && getFusedBytes(op) == 0)
      return 0;
    // Every other op takes time, even if it has no cost model. 1 ns is a placeholder above 0.
    return std::max(1e-9, workSeconds(prices.device(), workBeforeFusion(op)));
  }

  /// Adds `op` to the problem. Adds a value for each result of `op`, unless `op` is free (isFree)
  /// or has regions.
  void addOp(Operation *op, const MeshPrices &prices, RematRequest &request) {
    RematOp &made = problem.ops.emplace_back();
    // Ops with regions, such as loops, are never repeated. A message arrives once.
    made.mayRepeat = op->getNumRegions() == 0 && !dist::isMessage(op);
    made.seconds = 0;
    isAsked = !request.globs.empty();
    const bool isNamed = request.names(op, request.used);
    if (isFree(op) || !made.mayRepeat)
      return;
    made.seconds = secondsOf(op, prices);
    for (Value operand : op->getOperands())
      addRead(operand, made);
    // The user names the op, so it must be repeated as an op of its own. 0 seconds would mean that
    // each kernel that reads the result computes it.
    if (isNamed)
      made.seconds = std::max(made.seconds, 1e-9);
    for (Value result : op->getResults()) {
      if (isNamed)
        problem.asked.push_back(problem.values.size());
      valueOf[result] = problem.values.size();
      problem.values.push_back({numberOf.lookup(op), int64_t(tensorBytes(result.getType()))});
    }
  }

  /// Adds `read` to the values that `op` reads. If a free op (isFree, e.g. a view) makes `read`,
  /// adds the operands of that free op instead.
  void addRead(Value read, RematOp &op) const {
    Operation *maker = read.getDefiningOp();
    if (auto value = valueOf.find(read); value != valueOf.end()) {
      if (!llvm::is_contained(op.reads, value->second))
        op.reads.push_back(value->second);
    } else if (maker && isFree(maker)) {
      for (Value operand : maker->getOperands())
        addRead(operand, op);
    }
  }

  /// Records when ops of the backward pass first and last read `read`, directly or through ops that
  /// are free (isFree) or derived (findDerived). The first read is taken to happen when the kernel
  /// of the reader may begin (findBegins).
  void addBackwardReaders(Value read, RematValue &value) const {
    for (Operation *user : read.getUsers()) {
      Operation *op = block.findAncestorOpInBlock(*user);
      if (op && (isFree(op) || derived.contains(op))) {
        for (Value result : op->getResults())
          addBackwardReaders(result, value);
      } else if (op && moments->contains(op)) {
        value.lastBackward = std::max(value.lastBackward, moments->of(op));
        const int64_t begin = moments->of(beginOf.lookup(op));
        value.firstBackward =
            value.firstBackward < 0 ? begin : std::min(value.firstBackward, begin);
      }
    }
  }

  /// Whether readers in the backward pass can use the first computation of `value`. This holds if
  /// `value` comes from outside of the problem, is kept, or is computed by its readers from kept
  /// values.
  bool isThere(Value value) const {
    if (derived.contains(value.getDefiningOp()))
      return false;
    auto number = valueOf.find(value);
    return number == valueOf.end() || plan.kept[number->second] ||
           plan.isMadeByReaders(problem, number->second);
  }

  /// Whether a reader in the backward pass needs a repeated computation of `value`, because the
  /// first computation is not kept.
  bool isLost(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && (isFree(op) ? llvm::any_of(op->getOperands(),
                                            [&](Value operand) { return isLost(operand); })
                             : !isThere(value));
  }

  /// `reader` is an op of the backward pass. Repeats the computation of all its operands that are
  /// lost (isLost).
  void repeatFor(Operation *reader) {
    SmallVector<OpOperand *> uses;
    llvm::SetVector<Value> lost;
    if (!isFree(reader))
      reader->walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (isLost(operand.get())) {
            uses.push_back(&operand);
            lost.insert(operand.get());
          }
      });
    Value trigger = uses.empty() ? Value() : findTrigger(reader);
    if (!trigger)
      return;
    OpBuilder builder(reader);
    IRMapping again;
    llvm::DenseSet<Operation *> made; // looked up by key only
    for (Operation *op : collect(lost)) {
      if (copies.contains(op)) {
        again.map(op->getResults(), copies.lookup(op)->getResults());
        continue;
      }
      for (Value operand : op->getOperands())
        if (!again.contains(operand))
          again.map(operand, readAgain(builder, operand, trigger));
      // A derived op may read copies that were made for earlier readers. It reads these copies
      // through `nn.after` too. Otherwise the derived op could be computed together with the
      // copies, before `trigger` exists.
      if (derived.contains(op))
        for (Value operand : llvm::SetVector<Value>(op->operand_begin(), op->operand_end()))
          if (Operation *maker = operand.getDefiningOp();
              maker && copies.contains(maker) && !made.contains(maker))
            again.map(operand, readAgain(builder, again.lookup(operand), trigger));
      made.insert(op);
      Operation *copy = builder.clone(*op, again);
      if (!isFree(op))
        copies[op] = copy;
    }
    for (OpOperand *use : uses)
      use->set(again.lookup(use->get()));
  }

  /// The ops that compute `lost` from values that are kept or have been made again, in program
  /// order. Free ops are always among them, because each reader gets its own copy of a free op.
  SmallVector<Operation *> collect(const llvm::SetVector<Value> &lost) const {
    llvm::DenseSet<Operation *> wanted; // looked up by key only
    SmallVector<Value> waiting(lost.begin(), lost.end());
    while (!waiting.empty()) {
      Value value = waiting.pop_back_val();
      Operation *op = value.getDefiningOp();
      auto number = valueOf.find(value);
      const bool isMade = op && (isFree(op) || derived.contains(op) ||
                                 (number != valueOf.end() && !plan.kept[number->second]));
      if (isMade && wanted.insert(op).second && !copies.contains(op))
        llvm::append_range(waiting, op->getOperands());
    }
    SmallVector<Operation *> inOrder;
    // Views in the backward pass whose operands are lost are repeated too.
    for (ArrayRef<Operation *> part : {ArrayRef(ops), moments->getOps()})
      llvm::copy_if(part, std::back_inserter(inOrder),
                    [&](Operation *op) { return wanted.contains(op); });
    return inOrder;
  }

  /// Returns the value that a repeated op reads instead of the kept value `operand`: an `nn.after`,
  /// which makes the op wait for `trigger`. Single numbers and values of the backward pass are
  /// returned unchanged.
  Value readAgain(OpBuilder &builder, Value operand, Value trigger) const {
    if (nn::typeOf(operand).getRank() == 0 || moments->contains(operand.getDefiningOp()))
      return operand;
    return builder.create<nn::AfterOp>(operand.getLoc(), operand.getType(), operand, trigger);
  }

  /// Finds the derived ops. A derived op is an op of the backward pass that computes element by
  /// element from values of the forward pass alone. Its readers also read values of the backward
  /// pass. The derivative of an activation function is an example. A derived op is repeated just
  /// before its first reader (if it is free, before each reader), from the values that exist at
  /// that time. The original op could be computed during the forward pass, and its result would be
  /// kept.
  void findDerived() {
    for (Operation *op : moments->getOps()) {
      const bool isMadeOfForward = llvm::all_of(op->getOperands(), [&](Value operand) {
        Operation *maker = operand.getDefiningOp();
        return !maker || !moments->contains(maker) || derived.contains(maker);
      });
      if (isMadeOfForward && (isFree(op) || getFusionKind(op) == FusionKind::elementwise))
        derived.insert(op);
    }
    // This call of findBegins ignores all derived ops found so far. The constructor calls
    // findBegins again with the derived ops that remain.
    const llvm::DenseSet<Operation *> ofForward = derived;
    findBegins();
    auto readsGradient = [&](Operation *reader) {
      return llvm::any_of(beginOf.lookup(reader)->getOperands(), [&](Value operand) {
        return isInBackwardPass(operand.getDefiningOp()) &&
               !ofForward.contains(operand.getDefiningOp());
      });
    };
    for (Operation *op : llvm::reverse(moments->getOps()))
      if (derived.contains(op) && !llvm::all_of(op->getUsers(), [&](Operation *user) {
            Operation *reader = block.findAncestorOpInBlock(*user);
            return derived.contains(reader) || (moments->contains(reader) && readsGradient(reader));
          }))
        derived.erase(op);
  }

  /// Finds, for each op of the backward pass, the op with which its kernel may begin (`beginOf`).
  /// An elementwise op or reduction may share a kernel with the op that makes an operand, even if
  /// that op is a product. Such a kernel cannot begin before all its other operands exist. If
  /// several ops make operands, the one that begins last counts.
  void findBegins() {
    for (Operation *op : moments->getOps()) {
      Operation *&begin = beginOf[op] = op;
      const FusionKind kind = getFusionKind(op);
      if (kind != FusionKind::elementwise && kind != FusionKind::reduction)
        continue;
      bool isFirst = true;
      for (Value operand : op->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        if (!isInBackwardPass(maker))
          continue;
        Operation *other = beginOf.lookup(maker);
        if (isFirst || moments->of(begin) < moments->of(other))
          begin = other;
        isFirst = false;
      }
    }
  }

  /// Returns a value of the backward pass that exists when the kernel of `reader` begins; null if
  /// there is no such value. Repeated ops wait for this value, so that they do not run during the
  /// forward pass.
  Value findTrigger(Operation *reader) const {
    Operation *begin = beginOf.lookup(reader);
    for (Value operand : begin->getOperands())
      if (isInBackwardPass(operand.getDefiningOp()))
        return operand;
    for (Operation *op = begin == reader ? begin->getPrevNode() : begin; op; op = op->getPrevNode())
      if (isInBackwardPass(op))
        return op->getResult(0);
    return {};
  }

  /// Whether `op` certainly runs after the forward pass. Ops that compute single numbers, such as
  /// learning rates, may run earlier. So may ops that each reading kernel repeats.
  bool isInBackwardPass(Operation *op) const {
    return op && moments->contains(op) && !derived.contains(op) &&
           lastForward->isBeforeInBlock(op) && llvm::any_of(op->getResultTypes(), hasRank) &&
           getFusionKind(op) != FusionKind::repeated;
  }

  Block &block;
  /// The ops of the forward pass, in program order, and the index of each.
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, int64_t> numberOf;
  /// The ops of the backward pass, and the order in which they run.
  std::optional<BackwardMoments> moments;
  llvm::DenseMap<Operation *, Operation *> beginOf;
  /// The last op of the forward pass that makes a tensor of rank 1 or more.
  Operation *lastForward = nullptr;
  RematProblem problem;
  llvm::MapVector<Value, int64_t> valueOf;
  /// Ops of the backward pass that are repeated just before they are read (findDerived); looked up
  /// by key only.
  llvm::DenseSet<Operation *> derived;
  /// Whether only the values that the user names are rematerialized.
  bool isAsked = false;
  RematPlan plan;
  bool isPlanned = false;
  /// Maps each op that has been repeated to its copy in the backward pass. Free ops have a copy per
  /// reader, so they are not in the map.
  llvm::DenseMap<Operation *, Operation *> copies;
};

struct RematPass : dpc::impl::RematBase<RematPass> {
  using RematBase::RematBase;

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    const std::optional<int64_t> stage = dist::stageOf(getOperation());
    if (!step || step.isExternal() ||
        (stage && !stages.empty() && !llvm::is_contained(stages, *stage)))
      return;
    FailureOr<MeshPrices> prices = dist::getMeshPrices(getOperation());
    if (failed(prices))
      return signalPassFailure();
    const Ancestors forward = findForwardPass(step), updates = findUpdates(step);
    RematRequest request;
    request.savedBytes = savedBytes < 0 ? std::numeric_limits<int64_t>::max() : int64_t(savedBytes);
    request.division.divides = divides;
    for (const dist::MeshAxis &axis : dist::getMeshShape(getOperation()).axes)
      if (llvm::is_contained(dividedAxes, axis.name))
        request.division.axes.axes.push_back(axis);
    if (failed(parse(request)))
      return signalPassFailure();
    SmallVector<dist::MicroOp> loops(step.front().getOps<dist::MicroOp>());
    for (dist::MicroOp loop : loops)
      if (forward.ops.contains(loop) && updates.ops.contains(loop))
        if (failed(remat(loop.getBodyBlock(), Ancestors(loop, forward), Ancestors(loop, updates),
                         *prices, request)))
          return signalPassFailure();
    if (failed(remat(step.front(), forward, updates, *prices, request)))
      return signalPassFailure();
    for (auto [index, isRepeated] : llvm::enumerate(request.repeated))
      if (request.used[index] && !isRepeated)
        getOperation().emitWarning("--remat=")
            << nodes[index] << ": nothing is computed again, as the backward pass reads nothing "
            << "that these nodes compute";
  }

private:
  LogicalResult parse(RematRequest &request) {
    for (const std::string &text : nodes) {
      llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(text);
      if (!glob)
        return getOperation().emitError("--remat=")
               << text << ": " << llvm::toString(glob.takeError());
      request.globs.push_back(std::move(*glob));
    }
    request.used.resize(request.globs.size());
    request.repeated.resize(request.globs.size());
    return success();
  }

  LogicalResult remat(Block &block, const Ancestors &forward, const Ancestors &updates,
                      const MeshPrices &prices, RematRequest &request) {
    BlockRemat remat(block, forward, updates, prices, request);
    if (failed(remat.run()))
      return failure();
    remat.findRepeated(request);
    if (explain)
      remat.explain();
    return success();
  }
};

} // namespace
