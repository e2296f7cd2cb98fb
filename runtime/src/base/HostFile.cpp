// Finds the topology file of this host.
#include "runtime/src/base/HostFile.h"

#include <cstdlib>

namespace dpc {

std::string hostFile() {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  if (cache && cache[0] == '/')
    return std::string(cache) + "/dpc/host.json";
  return home && home[0] == '/' ? std::string(home) + "/.cache/dpc/host.json" : "";
}

} // namespace dpc
