// Times of collectives on the levels of a topology.

#ifndef DPC_PLANNING_COLLECTIVETIMES_H
#define DPC_PLANNING_COLLECTIVETIMES_H

#include "planning/Topology.h"

namespace dpc {

/// In which order the members of a group exchange their parts.
enum class CollectiveAlgorithm {
  /// Each member sends each part to the member that needs it. An all-reduce has two phases.
  direct,
  /// Parts travel around rings. There are as many rings as a unit has members, and a ring enters
  /// and leaves each unit once. So all devices of a unit send to the next unit. An all-to-all is
  /// direct.
  rings
};

/// The time of a collective. It is startSeconds + bytes / bytesPerSecond for a buffer of `bytes`
/// bytes: the larger one of the operand and the result of a member.
struct CollectiveTime {
  double startSeconds = 0, bytesPerSecond = 0;
  double seconds(double bytes) const { return startSeconds + bytes / bytesPerSecond; }
};

/// Returns the time of a collective of the members `places`, while no other uses their connections.
/// An irregular group has the time of a regular one with as many members in every unit as its
/// largest units have. Needs: at least two members.
///
/// A member exchanges a share of (n - 1) / n of the buffer with the n - 1 others, twice in an
/// all-reduce (Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations
/// in MPICH", 2005). In rings, the slowest level sets the pace, and the members of a unit share
/// what passes its border. If parts are sent directly, every level carries what its own connections
/// move, and the slowest one sets the time.
CollectiveTime timeOf(const Topology &topology, CollectiveKind kind, CollectiveAlgorithm algorithm,
                      const GroupPlaces &places);

} // namespace dpc

#endif // DPC_PLANNING_COLLECTIVETIMES_H
