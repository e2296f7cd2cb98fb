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

} // namespace dpc
