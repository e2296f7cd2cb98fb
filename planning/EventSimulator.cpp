// Computes when every task of a timeline starts and ends.
//
// Algorithm: computes longest paths in the graph of dependencies and stream orders, in
// Kahn's topological order (Kahn, "Topological sorting of large networks", 1962).

#include "planning/EventSimulator.h"
#include "planning/PlanError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace dpc;
using llvm::Error;

namespace {

using Interval = std::pair<int64_t, int64_t>; // [start, end)

/// Sorts the intervals and merges those that overlap or touch.
std::vector<Interval> unite(std::vector<Interval> intervals) {
  llvm::sort(intervals);
  std::vector<Interval> united;
  for (Interval interval : intervals) {
    if (interval.first == interval.second)
      continue;
    if (united.empty() || interval.first > united.back().second)
      united.push_back(interval);
    else
      united.back().second = std::max(united.back().second, interval.second);
  }
  return united;
}

/// Returns how much of the time in `interval` is outside of all intervals of `busy`,
/// which is a result of unite().
int64_t timeOutside(Interval interval, llvm::ArrayRef<Interval> busy) {
  int64_t outside = interval.second - interval.first;
  auto first = llvm::partition_point(busy, [&](Interval b) { return b.second <= interval.first; });
  for (; first != busy.end() && first->first < interval.second; ++first)
    outside -= std::min(interval.second, first->second) - std::max(interval.first, first->first);
  return outside;
}

void measureExposedTime(const SimProblem &problem, Timeline &timeline) {
  int64_t ranks = 0;
  for (const SimStream &stream : problem.streams)
    ranks = std::max(ranks, stream.rank + 1);
  std::vector<std::vector<Interval>> computing(ranks), communicating(ranks);
  auto interval = [&](int64_t task) {
    return Interval(timeline.startNs[task], timeline.endNs[task]);
  };
  for (const SimStream &stream : problem.streams)
    for (int64_t task : stream.order)
      (stream.isCommunication ? communicating : computing)[stream.rank].push_back(interval(task));
  for (auto &intervals : computing)
    intervals = unite(std::move(intervals));

  timeline.exposedNs.resize(problem.tasks.size());
  for (const SimStream &stream : problem.streams)
    if (stream.isCommunication)
      for (int64_t task : stream.order)
        timeline.exposedNs[task] =
            std::max(timeline.exposedNs[task], timeOutside(interval(task), computing[stream.rank]));
  timeline.exposedOfRankNs.resize(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank)
    for (Interval part : unite(std::move(communicating[rank])))
      timeline.exposedOfRankNs[rank] += timeOutside(part, computing[rank]);
}

} // namespace

Error SimProblem::check() const {
  int64_t count = tasks.size();
  int64_t total = 0;
  for (auto [i, task] : llvm::enumerate(tasks)) {
    if (task.durationNs < 0)
      return planError("task {0} takes {1} ns", i, task.durationNs);
    int64_t longestDelay = 0;
    for (const SimTask::Dependency &dependency : task.dependencies) {
      if (dependency.task < 0 || dependency.task >= count)
        return planError("task {0} depends on task {1} of {2}", i, dependency.task, count);
      if (dependency.delayNs < 0)
        return planError("task {0} starts {1} ns after task {2}", i, dependency.delayNs,
                         dependency.task);
      longestDelay = std::max(longestDelay, dependency.delayNs);
    }
    if (llvm::AddOverflow(total, task.durationNs, total) ||
        llvm::AddOverflow(total, longestDelay, total))
      return planError("{0} tasks take more than 63 bits of ns", count);
  }
  std::vector<int64_t> lastStream(count, -1);
  for (auto [number, stream] : llvm::enumerate(streams)) {
    if (stream.rank < 0 || stream.rank >= int64_t(streams.size()))
      return planError("stream {0} of {1} belongs to rank {2}", number, streams.size(),
                       stream.rank);
    for (int64_t task : stream.order) {
      if (task < 0 || task >= count)
        return planError("stream {0} runs task {1} of {2}", number, task, count);
      if (lastStream[task] == static_cast<int64_t>(number))
        return planError("stream {0} runs task {1} twice", number, task);
      lastStream[task] = number;
    }
  }
  for (size_t i = 0; i < lastStream.size(); ++i)
    if (lastStream[i] < 0)
      return planError("task {0} is on no stream", i);
  return Error::success();
}

llvm::Expected<Timeline> dpc::simulate(const SimProblem &problem) {
  if (Error error = problem.check())
    return std::move(error);
  size_t count = problem.tasks.size();
  std::vector<llvm::SmallVector<SimTask::Dependency, 4>> successors(count);
  std::vector<int64_t> waitsFor(count);
  auto addEdge = [&](int64_t from, int64_t to, int64_t delayNs) {
    successors[from].push_back({to, delayNs});
    ++waitsFor[to];
  };
  for (auto [i, task] : llvm::enumerate(problem.tasks))
    for (const SimTask::Dependency &dependency : task.dependencies)
      addEdge(dependency.task, i, dependency.delayNs);
  for (const SimStream &stream : problem.streams)
    for (size_t i = 1; i < stream.order.size(); ++i)
      addEdge(stream.order[i - 1], stream.order[i], 0);

  Timeline timeline;
  timeline.startNs.resize(count);
  timeline.endNs.resize(count);
  std::vector<int64_t> ready;
  for (size_t i = 0; i < count; ++i)
    if (!waitsFor[i])
      ready.push_back(i);
  for (size_t next = 0; next < ready.size(); ++next) {
    int64_t task = ready[next];
    int64_t end = timeline.startNs[task] + problem.tasks[task].durationNs;
    timeline.endNs[task] = end;
    timeline.makespanNs = std::max(timeline.makespanNs, end);
    for (const SimTask::Dependency &edge : successors[task]) {
      int64_t &start = timeline.startNs[edge.task];
      start = std::max(start, end + edge.delayNs);
      if (--waitsFor[edge.task] == 0)
        ready.push_back(edge.task);
    }
  }
  if (ready.size() < count) {
    std::string stuck;
    for (size_t i = 0; i < count; ++i)
      if (waitsFor[i])
        stuck += (stuck.empty() ? "" : ", ") + std::to_string(i);
    return planError("tasks wait for each other: {0}", stuck);
  }
  measureExposedTime(problem, timeline);
  return timeline;
}
