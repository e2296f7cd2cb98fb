// Draws the timelines of the ranks of a step as SVG.

#include "passes/Report/Timeline.h"

#include "passes/Report/Html.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <set>

using namespace llvm;
using namespace dpc;

/// The most bars and timelines of a page. They keep it below 2 MiB.
static constexpr size_t kMostBars = 5000;
static constexpr size_t kMostTimelines = 64;
/// So many timelines have tall drawings.
static constexpr size_t kMostTallTimelines = 4;
/// A bar that is shorter than this share of the step is too narrow to be seen.
static constexpr double kNarrow = 1. / 5000;
/// The lanes of a timeline, from the top, in the units of its drawing.
static constexpr int kComputeHeight = 24, kCommunicationTop = 28, kCommunicationHeight = 18;
static constexpr int kMostTracks = 3;

std::string dpc::nameOfTimeline(const PlayedRank &rank) {
  return "rank " + std::to_string(rank.ranks.front()) +
         (rank.ranks.size() > 1 ? " and " + std::to_string(rank.ranks.size() - 1) + " more" : "");
}

void dpc::writeTimeAxis(raw_ostream &os, double seconds) {
  // Steps of 1, 2 or 5 times a power of ten, at most six of them.
  double step = std::pow(10, std::floor(std::log10(std::max(seconds, 1e-9) / 6)));
  for (double factor : {2., 2.5, 2.})
    if (seconds / step > 6)
      step *= factor;
  os << "<div class=\"axis\" aria-hidden=\"true\" data-seconds=\"" << formatv("{0:e6}", seconds)
     << "\">";
  const auto [scale, unit] = seconds >= 1      ? std::pair(1., "s")
                             : seconds >= 1e-3 ? std::pair(1e3, "ms")
                                               : std::pair(1e6, "µs");
  for (int i = 0; i * step <= seconds; ++i)
    os << (i * step > 0.85 * seconds ? "<span class=\"late\"" : "<span")
       << " style=\"left:" << coordinateText(100 * i * step / seconds) << "%\">"
       << coordinateText(i * step * scale) << (i ? std::string(" ") + unit : "") << "</span>";
  os << "</div>\n";
}

namespace {
/// The bars of a rank, as they are drawn.
struct DrawnRank {
  const PlayedRank *rank;
  TimelineLanes lanes;
};
} // namespace

/// Gives each bar of communication a track, so that operations that run at the same time lie
/// beneath each other. If there are too many, the last track has several.
static std::vector<int> tracksOf(ArrayRef<TimelineBar> bars) {
  std::vector<double> ends;
  std::vector<int> tracks;
  for (const TimelineBar &bar : bars) {
    auto free = find_if(ends, [&](double end) { return end <= bar.begin; });
    if (free == ends.end() && ends.size() < kMostTracks)
      free = ends.insert(ends.end(), 0);
    if (free == ends.end())
      --free;
    *free = std::max(*free, bar.end);
    tracks.push_back(free - ends.begin());
  }
  return tracks;
}

static void drawBar(raw_ostream &os, const TimelineBar &bar, double scale, double top,
                    double height) {
  // Thin bars are waits: their height tells them from work without colours.
  const StringRef look = bar.look;
  if (look.starts_with("w ") || look.starts_with("p ")) {
    top += height * (look.starts_with("w ") ? 0.35 : 0.4);
    height *= look.starts_with("w ") ? 0.3 : 0.2;
  }
  os << "<rect class=\"" << look << "\" x=\"" << coordinateText(bar.begin * scale) << "\" y=\""
     << coordinateText(top) << "\" width=\""
     << coordinateText(std::max(1., (bar.end - bar.begin) * scale)) << "\" height=\""
     << coordinateText(height) << "\"><title>" << escapeHtml(bar.title) << "</title></rect>\n";
}

static void drawRank(raw_ostream &os, const DrawnRank &drawn, double seconds,
                     ArrayRef<int64_t> stages, bool isTall) {
  const PlayedRank &rank = *drawn.rank;
  double waited = rank.waitedForRanks + rank.waitedForStages;
  for (double exposed : rank.exposedSeconds)
    waited += exposed;
  const std::string name = nameOfTimeline(rank);
  const std::string summary = "computes " + timeText(rank.computeSeconds) + ", waits " +
                              timeText(waited) + ", ends at " + timeText(rank.endSeconds);
  os << "<div class=\"row\"><div class=\"who\">" << name;
  if (!stages.empty())
    os << "<small>stage " << stages[rank.table] << "</small>";
  os << "</div><svg class=\"chart " << (isTall ? "tall" : "lanes") << "\" viewBox=\"0 0 "
     << kChartWidth << " 48\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"" << name
     << " " << summary << "\">\n<rect class=\"lane\" width=\"" << kChartWidth << "\" height=\""
     << kComputeHeight << "\"/><rect class=\"lane\" y=\"" << kCommunicationTop << "\" width=\""
     << kChartWidth << "\" height=\"" << kCommunicationHeight << "\"/>\n";
  const double scale = kChartWidth / seconds;
  for (const TimelineBar &bar : drawn.lanes.compute)
    drawBar(os, bar, scale, 0, kComputeHeight);
  const std::vector<int> tracks = tracksOf(drawn.lanes.communication);
  const int count = tracks.empty() ? 1 : *max_element(tracks) + 1;
  const double height = double(kCommunicationHeight) / count;
  for (auto [bar, track] : zip_equal(drawn.lanes.communication, tracks))
    drawBar(os, bar, scale, kCommunicationTop + track * height, height);
  os << "</svg></div>\n";
}

