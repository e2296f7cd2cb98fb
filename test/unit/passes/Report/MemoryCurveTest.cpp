// Curves of the bytes that hold values.

#include "passes/Report/MemoryChart.h"

#include <gtest/gtest.h>

using namespace dpc;

namespace {

int64_t bytesOf(const MemoryCurve::Point &point, MemoryUse use) { return point.bytes[size_t(use)]; }

/// A parameter of 10 bytes; an activation of 5 bytes in [1, 3), a gradient of 7 bytes in [2, 4).
RankMemory twoTemporaries() {
  RankMemory memory;
  memory.buffers = {{"w", "", MemoryUse::parameters, 10, 0},
                    {"a", "", MemoryUse::activations, 5, 10},
                    {"g", "", MemoryUse::gradients, 7, 15}};
  memory.lives = {{1, 1, 3}, {2, 2, 4}, {1, 9, 9}};
  return memory;
}

TEST(MemoryCurve, AddsWhatIsLive) {
  const MemoryCurve curve(twoTemporaries());
  EXPECT_EQ(curve.peakBytes, 22);
  EXPECT_EQ(curve.peakSeconds, 2);
  ASSERT_EQ(curve.points.size(), 5u);
  EXPECT_EQ(bytesOf(curve.points[0], MemoryUse::parameters), 10);
  EXPECT_EQ(bytesOf(curve.points[3], MemoryUse::activations), 0);
  EXPECT_EQ(bytesOf(curve.points[3], MemoryUse::gradients), 7);
}

// Each part of the time has its fullest moment, also if it lasts shorter than the part.
TEST(MemoryCurve, SummariesKeepPeaks) {
  const std::vector<MemoryCurve::Point> points = MemoryCurve(twoTemporaries()).summarize(10, 2);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(bytesOf(points[0], MemoryUse::activations), 5);
  EXPECT_EQ(bytesOf(points[0], MemoryUse::gradients), 7);
  EXPECT_EQ(points[1].begin, 5);
  EXPECT_EQ(bytesOf(points[1], MemoryUse::gradients), 0);
  EXPECT_EQ(MemoryCurve(twoTemporaries()).summarize(10, 10).size(), 5u);
}

} // namespace
