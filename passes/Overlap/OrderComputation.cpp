// Chooses the order of a function's ops by simulating its kernels and collectives on a timeline
// (StreamSchedule.h).

#include "passes/Overlap/GatherWindow.h"
#include "passes/Overlap/Passes.h"
#include "passes/Overlap/StreamSchedule.h"
#include "passes/Prices/OpPrices.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/Pieces.h"
#include "dialects/Exec/IR/Bindings.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Shape.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_ORDERCOMPUTATION
#include "passes/Overlap/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using dist::isCollective;

namespace {

/// Builds the schedule problem of a function or of the body of a microbatch loop, and applies
/// the answer. Task i is the i-th op of the block until the answer is applied.
class OrderProblem {
public:
  OrderProblem(Block &block, const MeshPrices &prices)
      : owner(block.getParentOp()), block(block), prices(prices) {
    scalarsFirst();
    addTasks();
    addDependencies();
    if (auto function = dyn_cast<func::FuncOp>(owner))
      keepOldValues(function);
    keepOrder();
  }

  LogicalResult run() {
    if (failed(keepGathersNear()))
      return failure();
    chooseGroupOrder();
    llvm::Expected<StreamSchedule> schedule = scheduleStreams(problem);
    llvm::Error error = schedule ? schedule->verify(problem) : schedule.takeError();
    if (error)
      return owner->emitError("order of execution: ") << llvm::toString(std::move(error));
    for (const ScheduleStep &step : schedule->steps)
      if (step.kind != ScheduleStep::wait)
        ops[step.task]->moveBefore(block.getTerminator());
    return success();
  }

private:
  /// Moves kernels that compute scalars from host-written scalars, such as the learning rate
  /// converted to f32, to the front of the block, because every update needs these scalars.
  void scalarsFirst() {
    auto isNumber = [](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.getRank() == 0;
    };
    DenseSet<Operation *> moved;
    Operation *next = &block.front();
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      const bool isFirst = isa<nn::KernelOp>(op) && llvm::all_of(op.getResults(), isNumber) &&
                           llvm::all_of(op.getOperands(), [&](Value operand) {
                             return isNumber(operand) && (isa<BlockArgument>(operand) ||
                                                          moved.contains(operand.getDefiningOp()));
                           });
      if (isFirst) {
        moved.insert(&op);
        if (&op != next)
          op.moveBefore(next);
        else
          next = op.getNextNode();
      }
    }
  }

  void addTasks() {
    for (Operation &op : block.without_terminator()) {
      taskOf[&op] = ops.size();
      ops.push_back(&op);
      ScheduleTask task;
      // All collectives are in one group, because collectives over different axes also share the
      // link of a device.
      task.group = isCollective(&op) ? 0 : -1;
      task.durationNs = nanoseconds(&op);
      task.frees = sumsExchanged(&op);
      if (!task.isCollective())
        computeNs += task.durationNs;
      problem.tasks.push_back(std::move(task));
    }
  }

  int64_t nanoseconds(Operation *op) const {
    if (auto collective = dyn_cast<dist::CollectiveOpInterface>(op))
      return 1e9 * priceCollective(collective, prices).seconds;
    double seconds = 0;
    op->walk<WalkOrder::PreOrder>([&](Operation *kernel) {
      if (!isa<KernelOpInterface>(kernel))
        return WalkResult::advance();
      int64_t times = 1;
      if (auto micro = kernel->getParentOfType<dist::MicroOp>(); micro && micro != owner)
        times = micro.getCount();
      seconds += times * kernelSeconds(prices.device(), workOfKernel(kernel));
      return WalkResult::skip();
    });
    return 1e9 * seconds;
  }

  void depend(int64_t task, int64_t on) {
    if (!llvm::is_contained(problem.tasks[task].dependencies, on))
      problem.tasks[task].dependencies.push_back(on);
  }

