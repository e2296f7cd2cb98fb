// Times of collectives and messages on the levels of a topology.

#ifndef DPC_PLANNING_COLLECTIVETIMES_H
#define DPC_PLANNING_COLLECTIVETIMES_H

#include "planning/Topology.h"

namespace dpc {

/// In which order the members of a group exchange their parts.
enum class CollectiveAlgorithm {
  /// Each member sends each part to the member that needs it. An all-reduce has two phases.
  direct,
  /// Parts travel around rings. There are as many rings as a unit has members, and a ring enters
  /// and leaves each unit once. So all devices of a unit send to the next unit.
  rings,
  /// An all-reduce whose sums travel up two complementary binary trees of units, and down again
  /// (Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
  /// scan", 2009). In a unit, the members are a chain.
  trees,
  /// An all-reduce that scatters its sums inside each unit, level by level, and gathers them on the
  /// way back. Each device exchanges its part with the devices at its place in other units.
  hierarchical,
  /// An all-reduce, all-gather or reduce-scatter in which switches sum or copy, so each byte passes
  /// the connection of a member once in each direction. All levels of the group need such switches.
  inNetwork
};

/// Which algorithms a transport has.
enum class Transport {
  /// Copies in the memory of one host, and the wires between hosts: direct.
  wires,
  /// NCCL: the fastest of rings, trees, hierarchical and in-network collectives. An all-to-all is
  /// direct.
  nccl
};

/// The time of a collective. It is startSeconds + bytes / bytesPerSecond for a buffer of `bytes`
/// bytes: the larger one of the operand and the result of a member.
struct CollectiveTime {
  double startSeconds = 0, bytesPerSecond = 0;
  double seconds(double bytes) const { return startSeconds + bytes / bytesPerSecond; }
};

/// Returns the time of a collective of the members `places` with `algorithm`; nullopt if the
/// algorithm does not have this kind or the topology cannot run it. A group of one has nothing to
/// exchange: only the start counts. An irregular group has the time of a regular one with as many
/// members in every unit as its largest units have. What several groups send through the border of
/// a unit at the same time (GroupPlaces::sharing) shares its bandwidth.
///
/// A member exchanges a share of (n - 1) / n of the buffer with the n - 1 others, twice in an
/// all-reduce (Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations
/// in MPICH", 2005). In rings, the slowest level sets the pace, and the members of a unit share
/// what passes its border. If parts are sent directly, every level carries what its own connections
/// move, and the slowest one sets the time. On a ring or torus, parts that are sent directly occupy
/// several connections (LinkLevel::hopsBetween).
std::optional<CollectiveTime> timeOf(const Topology &topology, CollectiveKind kind,
                                     CollectiveAlgorithm algorithm, const GroupPlaces &places);

/// Returns the time of a collective of `bytes` bytes with the fastest algorithm of `transport`.
double collectiveSeconds(const Topology &topology, Transport transport, CollectiveKind kind,
                         const GroupPlaces &places, double bytes);

/// Returns the time of a message of `bytes` bytes between the two members of `places`.
double messageSeconds(const Topology &topology, const GroupPlaces &places, double bytes);

} // namespace dpc

#endif // DPC_PLANNING_COLLECTIVETIMES_H
