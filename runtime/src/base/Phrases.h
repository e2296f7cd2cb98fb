#ifndef DPC_RUNTIME_SRC_BASE_PHRASES_H
#define DPC_RUNTIME_SRC_BASE_PHRASES_H

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

/// "1 sample" or "5 samples", for messages.
std::string countOf(uint64_t count, const char *noun);

/// "a, b, c", for messages; after eight names: "a, b, .., h and 5 more".
std::string listNames(const std::vector<std::string> &names);

/// The name in `names` that a misspelled `name` probably stands for: the
/// nearest one by edit distance, ignoring case, if at most a third of its
/// letters differ. Empty if there is none.
std::string nearestName(const std::string &name, const std::vector<std::string> &names);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_PHRASES_H
