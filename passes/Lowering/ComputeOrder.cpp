#include "passes/Lowering/ComputeOrder.h"

#include "passes/Lowering/CommunicationOrder.h"
#include "passes/Lowering/KernelTable.h"
#include "passes/Overlap/StreamSchedule.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace dpc;

namespace {

/// Builds the schedule problem of a block and applies the answer. Invariant:
/// tasks are numbered by the first of their ops in the block; a bucket is the
/// task of all its members.
class OrderProblem {
public:
  OrderProblem(Block &block, const BucketOfOp &bucketOf,
               ArrayRef<OrderConstraint> constraints, const Machine &machine)
      : block(block), bucketOf(bucketOf), machine(machine) {
    addTasks();
    addDependencies();
    for (auto [op, before] : constraints)
      constrain(op, before);
    keepOrder();
    chooseGroupOrder();
  }

  bool hasCollectives() const { return !problem.groupOrder[0].empty(); }

  LogicalResult run() {
    llvm::Expected<StreamSchedule> schedule = scheduleStreams(problem);
    llvm::Error error =
        schedule ? schedule->verify(problem) : schedule.takeError();
    if (error)
      return block.getParentOp()->emitError("order of execution: ")
             << llvm::toString(std::move(error));
    Operation *end = block.getTerminator();
    for (const ScheduleStep &step : schedule->steps)
      if (step.kind != ScheduleStep::wait)
        for (Operation *op : ops[step.task])
          op->moveBefore(end);
    return success();
  }

private:
  void addTasks() {
    llvm::DenseMap<int64_t, int64_t> taskOfBucket;
    for (Operation &op : block.without_terminator()) {
      int64_t task = ops.size();
      if (auto bucket = bucketOf.find(&op); bucket != bucketOf.end())
        task = taskOfBucket.try_emplace(bucket->second, task).first->second;
      if (task == int64_t(ops.size())) {
        ops.emplace_back();
        problem.tasks.emplace_back();
        problem.tasks[task].group = isCollective(&op) ? 0 : -1;
      }
      ops[task].push_back(&op);
      taskOf[&op] = task;
      int64_t duration = nanoseconds(&op);
      problem.tasks[task].durationNs += duration;
      if (!isCollective(&op))
        computeNs += duration;
    }
  }

  int64_t nanoseconds(Operation *op) const {
    if (isCollective(op)) {
      double bytes = std::max(tensorBytes(op->getOperand(0).getType()),
                              tensorBytes(op->getResult(0).getType()));
      int64_t members = dist::membersOf(op);
      double moved = isa<dist::AllReduceOp>(op) ? allReduceBytes(bytes, members)
                                                : gatherBytes(bytes, members);
      return 1e9 * machine.linkOver(dist::axesOf(op)).transferSeconds(moved);
    }
    double seconds = 0;
    op->walk([&](func::CallOp call) {
      auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      double flops = 0, bytes = 0;
      kernel.walk([&](CostOpInterface cost) { flops += cost.getFlops(); });
      for (Type type : call.getOperandTypes())
        bytes += tensorBytes(type);
      for (Type type : call.getResultTypes())
        bytes += tensorBytes(type);
      int64_t times = 1;
      if (auto micro = call->getParentOfType<dist::MicroOp>())
        times = micro.getCount();
      seconds += times * machine.device.computeSeconds(flops, bytes);
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
  }

  void constrain(Operation *op, Operation *before) {
    auto from = taskOf.find(before), to = taskOf.find(op);
    if (from != taskOf.end() && to != taskOf.end() &&
        from->second != to->second && before->isBeforeInBlock(op))
      depend(to->second, from->second);
  }

  /// Whether nothing is computed with what `op` computes, though it may be
  /// exchanged: an update, a metric.
  static bool isLast(Operation *op) {
    return llvm::all_of(op->getUsers(), [](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>() ||
             ((isCollective(user) || isView(user)) && isLast(user));
    });
  }

  void keepOrder() {
    int64_t last = -1;
    for (Operation &op : block.without_terminator()) {
      int64_t task = taskOf.lookup(&op);
      if (problem.tasks[task].isCollective() || isLast(&op))
        continue;
      if (last >= 0)
        depend(task, last);
      last = task;
    }
  }

  /// Collectives in the order in which they could start if the link took one
  /// at a time, what is last were computed beside the rest, and the rest waited
  /// for nothing it does not need. One for whose result nothing waits lets
  /// others pass that are ready a little later.
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
      // Tasks are numbered as they stand in the block, where every task comes
      // after what it needs, but for buckets and new values of state.
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
            if (std::pair<int64_t, int64_t> choice(
                    isLast(ops[task].front()) ? *time + lag : *time, task);
                !next || choice < *next)
              next = choice;
      if (!next)
        return;
      int64_t task = next->second;
      linkFree =
          std::max(linkFree, *readyTime(task)) + problem.tasks[task].durationNs;
      end[task] = linkFree;
      order.push_back(task);
    }
  }

  Block &block;
  const BucketOfOp &bucketOf;
  const Machine &machine;
  /// Of all that is computed.
  double computeNs = 0;
  ScheduleProblem problem;
  std::vector<SmallVector<Operation *, 1>> ops; // by task
  llvm::DenseMap<Operation *, int64_t> taskOf;
};

} // namespace

LogicalResult dpc::orderComputation(Block &block, const BucketOfOp &bucketOf,
                                    ArrayRef<OrderConstraint> constraints) {
  FailureOr<Machine> machine = dist::getMachine(block.getParentOp());
  if (failed(machine))
    return failure();
  OrderProblem problem(block, bucketOf, constraints, *machine);
  return problem.hasCollectives() ? problem.run() : success();
}
