// Words of messages: counts, sizes, lists, and the name that a user meant.

#include "runtime/src/base/Phrases.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace dpc {

/// The Levenshtein distance: the smallest number of letters to insert, delete or
/// replace that turns `a` into `b`, ignoring case.
static size_t editDistance(const std::string &a, const std::string &b) {
  auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<size_t> row(b.size() + 1); // distances of a prefix of `a` to all prefixes of `b`
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (lower(a[i]) != lower(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::string countOf(uint64_t count, const char *noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string oneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

std::string bytesText(uint64_t bytes) {
  char text[32];
  if (bytes < 1024)
    std::snprintf(text, sizeof text, "%llu bytes", static_cast<unsigned long long>(bytes));
  else if (bytes < 1ull << 20)
    std::snprintf(text, sizeof text, "%.1f KiB", double(bytes) / 1024);
  else if (bytes < 1ull << 30)
    std::snprintf(text, sizeof text, "%.1f MiB", double(bytes) / (1 << 20));
  else
    std::snprintf(text, sizeof text, "%.2f GiB", double(bytes) / (1 << 30));
  return text;
}

std::string listNames(const std::vector<std::string> &names) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i)
    text += (i ? ", " : "") + names[i];
  return names.size() <= most ? text
                              : text + " and " + std::to_string(names.size() - most) + " more";
}

std::string ranksText(const std::vector<uint32_t> &ranks) {
  std::vector<std::string> names;
  for (const uint32_t rank : ranks)
    names.push_back(std::to_string(rank));
  return (ranks.size() == 1 ? "rank " : "ranks ") + listNames(names);
}

std::string nearestName(const std::string &name, const std::vector<std::string> &names) {
  std::string nearest;
  size_t least = 0;
  for (const std::string &each : names) {
    const size_t distance = editDistance(name, each);
    // Up to a third of the letters may differ.
    if (3 * distance <= std::max(name.size(), each.size()) && (nearest.empty() || distance < least))
      nearest = each, least = distance;
  }
  return nearest;
}

} // namespace dpc
