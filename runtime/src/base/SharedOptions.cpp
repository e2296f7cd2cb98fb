#include "runtime/src/base/SharedOptions.h"

#include <cerrno>
#include <cstdlib>

namespace dpc {

bool parseWhole(const char *text, uint64_t lowest, uint64_t highest, uint64_t *out) {
  if (*text < '0' || *text > '9') // strtoull takes signs and blanks
    return false;
  char *end = nullptr;
  errno = 0;
  *out = std::strtoull(text, &end, 10);
  return !*end && !errno && *out >= lowest && *out <= highest;
}

} // namespace dpc
