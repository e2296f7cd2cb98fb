#ifndef DPC_PASSES_EXPLAIN_REPORT_H
#define DPC_PASSES_EXPLAIN_REPORT_H

#include "planning/SizeText.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace dpc {

/// A part of a report: a title, sentences, and a table. Tables without rows are
/// left out.
struct ReportSection {
  std::string title;
  /// One line each, above the table.
  std::vector<std::string> lines;
  /// Headers of the columns. Those of numbers begin with '>', which sets their
  /// cells flush right and is not printed.
  std::vector<std::string> columns;
  /// A cell a column each.
  std::vector<std::vector<std::string>> rows;
  /// Of more rows the first are printed, and how many there are.
  size_t mostRows = 24;

  void addRow(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
};

/// What is said about a program, on about a page: sections in their order.
/// The text depends on nothing but them.
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
