// List scheduling of compute and collectives.
//
// List scheduling (Graham 1969) over a simulated timeline, with several priorities, such as the
// longest path to the end (Hu 1961). At each moment the scheduler starts every collective that can
// start without a stall. Then it takes one more task, which is usually the one that stalls the
// compute stream least (Rule).

#include "passes/Overlap/StreamSchedule.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <optional>
#include <tuple>

using namespace dpc;

namespace {

/// How the scheduler chooses the next task. `leastStall`: the task that stalls the compute
/// stream least. `feedLinks`: the same, but among equal stalls it prefers a kernel that lets a
/// collective start. `mostUrgent`: the task with the highest priority, even if it stalls the
/// compute stream.
enum class Rule { leastStall, feedLinks, mostUrgent };

/// One run of the scheduler with one priority and one rule. Invariants: the compute stream has
/// executed `steps` at the time `now` (in ns), and `bytes` is the sum of the bytes of the
/// collectives in `inFlight`.
class ListScheduler {
public:
  ListScheduler(const ScheduleProblem &problem, llvm::ArrayRef<int64_t> priority, Rule rule)
      : problem(problem), priority(priority), rule(rule), nextOfGroup(groups()),
        groupFree(groups()), waited(problem.tasks.size()), end(problem.tasks.size()),
        missing(problem.tasks.size()), users(problem.tasks.size()) {
    for (auto [i, task] : llvm::enumerate(problem.tasks)) {
      missing[i] = task.dependencies.size();
      for (int64_t dependency : task.dependencies)
        users[dependency].push_back(i);
      if (!task.isCollective() && task.dependencies.empty())
        ready.push_back(i);
    }
  }

  std::vector<ScheduleStep> run();

private:
  size_t groups() const { return problem.groupOrder.size(); }
  std::optional<int64_t> nextStart(size_t group) const;
  int64_t inputsReady(int64_t task) const;
  int64_t roomReady(int64_t task) const;
  bool mayCompute(int64_t task) const;
  bool feedsLink(int64_t task) const;
  void startAllPossible();
  void markIssued(int64_t task);
  void wait(int64_t task);
  void waitForInputs(int64_t task);
  void start(int64_t task);
  void compute(int64_t task);

