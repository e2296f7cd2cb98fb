// A machine as a topology file describes it: its devices, and the levels of connections between
// them. planning/TopologyFile reads such files.

#ifndef DPC_PLANNING_TOPOLOGY_H
#define DPC_PLANNING_TOPOLOGY_H

#include "planning/Device.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <string>
#include <vector>

namespace dpc {

/// How the members of a group exchange data.
enum class CollectiveKind { allReduce, allGather, reduceScatter, allToAll };
constexpr size_t kCollectiveKinds = 4;
/// Seconds by CollectiveKind.
using CollectiveStarts = std::array<double, kCollectiveKinds>;

/// How the units of a level are connected.
enum class LevelShape {
  switched, ///< any two directly
  ring,     ///< each with the next and the one before
  torus     ///< as a ring in two dimensions, as equal in length as the size allows
};

/// One level of connections. It connects `size` units of the level inside it, or `size` devices if
/// it is the innermost level. An example is the network that connects 32 hosts of 8 devices.
struct LinkLevel {
  std::string name;
  /// 0 for any number of units. Only the outermost level may have it.
  int64_t size = 1;
  /// What one device sends through this level, over all its connections, while it receives as much.
  double bytesPerSecond = 0;
  /// What all devices of one unit of the level inside send through this level together; 0 if each
  /// of them reaches `bytesPerSecond` at the same time.
  double unitBytesPerSecond = 0;
  /// The time that one more member adds to a collective, before bytes count.
  double stepSeconds = 0;
  /// The time to start a collective or a message that uses this level.
  double startSeconds = 0;
  LevelShape shape = LevelShape::switched;
  /// Whether the switches of the level sum what devices send (NVLink SHARP, InfiniBand SHARP).
  bool sumsInNetwork = false;

  /// How many connections a byte passes on average between two different units of `units` ones.
  double hopsBetween(int64_t units) const;
};

/// The devices of a machine, which are equal, and their connections.
struct Topology {
  std::string name;
  Device device;
  /// The time to start a collective, by kind, without those of its levels.
  CollectiveStarts startSeconds = {};
  /// The time to start a message, without that of its levels.
  double messageStartSeconds = 0;
  /// From the inside out.
  std::vector<LinkLevel> levels;

  static constexpr int64_t kMostDevices = 1 << 24;

  /// The number of devices; kMostDevices if the outermost level has any number of units.
  int64_t countDevices() const;
  /// Fails with one line if a number is impossible. The line names the level and the number.
  llvm::Error check() const;
};

/// Returns the topology of any number of equal devices, each of which sends `bytesPerSecond` to any
/// other, after `startSeconds`.
Topology makeFlatTopology(std::string name, Device device, double bytesPerSecond,
                          double startSeconds);

/// The places of a group of ranks: which levels connect them. Rank r is device r; the devices of a
/// unit have consecutive numbers.
struct GroupPlaces {
  /// By level, from the inside: the most units of the level inside that the group has in one
  /// unit of this level. A regular group has as many in all of them.
  llvm::SmallVector<int64_t> units;
  /// By level: how many groups send through the border of the same unit of the level inside at the
  /// same time, this one included.
  llvm::SmallVector<int64_t> sharing;
  int64_t members = 1;

  /// The places of a group that communicates alone. Needs: ranks below topology.countDevices().
  GroupPlaces(const Topology &topology, llvm::ArrayRef<int64_t> ranks);

  /// The most members in one unit inside level `level`.
  int64_t membersInside(size_t level) const;
  /// Whether the group has members in several units inside level `level`.
  bool crosses(size_t level) const { return units[level] > 1; }
};

/// Returns the places of `groups`, all of which do the same at the same time. Groups with equal
/// places are one entry. A connection that groups share counts as the most groups that share one.
std::vector<GroupPlaces> placesOf(const Topology &topology,
                                  llvm::ArrayRef<llvm::SmallVector<int64_t>> groups);

} // namespace dpc

#endif // DPC_PLANNING_TOPOLOGY_H
