// Checks that a scheduling problem is sound, and that an answer is sound for its problem.

#include "passes/Overlap/StreamSchedule.h"
#include "planning/PlanError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace dpc;
using llvm::Error;

namespace {

Error checkTask(const ScheduleProblem &problem, size_t index) {
  const ScheduleTask &task = problem.tasks[index];
  int64_t count = problem.tasks.size();
  if (task.durationNs < 0)
    return planError("task {0} takes {1} ns", index, task.durationNs);
  if (task.group < -1 || task.group >= static_cast<int64_t>(problem.groupOrder.size()))
    return planError("task {0} belongs to group {1} of {2}", index, task.group,
                     problem.groupOrder.size());
  if (task.bytesInFlight < 0)
    return planError("task {0} has {1} bytes in flight", index, task.bytesInFlight);
  if (task.isCollective() && task.bytesInFlight > problem.inFlightCap)
    return planError("collective {0} has {1} bytes in flight, more than the "
                     "cap of {2}",
                     index, task.bytesInFlight, problem.inFlightCap);
  for (int64_t dependency : task.dependencies)
    if (dependency < 0 || dependency >= count)
      return planError("task {0} depends on task {1} of {2}", index, dependency, count);
  return Error::success();
}

/// Checks that `order` names each task of `group` (-1: the kernels) once, and no other task.
Error checkOrder(const ScheduleProblem &problem, int64_t group, llvm::ArrayRef<int64_t> order,
                 std::vector<bool> &seen) {
  int64_t count = problem.tasks.size();
  for (int64_t task : order) {
    if (task < 0 || task >= count)
      return planError("the order of group {0} names task {1} of {2}", group, task, count);
    if (problem.tasks[task].group != group)
      return planError("the order of group {0} names task {1} of group {2}", group, task,
                       problem.tasks[task].group);
    if (seen[task])
      return planError("the order of group {0} names task {1} twice", group, task);
    seen[task] = true;
  }
  for (int64_t task = 0; task < count; ++task)
    if (problem.tasks[task].group == group && !seen[task])
      return planError("the order of group {0} lacks task {1}", group, task);
  return Error::success();
}

/// Checks that dependencies and orders together have no cycle. The simulator reports a cycle as
/// a deadlock, so this function simulates the tasks with one stream per order. If the kernels
/// have no order, each kernel gets its own stream, so that no kernel waits for another one
/// without a dependency.
Error checkCircles(const ScheduleProblem &problem) {
  SimProblem sim;
  for (const ScheduleTask &task : problem.tasks) {
    sim.tasks.emplace_back();
    sim.tasks.back().durationNs = task.durationNs;
    for (int64_t dependency : task.dependencies)
      sim.tasks.back().dependencies.push_back({dependency, 0});
  }
  for (const std::vector<int64_t> &order : problem.groupOrder) {
    sim.streams.emplace_back();
    sim.streams.back().order = order;
  }
  if (!problem.computeOrder.empty()) {
    sim.streams.emplace_back();
    sim.streams.back().order = problem.computeOrder;
  } else {
    for (size_t i = 0; i < problem.tasks.size(); ++i)
      if (!problem.tasks[i].isCollective()) {
        sim.streams.emplace_back();
        sim.streams.back().order.push_back(i);
      }
  }
  return simulate(sim).takeError();
}

/// The state of each task, and the bytes in flight, after the steps that were checked so far.
struct Progress {
  enum State { none, started, done };
  std::vector<State> states;
  std::vector<size_t> nextOfGroup;
  size_t nextCompute = 0;
  int64_t bytesInFlight = 0;
  int64_t peakBytes = 0;
};

Error advance(const ScheduleProblem &problem, ScheduleStep step, Progress &progress) {
  const ScheduleTask &task = problem.tasks[step.task];
  Progress::State &state = progress.states[step.task];
  if (task.isCollective() == (step.kind == ScheduleStep::compute))
    return planError("task {0} of group {1} has a step of the wrong kind", step.task, task.group);
  if (step.kind == ScheduleStep::wait) {
    if (state != Progress::started)
      return planError("collective {0} is waited for {1}", step.task,
                       state == Progress::none ? "before its start" : "twice");
    state = Progress::done;
    progress.bytesInFlight -= task.bytesInFlight;
    return Error::success();
  }
  if (state != Progress::none)
    return planError("task {0} runs twice", step.task);
  for (int64_t dependency : task.dependencies)
    if (progress.states[dependency] != Progress::done)
      return planError("task {0} runs before task {1} is complete", step.task, dependency);
  if (step.kind == ScheduleStep::compute) {
    if (!problem.computeOrder.empty() && problem.computeOrder[progress.nextCompute++] != step.task)
      return planError("task {0} runs where the order has task {1}", step.task,
                       problem.computeOrder[progress.nextCompute - 1]);
    state = Progress::done;
    return Error::success();
  }
  int64_t expected = problem.groupOrder[task.group][progress.nextOfGroup[task.group]++];
  if (expected != step.task)
    return planError("collective {0} starts where the order of group {1} has "
                     "{2}",
                     step.task, task.group, expected);
  state = Progress::started;
  if (task.bytesInFlight > problem.inFlightCap - progress.bytesInFlight)
    return planError("collective {0} brings {1} bytes in flight to {2}, more "
                     "than the cap of {3}",
                     step.task, progress.bytesInFlight, task.bytesInFlight, problem.inFlightCap);
  progress.bytesInFlight += task.bytesInFlight;
  progress.peakBytes = std::max(progress.peakBytes, progress.bytesInFlight);
  return Error::success();
}

} // namespace