  const ScheduleProblem &problem;
  llvm::ArrayRef<int64_t> priority;
  Rule rule;
  std::vector<ScheduleStep> steps;
  int64_t now = 0;
  int64_t bytes = 0;
  size_t computed = 0;
  std::vector<size_t> nextOfGroup;
  std::vector<int64_t> groupFree;
  std::vector<bool> waited;
  std::vector<int64_t> end;     // by task: its end in ns, once it is issued
  std::vector<int64_t> missing; // by task: the number of dependencies that are not issued
  std::vector<std::vector<int64_t>> users;
  std::vector<int64_t> ready;    // kernels without missing dependencies
  std::vector<int64_t> inFlight; // collectives that are started, sorted by (end, index)
};

/// Returns the next collective in the order of `group`; nullopt if all have been started, or if the
/// next one has a dependency that is not issued yet. A kernel is issued when it is computed, and a
/// collective when it is started.
std::optional<int64_t> ListScheduler::nextStart(size_t group) const {
  if (nextOfGroup[group] == problem.groupOrder[group].size())
    return std::nullopt;
  int64_t task = problem.groupOrder[group][nextOfGroup[group]];
  return missing[task] ? std::nullopt : std::optional(task);
}

/// The time at which all dependencies of the task have ended.
int64_t ListScheduler::inputsReady(int64_t task) const {
  int64_t time = now;
  for (int64_t dependency : problem.tasks[task].dependencies)
    time = std::max(time, end[dependency]);
  return time;
}

/// The time at which enough collectives have ended for the task to fit under the cap on bytes in
/// flight.
int64_t ListScheduler::roomReady(int64_t task) const {
  int64_t left = bytes, time = now;
  for (int64_t other : inFlight) {
    if (problem.tasks[task].bytesInFlight <= problem.inFlightCap - left)
      break;
    left -= problem.tasks[other].bytesInFlight;
    time = std::max(time, end[other]);
  }
  return time;
}

bool ListScheduler::mayCompute(int64_t task) const {
  return problem.computeOrder.empty() || problem.computeOrder[computed] == task;
}

/// Whether this task is the only missing dependency of a collective that is next in its group.
bool ListScheduler::feedsLink(int64_t task) const {
  return llvm::any_of(users[task], [&](int64_t user) {
    int64_t group = problem.tasks[user].group;
    return group >= 0 && missing[user] == 1 &&
           problem.groupOrder[group][nextOfGroup[group]] == user;
  });
}

void ListScheduler::markIssued(int64_t task) {
  for (int64_t user : users[task])
    if (--missing[user] == 0 && !problem.tasks[user].isCollective())
      ready.push_back(user);
}

void ListScheduler::wait(int64_t task) {
  if (waited[task])
    return;
  waited[task] = true;
  now = std::max(now, end[task]);
  bytes -= problem.tasks[task].bytesInFlight;
  llvm::erase(inFlight, task);
  steps.push_back({ScheduleStep::wait, task});
}

void ListScheduler::waitForInputs(int64_t task) {
  std::vector<int64_t> inputs;
  for (int64_t dependency : problem.tasks[task].dependencies)
    if (problem.tasks[dependency].isCollective())
      inputs.push_back(dependency);
  llvm::sort(inputs,
             [&](int64_t a, int64_t b) { return std::tie(end[a], a) < std::tie(end[b], b); });
  for (int64_t input : inputs)
    wait(input);
}

void ListScheduler::start(int64_t task) {
  waitForInputs(task);
  const ScheduleTask &collective = problem.tasks[task];
  // Wait for the collectives that end first until the new one fits under the cap.
  while (collective.bytesInFlight > problem.inFlightCap - bytes)
    wait(inFlight.front());
  ++nextOfGroup[collective.group];
  int64_t &free = groupFree[collective.group];
  end[task] = free = std::max(now, free) + collective.durationNs;
  bytes += collective.bytesInFlight;
  inFlight.insert(llvm::upper_bound(inFlight, task,
                                    [&](int64_t a, int64_t b) {
                                      return std::tie(end[a], a) < std::tie(end[b], b);
                                    }),
                  task);
  markIssued(task);
  steps.push_back({ScheduleStep::start, task});
}

void ListScheduler::compute(int64_t task) {
  waitForInputs(task);
  llvm::erase(ready, task);
  ++computed;
  now += problem.tasks[task].durationNs;
  end[task] = now;
  markIssued(task);
  steps.push_back({ScheduleStep::compute, task});
}

/// Starts all collectives that can start without a stall, those of highest priority first.
void ListScheduler::startAllPossible() {
  while (true) {
    std::optional<int64_t> best;
    for (size_t group = 0; group < groups(); ++group)
      if (std::optional<int64_t> task = nextStart(group))
        if (inputsReady(*task) <= now && roomReady(*task) <= now &&
            (!best || priority[*task] > priority[*best]))
          best = task;
    if (!best)
      return;
    start(*best);
  }
}

std::vector<ScheduleStep> ListScheduler::run() {
  while (true) {
    startAllPossible();
    // A start takes no time on the compute stream, so it wins a tie against a kernel.
    using Choice = std::tuple<int64_t, int, int64_t, int64_t>;
    std::optional<Choice> best;
    auto offer = [&](int64_t time, int64_t task) {
      int last = problem.tasks[task].isCollective()           ? 0
                 : rule == Rule::feedLinks && feedsLink(task) ? 1
                                                              : 2;
      int64_t urgency = -priority[task];
      Choice choice = rule == Rule::mostUrgent ? Choice(urgency, last, time, task)
                                               : Choice(time, last, urgency, task);
      if (!best || choice < *best)
        best = choice;
    };
    for (int64_t task : ready)
      if (mayCompute(task))
        offer(inputsReady(task), task);
    for (size_t group = 0; group < groups(); ++group)
      if (std::optional<int64_t> task = nextStart(group))
        offer(std::max(inputsReady(*task), roomReady(*task)), *task);
    if (!best)
      break;
    int64_t task = std::get<3>(*best);
    problem.tasks[task].isCollective() ? start(task) : compute(task);
  }
  while (!inFlight.empty())
    wait(inFlight.front());
  return std::move(steps);
}

/// Returns for each task the length in ns of the longest path from the task to the end, through
/// dependencies and group orders. The path includes the duration of the task itself.
std::vector<int64_t> longestPathToEnd(const ScheduleProblem &problem) {
  std::vector<std::vector<int64_t>> before(problem.tasks.size());
  std::vector<int64_t> open(problem.tasks.size());
  auto addEdge = [&](int64_t from, int64_t to) {
    before[to].push_back(from);
    ++open[from];
  };
  for (auto [i, task] : llvm::enumerate(problem.tasks))
    for (int64_t dependency : task.dependencies)
      addEdge(dependency, i);
  for (const std::vector<int64_t> &order : problem.groupOrder)
    for (size_t i = 1; i < order.size(); ++i)
      addEdge(order[i - 1], order[i]);
  std::vector<int64_t> path(problem.tasks.size());
  std::vector<int64_t> work;
  for (size_t i = 0; i < open.size(); ++i)
    if (!open[i])
      work.push_back(i);
  while (!work.empty()) {
    int64_t task = work.back();
    work.pop_back();
    path[task] += problem.tasks[task].durationNs;
    for (int64_t earlier : before[task]) {
      path[earlier] = std::max(path[earlier], path[task]);
      if (--open[earlier] == 0)
        work.push_back(earlier);
    }
  }
  return path;
}

/// Returns priorities that keep the order of the tasks, with one exception: some kernels
/// directly follow their last dependency. These are the kernels whose result no task needs, and
/// the kernels that free their operands. For example, an update then finds its gradient in the
/// caches, and the memory of the gradient can be reused afterwards.
std::vector<int64_t> lastAfterWhatTheyRead(const ScheduleProblem &problem) {
  std::vector<bool> hasUsers(problem.tasks.size());
  for (const ScheduleTask &task : problem.tasks)
    for (int64_t dependency : task.dependencies)
      hasUsers[dependency] = true;
  std::vector<int64_t> priority;
  for (auto [i, task] : llvm::enumerate(problem.tasks)) {
    priority.push_back(-2 * static_cast<int64_t>(i));
    if (!task.isCollective() && (!hasUsers[i] || task.frees) && !task.dependencies.empty())
      priority.back() = -2 * *llvm::max_element(task.dependencies) - 1;
  }
  return priority;
}

/// Simulates `steps` and returns them with the makespan, the exposed times and the peak bytes in
/// flight.
llvm::Expected<StreamSchedule> measure(const ScheduleProblem &problem,
                                       std::vector<ScheduleStep> steps) {
  llvm::Expected<Timeline> timeline = simulate(makeSimProblem(problem, steps));
  if (!timeline)
    return timeline.takeError();
  StreamSchedule schedule;
  schedule.makespanNs = timeline->makespanNs;
  schedule.exposedNs.assign(timeline->exposedNs.begin(),
                            timeline->exposedNs.begin() + problem.tasks.size());
  schedule.totalExposedNs = timeline->exposedOfRankNs[0];
  int64_t bytes = 0;
  for (ScheduleStep step : steps) {
    int64_t moved = problem.tasks[step.task].bytesInFlight;
    if (step.kind != ScheduleStep::compute)
      bytes += step.kind == ScheduleStep::start ? moved : -moved;
    schedule.peakInFlightBytes = std::max(schedule.peakInFlightBytes, bytes);
  }
  schedule.steps = std::move(steps);
  return schedule;
}

} // namespace

