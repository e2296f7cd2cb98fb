#ifndef DPC_PASSES_EXPLAIN_REPORT_H
#define DPC_PASSES_EXPLAIN_REPORT_H

#include "planning/SizeText.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace dpc {

/// A section of a report: a title, lines of text, and a table. A table without rows is not printed.
struct ReportSection {
  std::string title;
  /// The lines of text, which are printed above the table.
  std::vector<std::string> lines;
  /// The headers of the columns. If a header begins with '>', the column holds numbers: its cells
  /// are right-aligned. The '>' itself is not printed.
  std::vector<std::string> columns;
  /// The rows of the table. Each row has one cell per column.
  std::vector<std::vector<std::string>> rows;
  /// The most rows that are printed. If the table has more, a last line says how many are left out.
  size_t mostRows = 24;

  void addRow(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
};

/// A report about a program, of about one page. The sections are printed in the order in which they
/// were added. The printed text depends only on the sections, so that reports of two compilations
/// can be compared.
class ExplainReport {
public:
  ReportSection &add(llvm::StringRef title) {
    sections.emplace_back();
    sections.back().title = title.str();
    return sections.back();
  }
  void print(llvm::raw_ostream &os) const;
  const std::vector<ReportSection> &getSections() const { return sections; }

private:
  std::vector<ReportSection> sections;
};

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_REPORT_H