static void writeLooks(raw_ostream &os, ArrayRef<DrawnRank> ranks) {
  std::set<std::string> looks;
  for (const DrawnRank &drawn : ranks) {
    for (const TimelineBar &bar : drawn.lanes.compute)
      looks.insert(bar.look);
    for (const TimelineBar &bar : drawn.lanes.communication)
      looks.insert(bar.look);
  }
  std::vector<std::pair<std::string, std::string>> entries;
  auto add = [&](const std::string &look, const std::string &key, const std::string &text) {
    if (looks.count(look))
      entries.push_back({key, text});
  };
  for (int kind = kKernelClasses; kind-- > 0;)
    add("k" + std::to_string(kind), "k" + std::to_string(kind), nameOf(KernelClass(kind)).str());
  os << "<p class=\"note\">Upper lane, computation: full bars are kernels, by class; thin bars are "
        "waits.</p>";
  writeLegend(os, entries);
  entries.clear();
  for (size_t cause = 0; cause < kPlayCauses; ++cause)
    add("c" + std::to_string(cause), "c" + std::to_string(cause), nameOf(PlayCause(cause)).str());
  add("w wr", "wr", "wait until other ranks start");
  add("w ws", "ws", "wait until another stage sends");
  if (entries.empty())
    return;
  os << "<p class=\"note\">Lower lane, communication, by what it moves; a wait in the upper lane "
        "has "
        "the colour of its operation. A thin bar in the lower lane is an operation that waits "
        "for other ranks or for earlier operations.</p>";
  writeLegend(os, entries);
}

void dpc::writeTimelines(raw_ostream &os, const PlayedStep &step, ArrayRef<int64_t> stages) {
  const double seconds = std::max(step.timeline.seconds, 1e-12);
  const std::vector<PlayedRank> &played = step.timeline.played;
  std::vector<DrawnRank> all;
  for (const PlayedRank &rank : ArrayRef(played).take_front(kMostTimelines))
    all.push_back({&rank, lanesOf(step.play, rank)});
  std::vector<DrawnRank> drawn;
  size_t before = 0, after = 0;
  double narrow = kNarrow * seconds;
  for (;; narrow *= 2) {
    drawn.clear();
    before = after = 0;
    for (const DrawnRank &rank : all) {
      drawn.push_back({rank.rank,
                       {joinShortBars(rank.lanes.compute, narrow),
                        joinShortBars(rank.lanes.communication, narrow)}});
      before += rank.lanes.compute.size() + rank.lanes.communication.size();
      after += drawn.back().lanes.compute.size() + drawn.back().lanes.communication.size();
    }
    if (after <= kMostBars || narrow > seconds)
      break;
  }
  os << "<div class=\"zoom\" hidden><button type=\"button\" data-zoom=\"in\">Zoom in</button>"
        "<button type=\"button\" data-zoom=\"out\">Zoom out</button>"
        "<button type=\"button\" data-zoom=\"left\">Earlier</button>"
        "<button type=\"button\" data-zoom=\"right\">Later</button>"
        "<button type=\"button\" data-zoom=\"all\">Entire step</button></div>\n"
     << "<figure>\n<div class=\"time\">\n";
  writeTimeAxis(os, seconds);
  for (const DrawnRank &rank : drawn)
    drawRank(os, rank, seconds, stages, drawn.size() <= kMostTallTimelines);
  os << "</div>\n<figcaption>Time from the start of the step. ";
  if (after < before)
    os << "Events shorter than " << timeText(narrow)
       << " that follow each other are one bar: " << before << " events are " << after << " bars. ";
  if (played.size() > drawn.size())
    os << played.size() - drawn.size() << " further timelines are left out. ";
  os << "Ranks that cannot differ share a timeline.</figcaption>\n</figure>\n";
  writeLooks(os, drawn);
}
