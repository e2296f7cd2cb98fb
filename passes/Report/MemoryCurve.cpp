// Adds up the buffers that hold values at each time of a step.

#include "passes/Report/MemoryChart.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>

using namespace llvm;
using namespace dpc;

static int64_t sumOf(const BytesByUse &bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t(0));
}

MemoryCurve::MemoryCurve(const RankMemory &memory) {
  BytesByUse now = {};
  for (const PlannedBuffer &buffer : memory.buffers)
    if (size_t(buffer.use) < kLastingUses)
      now[size_t(buffer.use)] += buffer.bytes;
  std::map<double, BytesByUse> changes;
  changes[0] = {};
  for (const BufferLife &life : memory.lives) {
    if (life.end <= life.begin)
      continue;
    const PlannedBuffer &buffer = memory.buffers[life.buffer];
    changes[life.begin][size_t(buffer.use)] += buffer.bytes;
    changes[life.end][size_t(buffer.use)] -= buffer.bytes;
  }
  for (const auto &[seconds, change] : changes) {
    for (size_t use = 0; use < kMemoryUses; ++use)
      now[use] += change[use];
    points.push_back({seconds, now});
    if (const int64_t bytes = sumOf(now); bytes > peakBytes) {
      peakBytes = bytes;
      peakSeconds = seconds;
    }
  }
}

std::vector<MemoryCurve::Point> MemoryCurve::summarize(double seconds, size_t most) const {
  std::vector<Point> summary;
  size_t next = 0;
  for (size_t part = 0; part < most; ++part) {
    const double begin = seconds * double(part) / double(most);
    const double end = seconds * double(part + 1) / double(most);
    // The point that holds at `begin`, and all that begin in this part.
    const Point *fullest = next ? &points[next - 1] : nullptr;
    for (; next < points.size() && points[next].begin < end; ++next)
      if (!fullest || sumOf(points[next].bytes) > sumOf(fullest->bytes) ||
          points[next].begin <= begin)
        fullest = &points[next];
    if (fullest && (summary.empty() || summary.back().bytes != fullest->bytes))
      summary.push_back({begin, fullest->bytes});
  }
  return summary;
}
