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

dpc_status_t parseCheck(const std::string &argument, uint64_t *outSeconds) {
  constexpr uint64_t kDefault = 3, kMost = 3600;
  *outSeconds = kDefault;
  const size_t equals = argument.find('=');
  return equals == std::string::npos ||
                 parseWhole(argument.c_str() + equals + 1, 1, kMost, outSeconds)
             ? DPC_OK
             : fail(DPC_USAGE, "%s: \"%s\" is not a number of seconds from 1 to 3600", kCheckOption,
                    argument.c_str() + equals + 1);
}

dpc_status_t parseFrozen(const char *value, double *out) {
  uint64_t seconds = 0;
  if (!parseWhole(value, 5, 3600, &seconds))
    return fail(DPC_USAGE,
                "%s: \"%s\" is not a whole number of seconds from 5 to 3600 (dpc-compile "
                "--frozen=GLOB freezes parameters)",
                kFrozenOption, value);
  *out = static_cast<double>(seconds);
  return DPC_OK;
}

dpc_status_t GivenOptions::add(const std::string &name, const std::string &argument) {
  const auto [first, isNew] = given.emplace(name, argument);
  return isNew || first->second == argument
             ? DPC_OK
             : fail(DPC_USAGE, "%s and %s contradict each other: give one", first->second.c_str(),
                    argument.c_str());
}

} // namespace dpc