llvm::Expected<StreamSchedule> dpc::scheduleStreams(const ScheduleProblem &problem) {
  if (llvm::Error error = problem.check())
    return std::move(error);
  std::vector<int64_t> byIndex;
  for (size_t i = 0; i < problem.tasks.size(); ++i)
    byIndex.push_back(-static_cast<int64_t>(i));
  std::vector<int64_t> byReads = lastAfterWhatTheyRead(problem);
  std::vector<int64_t> byPath = longestPathToEnd(problem);
  std::optional<StreamSchedule> best;
  int64_t bestPrice = 0;
  // A later schedule must be faster than the best one so far. The schedules by `byReads` come
  // first, because they free memory early. Any other schedule must be more than half a percent
  // faster than they are.
  for (auto [priority, rule] :
       {std::pair(&byReads, Rule::leastStall), std::pair(&byReads, Rule::feedLinks),
        std::pair(&byIndex, Rule::leastStall), std::pair(&byIndex, Rule::feedLinks),
        std::pair(&byPath, Rule::leastStall), std::pair(&byPath, Rule::mostUrgent)}) {
    llvm::Expected<StreamSchedule> schedule =
        measure(problem, ListScheduler(problem, *priority, rule).run());
    if (!schedule)
      return schedule.takeError();
    const int64_t price =
        schedule->makespanNs + (priority == &byReads ? 0 : schedule->makespanNs / 200);
    if (!best || price < bestPrice) {
      best = std::move(*schedule);
      bestPrice = price;
    }
  }
  return std::move(*best);
}
