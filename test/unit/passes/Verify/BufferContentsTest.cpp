// Bytes hold what was written last, as in a table of single bytes, and a
// communication under way forbids what would race with it.

#include "passes/Verify/BufferContents.h"

#include "gtest/gtest.h"

#include <array>
#include <random>

using namespace dpc;

namespace {

TEST(BufferContentsTest, ReadsWhatWasWritten) {
  BufferContents contents;
  contents.write({0, 0, 16}, 1);
  EXPECT_FALSE(contents.findStranger({0, 0, 16}, 1));
  EXPECT_FALSE(contents.findStranger({0, 4, 8}, 1));
  auto beyond = contents.findStranger({0, 8, 20}, 1);
  ASSERT_TRUE(beyond);
  EXPECT_EQ(beyond->byte, 16);
  EXPECT_EQ(beyond->buffer, -1);
  // Another space has nothing.
  EXPECT_TRUE(contents.findStranger({1, 0, 16}, 1));
}

TEST(BufferContentsTest, AWriteTakesOnlyItsBytes) {
  BufferContents contents;
  contents.write({0, 0, 16}, 1);
  contents.write({0, 4, 8}, 2);
  EXPECT_FALSE(contents.findStranger({0, 0, 4}, 1));
  EXPECT_FALSE(contents.findStranger({0, 4, 8}, 2));
  EXPECT_FALSE(contents.findStranger({0, 8, 16}, 1));
  auto stranger = contents.findStranger({0, 0, 16}, 1);
  ASSERT_TRUE(stranger);
  EXPECT_EQ(stranger->byte, 4);
  EXPECT_EQ(stranger->buffer, 2);
}

TEST(BufferContentsTest, GivesThePiecesOfABuffer) {
  BufferContents contents;
  contents.write({0, 0, 16}, 1);
  contents.write({0, 4, 8}, 2);
  std::vector<ByteRange> pieces = contents.piecesOf({0, 2, 12}, 1);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].begin, 2);
  EXPECT_EQ(pieces[0].end, 4);
  EXPECT_EQ(pieces[1].begin, 8);
  EXPECT_EQ(pieces[1].end, 12);
  EXPECT_TRUE(contents.piecesOf({1, 0, 16}, 1).empty());
}

TEST(BufferContentsTest, AgreesWithBytesOneByOne) {
  std::mt19937 random(7);
  auto below = [&](int64_t n) { return int64_t(random() % n); };
  for (int round = 0; round < 200; ++round) {
    BufferContents contents;
    std::array<int64_t, 24> bytes;
    bytes.fill(-1);
    for (int step = 0; step < 30; ++step) {
      int64_t begin = below(24), end = begin + below(25 - begin);
      int64_t buffer = below(3);
      if (below(2)) {
        contents.write({0, begin, end}, buffer);
        std::fill(bytes.begin() + begin, bytes.begin() + end, buffer);
        continue;
      }
      int64_t first = begin;
      while (first < end && bytes[first] == buffer)
        ++first;
      auto stranger = contents.findStranger({0, begin, end}, buffer);
      ASSERT_EQ(stranger.has_value(), first < end);
      if (stranger) {
        EXPECT_EQ(stranger->byte, first);
        EXPECT_EQ(stranger->buffer, bytes[first]);
      }
    }
  }
}

TEST(BufferContentsTest, AFlightForbidsUntilItEnds) {
  BufferContents contents;
  contents.begin(5, {0, 0, 16}, {0, 32, 48});
  EXPECT_FALSE(contents.whoForbidsRead({0, 0, 16}));
  EXPECT_EQ(contents.whoForbidsWrite({0, 15, 20}), 5);
  EXPECT_EQ(contents.whoForbidsRead({0, 47, 60}), 5);
  EXPECT_EQ(contents.whoForbidsWrite({0, 40, 41}), 5);
  EXPECT_FALSE(contents.whoForbidsWrite({0, 16, 32}));
  EXPECT_FALSE(contents.whoForbidsWrite({1, 0, 16}));
  contents.end(5);
  EXPECT_FALSE(contents.whoForbidsWrite({0, 0, 48}));
}

} // namespace
