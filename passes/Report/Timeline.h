#ifndef DPC_PASSES_REPORT_TIMELINE_H
#define DPC_PASSES_REPORT_TIMELINE_H

#include "passes/Play/ExecPlay.h"

namespace dpc {

/// A bar of a timeline: a kernel, a wait or an operation between ranks.
struct TimelineBar {
  double begin = 0, end = 0; ///< in seconds of the play
  /// The CSS class, which gives the colour and the height.
  std::string look;
  std::string title;
  /// The bars that became this one.
  size_t count = 1;
};

/// The bars of a rank, each lane in the order of begins.
struct TimelineLanes {
  std::vector<TimelineBar> compute;
  std::vector<TimelineBar> communication;
};

TimelineLanes lanesOf(const ExecPlay &play, const PlayedRank &rank);

/// Joins bars shorter than `seconds` that follow each other within as much time. The result has the
/// look that takes most of the time, and a title with the number of bars.
std::vector<TimelineBar> joinShortBars(llvm::ArrayRef<TimelineBar> bars, double seconds);

/// The name of a timeline: "rank 3 and 7 more".
std::string nameOfTimeline(const PlayedRank &rank);

/// Writes the timelines of all ranks that differ, with a legend, axis and buttons. `stages` has the
/// stage of each table, or is empty.
void writeTimelines(llvm::raw_ostream &os, const PlayedStep &step, llvm::ArrayRef<int64_t> stages);

/// Writes the axis of a chart over the time of a step: where round times lie.
void writeTimeAxis(llvm::raw_ostream &os, double seconds);

/// The width of the drawings over time, in their own units.
constexpr int kChartWidth = 10000;

} // namespace dpc

#endif // DPC_PASSES_REPORT_TIMELINE_H
