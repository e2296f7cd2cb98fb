// Which levels of a topology the bytes of collectives and messages pass.

#ifndef DPC_PLANNING_LEVELTRAFFIC_H
#define DPC_PLANNING_LEVELTRAFFIC_H

#include "planning/CollectiveTimes.h"

namespace dpc {

/// Returns how what a member of a collective sends is divided among the levels of `topology`: by
/// level, the share that passes this level and none outside of it. The shares add up to 1; all are
/// 0 for a group of one member.
///
/// If parts are sent directly, each level has the share of the members that it connects. In rings,
/// trees and hierarchical collectives, data enter and leave a unit once, whatever number of members
/// it has; the last hop, which closes a ring, is not counted.
std::vector<double> levelShares(const Topology &topology, Transport transport, CollectiveKind kind,
                                const GroupPlaces &places);

/// Returns the outermost level that a message from device `from` to device `to` passes. Needs: two
/// different devices of the topology.
size_t levelBetween(const Topology &topology, int64_t from, int64_t to);

} // namespace dpc

#endif // DPC_PLANNING_LEVELTRAFFIC_H
