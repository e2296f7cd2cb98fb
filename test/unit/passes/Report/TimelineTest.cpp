// Short bars of a timeline are joined.

#include "passes/Report/Timeline.h"

#include <gtest/gtest.h>

using namespace dpc;

namespace {

TimelineBar bar(double begin, double end, std::string look) { return {begin, end, look, look, 1}; }

// Bars that are long enough stay as they are.
TEST(Timeline, LongBarsStay) {
  const std::vector<TimelineBar> bars = {bar(0, 1, "k1"), bar(1, 2, "k1"), bar(5, 6, "k2")};
  EXPECT_EQ(joinShortBars(bars, 1).size(), 3u);
}

// A joined bar covers its parts, and looks like the class that takes most of its time.
TEST(Timeline, ShortBarsAreOne) {
  const std::vector<TimelineBar> joined = joinShortBars(
      {bar(0, 0.1, "k1"), bar(0.1, 0.5, "k2"), bar(0.5, 0.7, "k1"), bar(0.7, 3, "k1")}, 1);
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].begin, 0);
  EXPECT_EQ(joined[0].end, 0.7);
  EXPECT_EQ(joined[0].look, "k2");
  EXPECT_EQ(joined[0].count, 3u);
  EXPECT_EQ(joined[0].title.rfind("3 short ones, ", 0), 0u);
  EXPECT_EQ(joined[1].title, "k1");
}

// A short bar alone keeps its title; neither a gap nor a long row of bars becomes one bar.
TEST(Timeline, GapsStay) {
  EXPECT_EQ(joinShortBars({bar(0, 0.1, "k1"), bar(2, 2.1, "k1")}, 1).size(), 2u);
  EXPECT_EQ(joinShortBars({bar(0, 0.1, "k1")}, 1).front().title, "k1");
  std::vector<TimelineBar> bars;
  for (int i = 0; i < 100; ++i)
    bars.push_back(bar(i * 0.1, i * 0.1 + 0.1, "k1"));
  const size_t count = joinShortBars(bars, 1).size();
  EXPECT_GE(count, 5u);
  EXPECT_LE(count, 10u);
}

} // namespace
