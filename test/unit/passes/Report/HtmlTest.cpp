// Texts, numbers and names of report pages.

#include "passes/Report/Html.h"

#include <gtest/gtest.h>

using namespace dpc;

namespace {

TEST(Html, TextsStayTexts) {
  EXPECT_EQ(escapeHtml("<a b=\"c\" d='e'>&"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
  EXPECT_EQ(escapeHtml("\xc3\xa4"), "\xc3\xa4");
  EXPECT_EQ(escapeHtml("a\x01"), "a\xef\xbf\xbd");
  EXPECT_EQ(escapeHtml("a\xff"), "a\xef\xbf\xbd");
}

TEST(Html, TimesHaveTheirUnit) {
  EXPECT_EQ(timeText(0), "0");
  EXPECT_EQ(timeText(1.5), "1.500 s");
  EXPECT_EQ(timeText(0.0123), "12.30 ms");
  EXPECT_EQ(timeText(0.123), "123.0 ms");
  EXPECT_EQ(timeText(1e-9), "0.001 µs");
}

TEST(Html, CoordinatesAreShort) {
  EXPECT_EQ(coordinateText(10), "10");
  EXPECT_EQ(coordinateText(2.5), "2.5");
  EXPECT_EQ(coordinateText(-0.001), "0");
}

// A row that does not fit is counted, and a column of numbers is marked.
TEST(Html, TablesHaveAnEnd) {
  std::string text;
  llvm::raw_string_ostream os(text);
  writeHtmlTable(os, "sizes", {"what", ">bytes"}, {{"a", "1"}, {"<b>", "2"}, {"c", "3"}}, 2);
  EXPECT_NE(text.find("<th scope=\"col\" class=\"n\">bytes</th>"), std::string::npos);
  EXPECT_NE(text.find("<td>&lt;b&gt;</td><td class=\"n\">2</td>"), std::string::npos);
  EXPECT_EQ(text.find("<td>c</td>"), std::string::npos);
  EXPECT_NE(text.find("and 1 more"), std::string::npos);
}

// Names of layers may have different counts of numbers.
TEST(Html, NodesOfLayersHaveOneName) {
  EXPECT_EQ(patternOfNodes({"linear"}), "linear");
  EXPECT_EQ(patternOfNodes({"/b.0/Add", "/b.1/Add"}), "/b.*/Add");
  EXPECT_EQ(patternOfNodes({"/b.0/Add", "/b.1/Add_3"}), "/b.*/Add*");
}

} // namespace
