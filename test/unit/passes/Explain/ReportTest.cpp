// Reports of --explain align their columns, count rows that do not fit, and
// leave out sections that are empty.

#include "passes/Explain/Report.h"

#include <gtest/gtest.h>

using namespace dpc;

namespace {

std::string textOf(const ExplainReport &report) {
  std::string text;
  llvm::raw_string_ostream os(text);
  report.print(os);
  return text;
}

// Columns are as wide as their widest cell, numbers flush right; nothing ends
// in spaces.
TEST(ExplainReport, LaysOutTables) {
  ExplainReport report;
  ReportSection &section = report.add("memory");
  section.lines.push_back("of a rank");
  section.columns = {"what", ">bytes", "why"};
  section.addRow({"parameters", "12", ""});
  section.addRow({"all", "1,200", "sum"});
  EXPECT_EQ(textOf(report), "MEMORY\n"
                            "  of a rank\n"
                            "  what        bytes  why\n"
                            "  parameters     12\n"
                            "  all         1,200  sum\n");
}

TEST(ExplainReport, LeavesOutWhatIsEmpty) {
  ExplainReport report;
  report.add("nothing").columns = {"a", "b"};
  report.add("loss").lines.push_back("mse");
  report.add("model").lines.push_back("mlp");
  EXPECT_EQ(textOf(report), "LOSS\n  mse\n\nMODEL\n  mlp\n");
}

TEST(ExplainReport, CountsRowsThatDoNotFit) {
  ExplainReport report;
  ReportSection &section = report.add("layout");
  section.columns = {"name"};
  section.mostRows = 2;
  for (const char *name : {"a", "b", "a long name that is not shown"})
    section.addRow({name});
  EXPECT_EQ(textOf(report), "LAYOUT\n  name\n  a\n  b\n  and 1 more\n");
}

} // namespace
