// Reads how much memory the system and the control groups leave to this process.

#include "runtime/src/check/Memory.h"

#include "runtime/src/base/SharedOptions.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace dpc {

namespace {

/// The least limit of the control group of this process and the groups around it.
uint64_t leastLimit() {
  std::ifstream groups("/proc/self/cgroup");
  uint64_t least = UINT64_MAX;
  std::string line;
  while (std::getline(groups, line) && line.rfind("0::", 0) != 0) {
  }
  if (line.rfind("0::", 0) != 0)
    return least;
  for (std::string group = line.substr(3);; group.resize(group.rfind('/'))) {
    std::ifstream file("/sys/fs/cgroup" + group + "/memory.max");
    std::string text;
    uint64_t limit = 0;
    if (std::getline(file, text) && parseWhole(text.c_str(), 0, UINT64_MAX, &limit))
      least = std::min(least, limit); // "max" is no number: there is no limit
    if (group.rfind('/') == std::string::npos)
      return least;
  }
}

} // namespace

uint64_t availableMemory() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  uint64_t kibibytes = 0, available = UINT64_MAX;
  while (file >> name >> kibibytes && std::getline(file, unit))
    if (name == "MemAvailable:")
      available = kibibytes << 10;
  return std::min(available, leastLimit());
}

} // namespace dpc
