#include "runtime/src/base/Phrases.h"

namespace dpc {

std::string countOf(uint64_t count, const char *noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string listNames(const std::vector<std::string> &names) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i)
    text += (i ? ", " : "") + names[i];
  return names.size() <= most ? text
                              : text + " and " + std::to_string(names.size() - most) + " more";
}

} // namespace dpc
