// Compares the steps of traces with that of a plan.

#include "tools/dpc-report/Comparison.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;
using namespace dpc;

static std::string callsText(double calls) {
  return std::floor(calls) == calls ? std::to_string(int64_t(calls))
                                    : formatv("{0:f2}", calls).str();
}

/// Describes the first difference between the work of a plan and of a trace; "" if there is none.
static std::string findDifference(const StepOfRanks &plan, const StepOfRanks &trace) {
  auto times = [](const StepOfRanks &step, const WorkKey &key) {
    auto found = step.work.find(key);
    return found == step.work.end() ? 0 : found->second.calls;
  };
  for (const auto *step : {&trace, &plan})
    for (const auto &[key, sum] : step->work) {
      const double traced = times(trace, key), planned = times(plan, key);
      if (std::abs(traced - planned) > 1e-6)
        return formatv("{0} runs {1} times a step, and {2} times in the plan", key.describe(),
                       callsText(traced), callsText(planned));
    }
  return "";
}

Error dpc::checkTraces(const StepPlan &plan, ArrayRef<StepTrace> traces) {
  auto fail = [](const StepTrace &trace, const Twine &why) {
    return createStringError(inconvertibleErrorCode(),
                             trace.path + ": is a trace of another plan: " + why);
  };
  std::map<int64_t, std::string> seen; // by rank: the path
  for (const StepTrace &trace : traces) {
    if (trace.worldSize != plan.worldSize)
      return fail(trace,
                  Twine(trace.worldSize) + " ranks, and " + Twine(plan.worldSize) + " in the plan");
    const int64_t rank = trace.step.ranks.front();
    const std::string difference = findDifference(plan.timelineOf(rank), trace.step);
    if (!difference.empty())
      return fail(trace, "on rank " + Twine(rank) + ", " + difference);
    auto [known, isNew] = seen.try_emplace(rank, trace.path);
    if (!isNew)
      return createStringError(inconvertibleErrorCode(), trace.path + ": is of rank " +
                                                             std::to_string(rank) + ", as " +
                                                             known->second);
  }
  return Error::success();
}

static std::string milliseconds(double seconds) { return formatv("{0:f3}", seconds * 1e3); }

static std::string ratioText(double predicted, double measured) {
  return measured > 0 ? formatv("{0:f2}", predicted / measured).str() : "-";
}

namespace {
/// The times of a function or an operation, summed over ranks.
struct Compared {
  std::string nodes;
  double ranks = 0, calls = 0, predicted = 0, measured = 0;

  double difference() const { return (predicted - measured) / ranks; }
};
} // namespace

static void addTimes(ReportSection &section,
                     ArrayRef<std::pair<const WorkKey *, const Compared *>> rows) {
  for (auto [key, each] : rows) {
    std::vector<std::string> cells;
    if (key->isOperation())
      cells = {key->name, key->group, std::to_string(key->elements) + " " + key->type,
               std::to_string(key->buffer)};
    else
      cells = {key->name};
    cells.push_back(each->nodes);
    cells.push_back(callsText(each->calls / each->ranks));
    cells.push_back(milliseconds(each->predicted / each->ranks));
    cells.push_back(milliseconds(each->measured / each->ranks));
    cells.push_back(ratioText(each->predicted, each->measured));
    cells.push_back(
        formatv("{0}{1:f3}", each->difference() >= 0 ? "+" : "", each->difference() * 1e3));
    section.addRow(std::move(cells));
  }
}

static void addWork(ExplainReport &report, const std::map<WorkKey, Compared> &work,
                    size_t mostRows) {
  std::vector<std::pair<const WorkKey *, const Compared *>> functions, operations;
  for (const auto &[key, each] : work)
    (key.isOperation() ? operations : functions).push_back({&key, &each});
  for (auto *rows : {&functions, &operations})
    stable_sort(*rows, [](const auto &a, const auto &b) {
      return std::abs(a.second->difference()) > std::abs(b.second->difference());
    });
  ReportSection &computation = report.add("functions");
  computation.mostRows = mostRows;
  computation.columns = {"function",     "nodes",     ">calls",     ">predicted ms",
                         ">measured ms", ">quotient", ">difference"};
  addTimes(computation, functions);
  ReportSection &communication = report.add("collectives and messages");
  communication.mostRows = mostRows;
  if (!operations.empty())
    communication.lines.push_back(
        "times are from the start of an operation to the end of its wait, "
        "with the computation in between");
  communication.columns = {"operation", "over",       "part",          ">buffer",
                           "nodes",     ">calls",     ">predicted ms", ">measured ms",
                           ">quotient", ">difference"};
  addTimes(communication, operations);
}

static void addBytes(ExplainReport &report, const StepPlan &plan, ArrayRef<StepTrace> traces) {
  ReportSection &section = report.add("bytes sent in a step");
  section.mostRows = SIZE_MAX;
  section.columns = {">rank", "operation", ">play", ">trace", ">quotient"};
  for (const StepTrace &trace : traces) {
    const int64_t rank = trace.step.ranks.front();
    std::map<std::string, std::pair<double, double>> sums; // by kind: play and trace
    for (const auto &[key, sum] : plan.timelineOf(rank).work)
      if (key.isOperation())
        sums[key.name].first += sum.sentBytes;
    for (const auto &[key, sum] : trace.step.work)
      if (key.isOperation())
        sums[key.name].second += sum.sentBytes;
    for (const auto &[kind, sum] : sums)
      if (sum.first > 0 || sum.second > 0)
        section.addRow({std::to_string(rank), kind, formatv("{0:f0}", sum.first),
                        formatv("{0:f0}", sum.second),
                        sum.second > 0 ? formatv("{0:f3}", sum.first / sum.second).str() : "-"});
  }
}

ExplainReport dpc::compareSteps(const StepPlan &plan, ArrayRef<StepTrace> traces, size_t mostRows) {
  ExplainReport report;
  ReportSection &step = report.add("one step");
  if (!plan.machine.empty())
    step.lines.push_back("machine: " + plan.machine);
  step.lines.push_back(formatv(
      "means over {0} steps{1}; quotients are predicted over measured", traces.front().steps,
      traces.front().leavesOutFirst ? " after the first one, which is left out" : ""));
  step.mostRows = SIZE_MAX;
  step.columns = {"", ">predicted ms", ">measured ms", ">quotient"};
  std::map<WorkKey, Compared> work;
  double longest = 0;
  for (const StepTrace &trace : traces) {
    const int64_t rank = trace.step.ranks.front();
    const StepOfRanks &planned = plan.timelineOf(rank);
    longest = std::max(longest, trace.step.seconds);
    step.addRow({"rank " + std::to_string(rank), milliseconds(planned.seconds),
                 milliseconds(trace.step.seconds), ratioText(planned.seconds, trace.step.seconds)});
    for (const auto &[key, sum] : planned.work) {
      Compared &each = work[key];
      each.nodes = sum.nodes;
      ++each.ranks;
      each.calls += sum.calls;
      each.predicted += sum.seconds;
      each.measured += trace.step.work.at(key).seconds;
    }
  }
  if (traces.size() > 1)
    step.addRow({"slowest", milliseconds(plan.seconds), milliseconds(longest),
                 ratioText(plan.seconds, longest)});
  addWork(report, work, mostRows);
  addBytes(report, plan, traces);
  return report;
}
