#ifndef DPC_PASSES_REPORT_HTML_H
#define DPC_PASSES_REPORT_HTML_H

#include "passes/Explain/Report.h"

namespace dpc {

/// Returns `text` as HTML that shows it, also inside of quoted attributes. Bytes that are not UTF-8
/// and control characters become replacement characters.
std::string escapeHtml(llvm::StringRef text);

/// Returns a time with its unit and three to four digits: "1.234 s", "56.78 ms", "9.012 us".
std::string timeText(double seconds);
/// "12.3 %", or "0 %" if `whole` is 0.
std::string percentText(double part, double whole);
/// Returns a number with at most two decimals, for coordinates of drawings.
std::string coordinateText(double value);

/// Writes a table in a container that scrolls sideways if the table is wider than the page. Headers
/// are as in ReportSection::columns. Writes at most `mostRows` rows, then how many are left out.
void writeHtmlTable(llvm::raw_ostream &os, llvm::StringRef caption,
                    llvm::ArrayRef<std::string> columns,
                    llvm::ArrayRef<std::vector<std::string>> rows, size_t mostRows = SIZE_MAX);

/// Writes the title, the lines and the table of a section.
void writeHtmlSection(llvm::raw_ostream &os, const ReportSection &section);

/// Returns one name for the names of ONNX nodes of one family (nodeFamily()), with stars where they
/// differ: the nodes of repeated layers.
std::string patternOfNodes(const std::vector<std::string> &names);

/// Writes a legend: for each entry a square with the CSS class and its text.
void writeLegend(llvm::raw_ostream &os,
                 llvm::ArrayRef<std::pair<std::string, std::string>> classesAndTexts);

} // namespace dpc

#endif // DPC_PASSES_REPORT_HTML_H
