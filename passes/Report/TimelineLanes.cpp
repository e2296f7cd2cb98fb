// Makes the bars of a rank's timeline from its played actions.

#include "passes/Report/Html.h"
#include "passes/Report/Timeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <map>

using namespace llvm;
using namespace dpc;

/// Names of nodes in titles are no longer than this, so that a page does not grow with them.
static constexpr size_t kMostNameBytes = 80;

static std::string shortName(StringRef name) {
  if (name.size() <= kMostNameBytes)
    return name.str();
  size_t end = kMostNameBytes;
  while (end > 0 && (name[end] & 0xc0) == 0x80) // not inside of a character of UTF-8
    --end;
  return name.take_front(end).str() + "..";
}

static std::string titleOf(const Twine &what, StringRef nodes, double seconds) {
  return what.str() + (nodes.empty() ? "" : " of " + shortName(nodes)) + ", " + timeText(seconds);
}

static void addKernels(TimelineLanes &lanes, const PlayedFunction &function,
                       const PlayedAction &played) {
  const double length = played.end - played.begin;
  double begin = played.begin, planned = 0;
  for (const PlayedKernel &kernel : function.kernels) {
    planned += kernel.seconds;
    const double end =
        function.seconds > 0 ? played.begin + length * planned / function.seconds : played.end;
    lanes.compute.push_back({begin, end, "k" + std::to_string(int(kernel.kind)),
                             titleOf(nameOf(kernel.kind), kernel.nodes, end - begin)});
    begin = end;
  }
}

static void addWait(TimelineLanes &lanes, double begin, double end, const std::string &look,
                    const Twine &why) {
  if (end > begin)
    lanes.compute.push_back({begin, end, look, titleOf("waits " + why, "", end - begin)});
}

/// By action that starts an operation: when its bytes begin to move. On one stream, this is after
/// the operations that the rank started before.
static std::vector<double> movesOf(const PlayProblem &problem, const PlayedRank &rank) {
  const std::vector<PlayAction> &actions = problem.tables[rank.table].actions;
  std::vector<const PlayedAction *> waits(actions.size(), nullptr);
  for (auto [number, action] : enumerate(actions))
    if (action.kind == PlayAction::Kind::wait)
      waits[action.started] = &rank.actions[number];
  std::vector<double> moves(actions.size(), 0);
  double free = 0;
  for (auto [number, wait] : enumerate(waits)) {
    if (!wait)
      continue;
    const double began = rank.actions[number].begin;
    moves[number] = std::min(std::max({wait->ready, began, free}), std::max(wait->complete, began));
    if (problem.hasOneStream)
      free = wait->complete;
  }
  return moves;
}

TimelineLanes dpc::lanesOf(const ExecPlay &play, const PlayedRank &rank) {
  TimelineLanes lanes;
  const std::vector<PlayAction> &actions = play.problem.tables[rank.table].actions;
  const std::vector<double> moves = movesOf(play.problem, rank);
  for (auto [number, action] : enumerate(actions)) {
    const PlayedAction &played = rank.actions[number];
    if (action.kind == PlayAction::Kind::compute) {
      if (action.number >= 0)
        addKernels(lanes, play.functions[action.number], played);
      else
        lanes.compute.push_back({played.begin, played.end,
                                 "k" + std::to_string(int(KernelClass::copy)),
                                 titleOf("zeros", "", played.end - played.begin)});
    } else if (action.kind == PlayAction::Kind::wait) {
      const PlayAction &start = actions[action.started];
      const PlayedCall &call = play.calls[start.number];
      const bool isMessage = start.operation.kind != PlayOperation::Kind::collective;
      const std::string cause = "c" + std::to_string(int(start.operation.cause));
      const double began = rank.actions[action.started].begin;
      const double ready = std::max(began, std::min(played.ready, played.complete));
      const double arrived = std::min(std::max(ready, played.begin), played.end);
      addWait(lanes, played.begin, arrived, isMessage ? "w ws" : "w wr",
              isMessage ? "until another stage sends" : "until other ranks start");
      addWait(lanes, arrived, played.end, "w " + cause,
              "for " + Twine(nameOf(start.operation.cause)));
      const std::string over = play.families[start.operation.family];
      const double moved = moves[action.started];
      if (moved > began)
        lanes.communication.push_back(
            {began, moved, "p " + cause,
             titleOf(call.name + " over " + over + ", not yet begun", call.nodes, moved - began)});
      const double complete = std::max(moved, played.complete);
      lanes.communication.push_back(
          {moved, complete, cause,
           titleOf(call.name + " over " + over, call.nodes, complete - moved)});
    }
  }
  stable_sort(lanes.communication,
              [](const TimelineBar &a, const TimelineBar &b) { return a.begin < b.begin; });
  return lanes;
}

std::vector<TimelineBar> dpc::joinShortBars(ArrayRef<TimelineBar> bars, double seconds) {
  std::vector<TimelineBar> joined;
  TimelineBar group;
  group.count = 0;
  std::map<std::string, double> timeOf; // by look, of the group
  auto finish = [&] {
    if (group.count > 1) {
      double busy = 0;
      for (const auto &[look, time] : timeOf)
        busy += time;
      group.look = max_element(timeOf, [](const auto &a, const auto &b) {
                     return a.second < b.second;
                   })->first;
      group.title = std::to_string(group.count) + " short ones, " + timeText(busy) + " together";
    }
    if (group.count)
      joined.push_back(std::move(group));
    group = {};
    group.count = 0;
    timeOf.clear();
  };
  for (const TimelineBar &bar : bars) {
    const bool isShort = bar.end - bar.begin < seconds;
    if (!isShort ||
        (group.count && (bar.begin - group.end > seconds || bar.end - group.begin > 2 * seconds)))
      finish();
    if (!isShort) {
      joined.push_back(bar);
      continue;
    }
    if (!group.count)
      group = bar;
    else
      group.count += bar.count;
    group.end = std::max(group.end, bar.end);
    timeOf[bar.look] += bar.end - bar.begin;
  }
  finish();
  return joined;
}
