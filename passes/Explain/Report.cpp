// Prints a report: the title, the lines of text and the table of each section.

#include "passes/Explain/Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace dpc;

static void printTable(const ReportSection &section, raw_ostream &os) {
  const size_t columns = section.columns.size();
  auto isNumber = [&](size_t column) {
    return StringRef(section.columns[column]).starts_with(">");
  };
  std::vector<std::string> headers;
  for (size_t c = 0; c < columns; ++c)
    headers.push_back(section.columns[c].substr(isNumber(c)));
  auto shown = ArrayRef(section.rows).take_front(section.mostRows);
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns; ++c) {
    widths.push_back(headers[c].size());
    for (const std::vector<std::string> &row : shown)
      widths[c] = std::max(widths[c], row[c].size());
  }
  auto print = [&](ArrayRef<std::string> row) {
    std::string line;
    for (size_t c = 0; c < columns; ++c) {
      line += "  ";
      raw_string_ostream text(line);
      if (isNumber(c))
        text << right_justify(row[c], widths[c]);
      else
        text << left_justify(row[c], widths[c]);
    }
    os << StringRef(line).rtrim() << '\n';
  };
  print(headers);
  for (const std::vector<std::string> &row : shown)
    print(row);
  if (shown.size() < section.rows.size())
    os << "  and " << section.rows.size() - shown.size() << " more\n";
}

void ExplainReport::print(raw_ostream &os) const {
  bool isFirst = true;
  for (const ReportSection &section : sections) {
    if (section.lines.empty() && section.rows.empty())
      continue;
    os << (isFirst ? "" : "\n") << StringRef(section.title).upper() << '\n';
    isFirst = false;
    for (const std::string &line : section.lines)
      os << "  " << line << '\n';
    if (!section.rows.empty())
      printTable(section, os);
  }
}
