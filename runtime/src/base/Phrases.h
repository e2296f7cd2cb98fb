#ifndef DPC_RUNTIME_SRC_BASE_PHRASES_H
#define DPC_RUNTIME_SRC_BASE_PHRASES_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace dpc {

/// A count with its noun, for messages: "1 sample", "5 samples".
std::string countOf(uint64_t count, const char *noun);

/// Copies a text into a record, and cuts it off at the record's end.
template <size_t bytes> void copyText(char (&to)[bytes], const std::string &from) {
  std::snprintf(to, bytes, "%s", from.c_str());
}

/// The text with a space in place of each control character, so that a text of another process
/// makes one line of a message.
std::string oneLine(std::string text);

/// A size for messages, e.g. "12.3 MiB".
std::string bytesText(uint64_t bytes);

/// A list of names for messages: "a, b, c". Of more than eight names only the
/// first eight are listed: "a, b, .., h and 5 more".
std::string listNames(const std::vector<std::string> &names);

/// Ranks, for messages: "rank 1", "ranks 0, 2".
std::string ranksText(const std::vector<uint32_t> &ranks);

/// The name in `names` that the user probably meant by a misspelled `name`: the
/// name with the smallest edit distance to `name`, ignoring case. Empty if in each
/// of `names` more than a third of the letters differ.
std::string nearestName(const std::string &name, const std::vector<std::string> &names);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_PHRASES_H
