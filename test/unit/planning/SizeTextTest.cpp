#include "planning/SizeText.h"

#include <gtest/gtest.h>

using namespace dpc;

namespace {

TEST(SizeText, WritesNumbers) {
  EXPECT_EQ(countText(0), "0");
  EXPECT_EQ(countText(999), "999");
  EXPECT_EQ(countText(1000), "1,000");
  EXPECT_EQ(countText(1234567), "1,234,567");
  EXPECT_EQ(bytesText(1023), "1023 bytes");
  EXPECT_EQ(bytesText(1536), "1.50 KiB");
  EXPECT_EQ(bytesText(25 << 20), "25.0 MiB");
  EXPECT_EQ(bytesText(int64_t(300) << 30), "300 GiB");
}

TEST(SizeText, KeepsWhatIsCompared) {
  EXPECT_EQ(exactBytesText(1023), "1023 bytes");
  EXPECT_EQ(exactBytesText(1536), "1536 bytes (1.50 KiB)");
}

} // namespace
