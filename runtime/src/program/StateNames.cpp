#include "runtime/src/program/StateNames.h"

#include <fnmatch.h>

namespace dpc {

uint32_t findState(const dpc_program_t &program, const std::string &name) {
  for (uint32_t i = 0; i < program.state_count; ++i)
    if (name == program.states[i].name)
      return i;
  return DPC_NONE;
}

bool matchesGlob(const std::string &pattern, const std::string &name) {
  return pattern == name || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::string listNames(const std::vector<std::string> &names, size_t most) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i)
    text += (i ? ", " : "") + names[i];
  return names.size() <= most ? text
                              : text + " and " + std::to_string(names.size() - most) + " more";
}

} // namespace dpc
