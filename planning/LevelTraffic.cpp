// Divides what the members of a collective send among the levels of a topology.

#include "planning/LevelTraffic.h"

using namespace dpc;

std::vector<double> dpc::levelShares(const Topology &topology, Transport transport,
                                     CollectiveKind kind, const GroupPlaces &places) {
  std::vector<double> shares(topology.levels.size(), 0);
  const double members = places.members;
  if (members < 2)
    return shares;
  const bool isDirect = transport == Transport::wires || kind == CollectiveKind::allToAll;
  for (size_t level = 0; level < shares.size(); ++level) {
    const double inside = places.membersInside(level), outside = places.membersInside(level + 1);
    // In a tree over all members, members / inside - members / outside edges pass the level.
    shares[level] = isDirect ? (outside - inside) / (members - 1)
                             : (1 / inside - 1 / outside) / (1 - 1 / members);
  }
  return shares;
}

size_t dpc::levelBetween(const Topology &topology, int64_t from, int64_t to) {
  size_t level = 0;
  for (; level + 1 < topology.levels.size(); ++level) {
    const int64_t size = topology.levels[level].size;
    from /= size;
    to /= size;
    if (from == to)
      break;
  }
  return level;
}