  void addDependencies() {
    for (Operation &op : block.without_terminator())
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          auto producer = taskOf.find(operand.getDefiningOp());
          if (operand.getDefiningOp() && producer != taskOf.end() &&
              producer->second != taskOf.lookup(&op))
            depend(taskOf.lookup(&op), producer->second);
        }
      });
    // Messages and loops with messages keep their order, because the other stage has the same.
    int64_t last = -1;
    for (Operation &op : block.without_terminator()) {
      if (isMemoryEffectFree(&op))
        continue;
      if (last >= 0)
        depend(taskOf.lookup(&op), last);
      last = taskOf.lookup(&op);
    }
  }

  /// Returns the op that computes `value`, the new value of a state. If `value` is gathered, this
  /// is the op that computes this rank's shard of it.
  static Operation *getMaker(Value value) {
    while (isa_and_nonnull<nn::ReshapeOp, dist::AllGatherOp>(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value.getDefiningOp();
  }

  /// Makes the op that computes the new value of a state depend on all earlier readers of the old
  /// value, so that the new value can be written in place of the old one.
  void keepOldValues(func::FuncOp function) {
    Operation *terminator = block.getTerminator();
    for (auto [value, old] :
         llvm::zip_equal(terminator->getOperands(), exec::findOldValues(function)))
      if (Operation *maker = getMaker(value); old && maker)
        keepBefore(old, maker);
  }

  void keepBefore(Value value, Operation *maker) {
    for (Operation *user : value.getUsers()) {
      if (isView(user)) {
        for (Value view : user->getResults())
          keepBefore(view, maker);
        continue;
      }
      auto from = taskOf.find(block.findAncestorOpInBlock(*user));
      auto to = taskOf.find(maker);
      if (from != taskOf.end() && to != taskOf.end() && from->second < to->second)
        depend(to->second, from->second);
    }
  }

  /// Whether no op computes with the results of `op`: they only leave the function, possibly
  /// through views, `dist.pack` ops and collectives. Updates and metrics are such ops.
  static bool isLast(Operation *op) {
    return llvm::all_of(op->getUsers(), [](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>() ||
             ((isCollective(user) || isView(user) || isa<dist::PackOp>(user)) && isLast(user));
    });
  }

  /// Whether `value` is the result of a collective, or a view of such a result.
  static bool isExchanged(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (isCollective(op))
        return true;
      if (!isView(op))
        return false;
      value = op->getOperand(0);
    }
    return false;
  }

  /// Whether `op` reads the result of a collective and computes only scalars. The ops that
  /// compute the terms of the norm of all gradients are examples. If these ops stayed after the
  /// backward pass, the buffers of all reduced gradients would stay in use until then.
  static bool sumsExchanged(Operation *op) {
    return !isCollective(op) && llvm::any_of(op->getOperands(), isExchanged) &&
           llvm::all_of(op->getResults(),
                        [](Value result) { return nn::typeOf(result).getRank() == 0; });
  }

  /// Makes kernels keep their order. In a function, updates, metrics and norm terms are exempt,
  /// because they may have to wait for a collective. In a microbatch loop they are not exempt: each
  /// of them keeps its position in the loop body, so that its operands can be freed after it.
  void keepOrder() {
    const bool mayBeLast = isa<func::FuncOp>(owner);
    int64_t last = -1;
    for (Operation &op : block.without_terminator()) {
      int64_t task = taskOf.lookup(&op);
      // Views take no time and need no order. If a view of a gathered bucket kept its order, the
      // ops after the view would wait for the gather. If the conversion of a shard kept its
      // order, the ops after the conversion would wait until the gather of this shard may begin.
      if (problem.tasks[task].isCollective() ||
          (mayBeLast && isMemoryEffectFree(&op) && (isLast(&op) || sumsExchanged(&op))) ||
          isView(&op) || convertsPart(&op))
        continue;
      if (last >= 0)
        depend(task, last);
      last = task;
    }
  }

  /// Records the tasks that read `value` or a view of it as readers of `bucket`. Returns whether
  /// there are any.
  bool addReaders(Value value, GatheredBucket &bucket) const {
    bool isRead = false;
    for (Operation *user : value.getUsers()) {
      if (isView(user)) {
        for (Value view : user->getResults())
          isRead |= addReaders(view, bucket);
      } else if (auto task = taskOf.find(block.findAncestorOpInBlock(*user));
                 task != taskOf.end()) {
        isRead = true;
        bucket.firstReader = std::min(bucket.firstReader, task->second);
        bucket.lastReader = std::max(bucket.lastReader, task->second);
      }
    }
    return isRead;
  }

  /// Whether `value` is flat storage: a function argument, or the argument of a microbatch loop's
  /// body to which such a function argument is passed.
  static bool isStorage(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return false;
    Operation *owner = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<dist::MicroOp>(owner))
      return isStorage(loop.getInputs()[argument.getArgNumber()]);
    auto function = dyn_cast<func::FuncOp>(owner);
    return function && dist::getArgStorage(function, argument.getArgNumber());
  }

  /// Whether `op` reads only flat storage and its only user is a gather. Such an op converts this
  /// rank's shard to the type in which the kernels read the gathered bucket.
  static bool convertsPart(Operation *op) {
    return isa<nn::KernelOp>(op) && op->getNumResults() == 1 && op->hasOneUse() &&
           isa<dist::AllGatherOp>(*op->user_begin()) && !op->getOperands().empty() &&
           llvm::all_of(op->getOperands(), isStorage);
  }

  /// Makes each gather of sharded state depend on the task after which its window opens
  /// (GatherWindow.h).
  LogicalResult keepGathersNear() {
    GatherProblem gathers;
    SmallVector<int64_t> tasks;
    for (auto gather : block.getOps<dist::AllGatherOp>()) {
      GatheredBucket bucket{int64_t(tensorBytes(gather.getResult().getType())),
                            std::numeric_limits<int64_t>::max(), -1};
      Operation *conversion = gather.getInput().getDefiningOp();
      const bool isState = conversion ? convertsPart(conversion) : isStorage(gather.getInput());
      if (!isState || !addReaders(gather.getResult(), bucket))
        continue;
      gathers.buckets.push_back(bucket);
      tasks.push_back(taskOf.lookup(gather));
    }
    llvm::Expected<GatherWindow> window = planGathers(gathers);
    llvm::Error error = window ? window->verify(gathers) : window.takeError();
    if (error)
      return owner->emitError("gathers: ") << llvm::toString(std::move(error));
    for (auto [task, after] : llvm::zip_equal(tasks, window->after))
      if (after >= 0) {
        depend(task, after);
        // The conversion of the shard writes into the buffer of the gathered bucket, so it must
        // not run earlier than the gather.
        auto gather = cast<dist::AllGatherOp>(ops[task]);
        if (Operation *conversion = gather.getInput().getDefiningOp())
          depend(taskOf.lookup(conversion), after);
      }
    return success();
  }

  /// Orders the collectives as they would become ready if the link carried one collective at a time
  /// and each kernel started as soon as its dependencies end. Some collectives have a result that
  /// no op computes with, e.g. the gather of a new parameter. Such a collective starts after all
  /// collectives that become ready at most 1% of the compute time later.
  void chooseGroupOrder() {
    const int64_t lag = computeNs / 100;
    problem.groupOrder.emplace_back();
    std::vector<int64_t> &order = problem.groupOrder[0];
    std::vector<std::optional<int64_t>> end(ops.size());
    int64_t linkFree = 0;
    auto readyTime = [&](int64_t task) -> std::optional<int64_t> {
      int64_t time = 0;
      for (int64_t dependency : problem.tasks[task].dependencies) {
        if (!end[dependency])
          return std::nullopt;
        time = std::max(time, *end[dependency]);
      }
      return time;
    };
    while (true) {
      // Tasks are numbered in the order of the block, so one sweep finds nearly all end times. A
      // further sweep may be necessary, because a few added dependencies make a task wait for a
      // task that comes later in the block.
      for (bool changed = true; changed;) {
        changed = false;
        for (size_t task = 0; task < ops.size(); ++task)
          if (!problem.tasks[task].isCollective() && !end[task])
            if (std::optional<int64_t> time = readyTime(task)) {
              end[task] = *time + problem.tasks[task].durationNs;
              changed = true;
            }
      }
      std::optional<std::pair<int64_t, int64_t>> next;
      for (size_t task = 0; task < ops.size(); ++task)
        if (problem.tasks[task].isCollective() && !end[task])
          if (std::optional<int64_t> time = readyTime(task))
            if (std::pair<int64_t, int64_t> choice(isLast(ops[task]) ? *time + lag : *time, task);
                !next || choice < *next)
              next = choice;
      if (!next)
        return;
      int64_t task = next->second;
      linkFree = std::max(linkFree, *readyTime(task)) + problem.tasks[task].durationNs;
      end[task] = linkFree;
      order.push_back(task);
    }
  }

  Operation *owner;
  Block &block;
  const MeshPrices &prices;
  /// The sum of the durations of all kernels, in ns.
  double computeNs = 0;
  ScheduleProblem problem;
  std::vector<Operation *> ops; // by task
  DenseMap<Operation *, int64_t> taskOf;
};

struct OrderComputationPass : dpc::impl::OrderComputationBase<OrderComputationPass> {
  void runOnOperation() override {
    FailureOr<MeshPrices> prices = dist::getMeshPrices(getOperation());
    if (failed(prices))
      return signalPassFailure();
    SmallVector<Block *> blocks;
    auto add = [&](Block &block) {
      if (llvm::any_of(block, [](Operation &op) { return isCollective(&op); }))
        blocks.push_back(&block);
    };
    getOperation().walk([&](dist::PieceOp piece) { add(piece.getBodyBlock()); });
    getOperation().walk([&](dist::MicroOp loop) { add(loop.getBodyBlock()); });
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        blocks.push_back(&function.front());
    for (Block *block : blocks)
      if (failed(OrderProblem(*block, *prices).run()))
        return signalPassFailure();
  }
};

} // namespace
