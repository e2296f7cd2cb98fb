#include "runtime/src/session/HostPhrase.h"

namespace dpc {

std::string ranksBeside(const dpc_comm_t &comm, uint32_t rank) {
  std::string list;
  uint32_t count = 0;
  for (uint32_t first = 0; first < comm.world_size; ++first) {
    const auto isHere = [&](uint32_t r) {
      return r < comm.world_size && comm.hosts[r] == comm.hosts[rank];
    };
    if (!isHere(first))
      continue;
    uint32_t last = first;
    while (isHere(last + 1))
      ++last;
    list += (list.empty() ? "" : ", ") + std::to_string(first) +
            (last > first ? "-" + std::to_string(last) : "");
    count += last - first + 1;
    first = last;
  }
  return (count > 1 ? "ranks " : "rank ") + list;
}

std::string hostPhrase(const dpc_comm_t &comm, uint32_t rank, const std::string &name) {
  return "host " + name + " (" + ranksBeside(comm, rank) + ")";
}

} // namespace dpc
