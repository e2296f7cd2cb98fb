// Writes texts, numbers, tables and legends as HTML.

#include "passes/Report/Html.h"

#include "passes/Explain/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace dpc;

/// The most rows of a section's table. A page has more than the report on a terminal, but an end.
static constexpr size_t kMostSectionRows = 200;

std::string dpc::escapeHtml(StringRef text) {
  std::string valid = json::isUTF8(text) ? text.str() : json::fixUTF8(text);
  std::string escaped;
  for (char c : valid) {
    switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    case '\'':
      escaped += "&#39;";
      break;
    default:
      const auto byte = static_cast<unsigned char>(c);
      escaped += byte < 0x20 || byte == 0x7f ? std::string("\xef\xbf\xbd") : std::string(1, c);
    }
  }
  return escaped;
}

std::string dpc::timeText(double seconds) {
  if (seconds <= 0)
    return "0";
  const auto [value, unit] = seconds >= 1      ? std::pair(seconds, "s")
                             : seconds >= 1e-3 ? std::pair(seconds * 1e3, "ms")
                                               : std::pair(seconds * 1e6, "µs");
  if (value >= 100)
    return formatv("{0:f1} {1}", value, unit);
  return value >= 10 ? formatv("{0:f2} {1}", value, unit) : formatv("{0:f3} {1}", value, unit);
}

std::string dpc::percentText(double part, double whole) {
  return whole > 0 ? formatv("{0:f1} %", 100 * part / whole).str() : "0 %";
}

std::string dpc::coordinateText(double value) {
  std::string text = formatv("{0:f2}", value);
  while (text.back() == '0')
    text.pop_back();
  if (text.back() == '.')
    text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string dpc::patternOfNodes(const std::vector<std::string> &names) {
  const std::string pattern = commonPattern(names), family = nodeFamily(names.front());
  // The pattern is what all names begin and end with, if they do not have as many numbers.
  return pattern.size() < family.size() ? family + "*" : pattern;
}

void dpc::writeHtmlTable(raw_ostream &os, StringRef caption, ArrayRef<std::string> columns,
                         ArrayRef<std::vector<std::string>> rows, size_t mostRows) {
  auto isNumber = [&](size_t column) { return StringRef(columns[column]).starts_with(">"); };
  os << "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"" << escapeHtml(caption)
     << "\"><table>\n<caption>" << escapeHtml(caption) << "</caption>\n<thead><tr>";
  for (auto [number, column] : enumerate(columns))
    os << (isNumber(number) ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">")
       << escapeHtml(StringRef(column).drop_front(isNumber(number))) << "</th>";
  os << "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string> &row : rows.take_front(mostRows)) {
    os << "<tr>";
    for (auto [number, cell] : enumerate(row))
      os << (isNumber(number) ? "<td class=\"n\">" : "<td>") << escapeHtml(cell) << "</td>";
    os << "</tr>\n";
  }
  os << "</tbody></table></div>\n";
  if (rows.size() > mostRows)
    os << "<p class=\"note\">and " << rows.size() - mostRows << " more</p>\n";
}

void dpc::writeHtmlSection(raw_ostream &os, const ReportSection &section) {
  std::string title = section.title;
  if (!title.empty())
    title[0] = toUpper(title[0]);
  os << "<section class=\"part\"><h3>" << escapeHtml(title) << "</h3>\n";
  for (const std::string &line : section.lines)
    os << "<p class=\"line\">" << escapeHtml(line) << "</p>\n";
  if (!section.rows.empty())
    writeHtmlTable(os, title, section.columns, section.rows, kMostSectionRows);
  os << "</section>\n";
}

void dpc::writeLegend(raw_ostream &os,
                      ArrayRef<std::pair<std::string, std::string>> classesAndTexts) {
  os << "<ul class=\"legend\">";
  for (const auto &[name, text] : classesAndTexts)
    os << "<li><svg class=\"key\" viewBox=\"0 0 14 14\" aria-hidden=\"true\"><rect class=\"" << name
       << "\" width=\"14\" height=\"14\"/></svg>" << escapeHtml(text) << "</li>";
  os << "</ul>\n";
}
