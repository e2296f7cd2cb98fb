// Draws the memory of ranks over the time of a step, and lists the largest tensors.

#include "passes/Report/MemoryChart.h"

#include "passes/Explain/Names.h"
#include "passes/Report/Html.h"
#include "passes/Report/Timeline.h"
#include "planning/SizeText.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;
using namespace dpc;

/// Points of the curve of the fullest rank, and of the smaller charts of others.
static constexpr size_t kMostPoints = 600, kMostSmallPoints = 160;
static constexpr size_t kMostCharts = 32;
static constexpr size_t kMostTensors = 16;
static constexpr int kChartHeight = 200;

static void drawCurve(raw_ostream &os, const MemoryCurve &curve, double seconds, int64_t top,
                      size_t most, const std::string &label, bool isLarge) {
  const std::vector<MemoryCurve::Point> points = curve.summarize(seconds, most);
  os << "<svg class=\"chart " << (isLarge ? "large" : "small") << "\" viewBox=\"0 0 " << kChartWidth
     << " " << kChartHeight << "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\""
     << escapeHtml(label) << "\">\n<rect class=\"lane\" width=\"" << kChartWidth << "\" height=\""
     << kChartHeight << "\"/>\n";
  auto x = [&](double at) { return coordinateText(at / seconds * kChartWidth); };
  auto y = [&](int64_t bytes) {
    return coordinateText(kChartHeight * (1 - double(bytes) / double(std::max<int64_t>(top, 1))));
  };
  // From the top layer to the bottom one, each down to the axis.
  for (size_t use = kMemoryUses; use-- > 0;) {
    std::string path;
    raw_string_ostream text(path);
    bool isEmpty = true;
    int64_t before = -1;
    for (const MemoryCurve::Point &point : points) {
      int64_t bytes = 0;
      for (size_t below = 0; below <= use; ++below)
        bytes += point.bytes[below];
      isEmpty &= point.bytes[use] == 0;
      if (bytes == before)
        continue;
      text << (before < 0 ? "M0 " + std::to_string(kChartHeight) + "V" : "H" + x(point.begin) + "V")
           << y(bytes);
      before = bytes;
    }
    if (!isEmpty)
      os << "<path class=\"m" << use << "\" d=\"" << path << "H" << kChartWidth << "V"
         << kChartHeight << "Z\"><title>" << nameOf(MemoryUse(use)) << "</title></path>\n";
  }
  os << "<path class=\"peak\" d=\"M" << x(curve.peakSeconds) << " 0V" << kChartHeight
     << "\"><title>the peak, " << timeText(curve.peakSeconds) << "</title></path>\n</svg>";
}

static void writeLargest(raw_ostream &os, const RankMemory &memory, const MemoryCurve &curve,
                         double seconds) {
  struct Group {
    std::vector<std::string> names;
    const PlannedBuffer *first;
    int64_t bytes = 0;
    double begin, end;
  };
  std::map<std::string, size_t> positions;
  std::vector<Group> groups;
  auto add = [&](const PlannedBuffer &buffer, double begin, double end) {
    const bool isState = size_t(buffer.use) < kLastingUses;
    const std::string key = std::to_string(int(buffer.use)) + "\n" + buffer.type + "\n" +
                            (isState ? withoutNumbers(buffer.name) : nodeFamily(buffer.name));
    auto [at, isNew] = positions.try_emplace(key, groups.size());
    if (isNew)
      groups.push_back({{}, &buffer, 0, begin, end});
    Group &group = groups[at->second];
    group.names.push_back(buffer.name.empty() ? "no node" : buffer.name);
    group.bytes += buffer.bytes;
    group.begin = std::min(group.begin, begin);
    group.end = std::max(group.end, end);
  };
  for (const PlannedBuffer &buffer : memory.buffers)
    if (size_t(buffer.use) < kLastingUses)
      add(buffer, 0, seconds);
  for (const BufferLife &life : memory.lives)
    if (life.begin <= curve.peakSeconds && curve.peakSeconds < life.end)
      add(memory.buffers[life.buffer], life.begin, life.end);
  stable_sort(groups, [](const Group &a, const Group &b) { return a.bytes > b.bytes; });
  std::vector<std::vector<std::string>> rows;
  for (const Group &group : groups) {
    const bool isState = size_t(group.first->use) < kLastingUses;
    rows.push_back({isState ? commonPattern(group.names) : patternOfNodes(group.names),
                    nameOf(group.first->use).str(), group.first->type,
                    std::to_string(group.names.size()), bytesText(group.bytes),
                    percentText(double(group.bytes), double(curve.peakBytes)),
                    isState ? "always" : timeText(group.begin) + " to " + timeText(group.end)});
  }
  writeHtmlTable(
      os, "The largest tensors at the peak, " + timeText(curve.peakSeconds) + " after the start",
      {"tensor or node", "what", "type", ">tensors", ">bytes", ">of the peak", "held"}, rows,
      kMostTensors);
}

