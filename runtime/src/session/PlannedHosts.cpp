// Compares the hosts of a run with the machine for which the program was planned.
#include "runtime/src/session/PlannedHosts.h"

#include "runtime/src/base/Phrases.h"

#include <algorithm>
#include <map>

namespace dpc {

std::string hostsUnlikePlan(const dpc_program_t &program, const uint32_t *hosts) {
  const uint32_t ranks = program.world_size;
  const uint64_t inside = std::max<uint64_t>(program.level_count, 1) - 1;
  uint64_t unit = 1;
  for (uint64_t k = 0; k < std::max<uint64_t>(inside, 1); ++k) {
    // Any number of devices may be on one host.
    if (k == program.level_count || program.levels[k].size == 0)
      return "";
    // A unit that holds all ranks holds no more of them at an outer level.
    unit = std::min<uint64_t>(unit * std::min<uint64_t>(program.levels[k].size, ranks), ranks);
    bool isEqual = true;
    for (uint32_t r = 0; r < ranks; ++r)
      isEqual = isEqual && hosts[r] == r / unit * unit;
    if (isEqual)
      return "";
  }
  std::map<uint32_t, uint32_t> counts;
  for (uint32_t r = 0; r < ranks; ++r)
    ++counts[hosts[r]];
  uint32_t least = ranks, most = 0;
  for (const auto &[host, count] : counts) {
    least = std::min(least, count);
    most = std::max(most, count);
  }
  const dpc_level_t &level = program.levels[0];
  const uint64_t planned = std::min<uint64_t>(level.size, ranks);
  std::string found = std::to_string(most);
  if (least == most && most == planned)
    found += ", whose numbers are not consecutive";
  else if (least != most)
    found = std::to_string(least) + " to " + found;
  return "the program was planned for " + countOf(planned, "rank") + " per host (level '" +
         level.name + "' of " + (program.machine ? program.machine : "its machine") +
         "); this run has " + found;
}

} // namespace dpc
