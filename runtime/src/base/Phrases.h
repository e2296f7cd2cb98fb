#ifndef DPC_RUNTIME_SRC_BASE_PHRASES_H
#define DPC_RUNTIME_SRC_BASE_PHRASES_H

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

/// A count with its noun, for messages: "1 sample", "5 samples".
std::string countOf(uint64_t count, const char *noun);

/// A list of names for messages: "a, b, c". Of more than eight names only the
/// first eight are listed: "a, b, .., h and 5 more".
std::string listNames(const std::vector<std::string> &names);

/// The name in `names` that the user probably meant by a misspelled `name`: the
/// name with the smallest edit distance to `name`, ignoring case. Empty if in each
/// of `names` more than a third of the letters differ.
std::string nearestName(const std::string &name, const std::vector<std::string> &names);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_PHRASES_H