void dpc::writeMemory(raw_ostream &os, const PlayedStep &step, ArrayRef<RankMemory> memories,
                      ArrayRef<const PlayedRank *> ranks, ArrayRef<int64_t> stages) {
  std::vector<MemoryCurve> curves(memories.begin(), memories.end());
  const double seconds = std::max(step.timeline.seconds, 1e-12);
  size_t fullest = 0;
  int64_t top = 0;
  for (auto [number, memory] : enumerate(memories)) {
    top = std::max(top, memory.plannedBytes);
    if (memory.plannedBytes > memories[fullest].plannedBytes)
      fullest = number;
  }
  auto nameOfRank = [&](size_t number) {
    return nameOfTimeline(*ranks[number]) +
           (stages.empty() ? "" : ", stage " + std::to_string(stages[number]));
  };
  auto label = [&](size_t number) {
    return "memory of " + nameOfRank(number) + ": at most " + bytesText(curves[number].peakBytes) +
           " hold values, of " + bytesText(memories[number].plannedBytes) + " planned";
  };
  os << "<figure>\n<div class=\"time\">\n";
  writeTimeAxis(os, seconds);
  auto draw = [&](size_t number, bool isLarge) {
    os << "<div class=\"row\"><div class=\"who\">" << nameOfTimeline(*ranks[number]);
    if (!stages.empty())
      os << "<small>stage " << stages[number] << "</small>";
    os << "<small>plan " << bytesText(memories[number].plannedBytes) << "</small></div>";
    drawCurve(os, curves[number], seconds, top, isLarge ? kMostPoints : kMostSmallPoints,
              label(number), isLarge);
    os << "</div>\n";
  };
  draw(fullest, /*isLarge=*/true);
  size_t drawn = 1;
  for (size_t number = 0; number < memories.size() && drawn < kMostCharts; ++number)
    if (number != fullest) {
      draw(number, /*isLarge=*/false);
      ++drawn;
    }
  os << "</div>\n<figcaption>Bytes that hold values over the time of the step, by what they are "
        "for; the top of a chart is "
     << bytesText(top) << ". " << "The memory plan of " << nameOfRank(fullest) << " needs "
     << bytesText(memories[fullest].plannedBytes) << "; at the peak, "
     << bytesText(curves[fullest].peakBytes)
     << " of them hold values (dashed line). Each point of a curve is the fullest moment of a "
        "short time.";
  if (drawn < memories.size())
    os << " " << memories.size() - drawn << " further stages are left out.";
  os << "</figcaption>\n</figure>\n";
  std::vector<std::pair<std::string, std::string>> entries;
  for (size_t use = 0; use < kMemoryUses; ++use) {
    const bool isUsed = any_of(curves, [&](const MemoryCurve &curve) {
      return any_of(curve.points, [&](const auto &point) { return point.bytes[use] > 0; });
    });
    if (isUsed)
      entries.push_back({"m" + std::to_string(use), nameOf(MemoryUse(use)).str()});
  }
  writeLegend(os, entries);
  writeLargest(os, memories[fullest], curves[fullest], seconds);
}
