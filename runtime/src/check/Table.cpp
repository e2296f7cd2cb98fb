// Writes what the ranks have found, for the user.

#include "runtime/src/check/Table.h"

#include "runtime/src/base/Phrases.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace dpc {

namespace {

constexpr uint32_t kMostInMatrix = 12;

std::string number(const char *format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string microseconds(double seconds) { return number("%.1f", seconds * 1e6); }
std::string megabytes(double bytes) { return number("%.0f", bytes / 1e6); }

std::string ranksTable(const Gathered &all, const std::vector<std::string> &causes) {
  TextTable table({"rank", "host", "address", "engine", "device", "files", "memory", "free", ""},
                  {1, 2, 3, 4});
  for (uint32_t r = 0; r < all.arrivals.size(); ++r) {
    const std::string result = causes[r].empty()        ? "ok"
                               : all.arrivals[r].isHere ? "FAILS"
                                                        : "absent";
    if (!all.arrivals[r].isHere || all.findings.empty()) {
      table.add({std::to_string(r), all.arrivals[r].host, "", "", "", "", "", "", result});
      continue;
    }
    const Findings &own = all.findings[r];
    table.add({std::to_string(r), all.arrivals[r].host, own.address, own.engine, own.device,
               std::to_string(own.files), own.needed ? bytesText(own.needed) : "",
               own.needed && own.available != UINT64_MAX ? bytesText(own.available) : "", result});
  }
  return table.text();
}

/// The seconds above the diagonal, the bytes per second below it.
std::string matrix(uint32_t ranks, const std::vector<PairSpeed> &pairs) {
  std::vector<std::string> heads = {"rank"};
  for (uint32_t r = 0; r < ranks; ++r)
    heads.push_back(std::to_string(r));
  heads.emplace_back();
  TextTable table(heads);
  for (uint32_t r = 0; r < ranks; ++r) {
    std::vector<std::string> row = {std::to_string(r)};
    for (uint32_t other = 0; other < ranks; ++other)
      row.push_back(r == other  ? "-"
                    : r < other ? microseconds(pairs[r * ranks + other].seconds)
                                : megabytes(pairs[other * ranks + r].bytesPerSecond));
    row.emplace_back();
    table.add(row);
  }
  return table.text();
}

/// A line for the pairs of each two hosts.
std::string hostPairs(const Gathered &all, const std::vector<PairSpeed> &pairs) {
  struct Span {
    uint32_t count = 0, a = 0, b = 0; ///< the slowest pair
    float least = 0, most = 0, slowest = 0, fastest = 0;
  };
  const auto ranks = static_cast<uint32_t>(all.arrivals.size());
  std::map<std::pair<uint32_t, uint32_t>, Span> spans;
  for (uint32_t a = 0; a < ranks; ++a)
    for (uint32_t b = a + 1; b < ranks; ++b) {
      const PairSpeed &pair = pairs[a * ranks + b];
      Span &span = spans[std::minmax(all.hosts[a], all.hosts[b])];
      const bool isFirst = span.count++ == 0;
      span.least = isFirst ? pair.seconds : std::min(span.least, pair.seconds);
      span.most = isFirst ? pair.seconds : std::max(span.most, pair.seconds);
      span.fastest = std::max(span.fastest, pair.bytesPerSecond);
      if (isFirst || pair.bytesPerSecond < span.slowest)
        span.slowest = pair.bytesPerSecond, span.a = a, span.b = b;
    }
  TextTable table({"hosts", "pairs", "us", "MB/s", "slowest"}, {0});
  for (const auto &[hosts, span] : spans)
    table.add({std::string(all.arrivals[hosts.first].host) + ", " + all.arrivals[hosts.second].host,
               std::to_string(span.count),
               microseconds(span.least) + ".." + microseconds(span.most),
               megabytes(span.slowest) + ".." + megabytes(span.fastest),
               "ranks " + std::to_string(span.a) + " and " + std::to_string(span.b)});
  return table.text();
}

} // namespace

/// Leaves out columns that no row but the first has.
std::string TextTable::text() const {
  std::vector<size_t> widths(rows[0].size());
  for (size_t c = 0; c < widths.size(); ++c)
    for (size_t r = 1; r < rows.size(); ++r)
      if (!rows[r][c].empty())
        widths[c] = std::max({widths[c], rows[r][c].size(), rows[0][c].size()});
  std::string out;
  for (const std::vector<std::string> &row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      if (widths[c] == 0)
        continue;
      const std::string pad(widths[c] - row[c].size(), ' ');
      const bool isLeft =
          c + 1 == row.size() || std::find(left.begin(), left.end(), c) != left.end();
      line += (line.empty() ? "" : "  ") + (isLeft ? row[c] + pad : pad + row[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string checkTable(const Gathered &all, const std::vector<std::string> &causes,
                       const std::vector<PairSpeed> &pairs) {
  const auto ranks = static_cast<uint32_t>(all.arrivals.size());
  std::string out = ranksTable(all, causes);
  if (!pairs.empty() && ranks > 1) {
    const bool isMatrix = ranks <= kMostInMatrix;
    out += "over " + all.transport + ", " + (isMatrix ? "upper right: " : "") +
           "us until a message of 8 bytes is there; " + (isMatrix ? "lower left: " : "") +
           "MB/s of large messages\n" + (isMatrix ? matrix(ranks, pairs) : hostPairs(all, pairs));
  }
  const std::set<uint32_t> hosts(all.hosts.begin(), all.hosts.end());
  const std::string lines = causeLines(all, causes);
  return out + (lines.empty() ? "a run can start: " + countOf(ranks, "rank") + " on " +
                                    countOf(hosts.size(), "host") + "\n"
                              : lines);
}

} // namespace dpc
