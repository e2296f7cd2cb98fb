#ifndef DPC_PASSES_EXPLAIN_REPORT_H
#define DPC_PASSES_EXPLAIN_REPORT_H

#include "planning/SizeText.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace dpc {

/// A part of a report: a title, sentences, and a table. A table without rows is not printed.
struct ReportSection {
  std::string title;
  /// One line each, above the table.
  std::vector<std::string> lines;
  /// Headers of the columns. The header of a column of numbers begins with '>', which right-aligns
  /// the cells and is not printed.
  std::vector<std::string> columns;
  /// Rows of cells, with one cell per column.
  std::vector<std::vector<std::string>> rows;
  /// The most rows that are printed. If there are more, their number is printed instead.
  size_t mostRows = 24;

  void addRow(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
};

/// A report about a program, of about one page: sections in their order. The printed text depends
/// only on the sections, so that reports can be compared.
class Report {
public:
  ReportSection &add(llvm::StringRef title) {
    sections.emplace_back();
    sections.back().title = title.str();
    return sections.back();
  }
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<ReportSection> sections;
};

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_REPORT_H
