#include "runtime/src/base/SharedOptions.h"

#include "runtime/src/base/Status.h"

#include <cerrno>
#include <cstdlib>

namespace dpc {

bool parseWhole(const char *text, uint64_t lowest, uint64_t highest, uint64_t *out) {
  if (*text < '0' || *text > '9') // strtoull would accept signs and blanks
    return false;
  char *end = nullptr;
  errno = 0;
  *out = std::strtoull(text, &end, 10);
  return !*end && !errno && *out >= lowest && *out <= highest;
}

dpc_status_t GivenOptions::add(const std::string &name, const std::string &argument) {
  const auto [first, isNew] = given.emplace(name, argument);
  return isNew || first->second == argument
             ? DPC_OK
             : fail(DPC_USAGE, "%s and %s contradict each other: give one", first->second.c_str(),
                    argument.c_str());
}

} // namespace dpc