Error ScheduleProblem::check() const {
  for (size_t i = 0; i < tasks.size(); ++i)
    if (Error error = checkTask(*this, i))
      return error;
  int64_t bytes = 0;
  for (const ScheduleTask &task : tasks)
    if (llvm::AddOverflow(bytes, task.bytesInFlight, bytes))
      return planError("{0} tasks have more than 63 bits of bytes in flight", tasks.size());
  std::vector<bool> seen(tasks.size());
  for (auto [group, order] : llvm::enumerate(groupOrder))
    if (Error error = checkOrder(*this, group, order, seen))
      return error;
  if (!computeOrder.empty())
    if (Error error = checkOrder(*this, -1, computeOrder, seen))
      return error;
  return checkCircles(*this);
}

SimProblem dpc::makeSimProblem(const ScheduleProblem &problem, llvm::ArrayRef<ScheduleStep> steps) {
  SimProblem sim;
  sim.streams.resize(1 + problem.groupOrder.size());
  for (auto [group, order] : llvm::enumerate(problem.groupOrder)) {
    sim.streams[1 + group].isCommunication = true;
    sim.streams[1 + group].order = order;
  }
  for (const ScheduleTask &task : problem.tasks) {
    sim.tasks.emplace_back();
    sim.tasks.back().durationNs = task.durationNs;
  }
  for (ScheduleStep step : steps) {
    if (step.kind == ScheduleStep::compute) {
      sim.streams[0].order.push_back(step.task);
      continue;
    }
    int64_t marker = sim.tasks.size();
    sim.streams[0].order.push_back(marker);
    sim.tasks.emplace_back();
    if (step.kind == ScheduleStep::start)
      sim.tasks[step.task].dependencies.push_back({marker, 0});
    else
      sim.tasks[marker].dependencies.push_back({step.task, 0});
  }
  return sim;
}

Error StreamSchedule::verify(const ScheduleProblem &problem) const {
  Progress progress;
  progress.states.resize(problem.tasks.size());
  progress.nextOfGroup.resize(problem.groupOrder.size());
  for (ScheduleStep step : steps) {
    if (step.task < 0 || step.task >= static_cast<int64_t>(problem.tasks.size()))
      return planError("a step names task {0} of {1}", step.task, problem.tasks.size());
    if (Error error = advance(problem, step, progress))
      return error;
  }
  for (auto [i, state] : llvm::enumerate(progress.states))
    if (state != Progress::done)
      return planError("task {0} {1}", i,
                       state == Progress::none ? "never runs" : "is never waited for");
  if (peakInFlightBytes != progress.peakBytes)
    return planError("the schedule records {0} bytes in flight, it has {1}", peakInFlightBytes,
                     progress.peakBytes);
  llvm::Expected<Timeline> timeline = simulate(makeSimProblem(problem, steps));
  if (!timeline)
    return timeline.takeError();
  if (timeline->makespanNs != makespanNs)
    return planError("the schedule records a makespan of {0} ns, it takes {1}", makespanNs,
                     timeline->makespanNs);
  return Error::success();
}
