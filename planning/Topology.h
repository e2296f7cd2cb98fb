// A machine as a topology file describes it: its devices, and the levels of connections between
// them. planning/TopologyFile reads such files.

#ifndef DPC_PLANNING_TOPOLOGY_H
#define DPC_PLANNING_TOPOLOGY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <array>
#include <string>
#include <vector>

namespace dpc {

/// How the members of a group exchange data.
enum class CollectiveKind { allReduce, allGather, reduceScatter, allToAll };
constexpr size_t kCollectiveKinds = 4;
/// Seconds by CollectiveKind.
using CollectiveStarts = std::array<double, kCollectiveKinds>;

/// One level of connections. It connects `size` units of the level inside it, or `size` devices if
/// it is the innermost level. An example is the network that connects 32 hosts of 8 devices.
struct Level {
  std::string name;
  int64_t size = 1;
  /// What one device sends through this level, while it receives as much.
  double bytesPerSecond = 0;
  /// What all devices of one unit of the level inside send through this level together; 0 if each
  /// of them reaches `bytesPerSecond` at the same time.
  double unitBytesPerSecond = 0;
  /// What one more member adds to the time of a collective, before bytes count.
  double stepSeconds = 0;
  /// What a collective needs to start, once if it uses this level.
  double startSeconds = 0;
};

/// The devices of a machine, which are equal, and their connections.
struct Topology {
  std::string name;
  /// The memory of a device in bytes.
  double memoryBytes = 0;
  double memoryBytesPerSecond = 0;
  /// Floating-point operations in a second, by the name of the element type, e.g. "f32".
  llvm::StringMap<double> flopsPerSecond;
  /// The time between the start of a kernel and that of its first instruction.
  double launchSeconds = 0;
  /// What a collective needs to start on one unit of the innermost level, by kind.
  CollectiveStarts startSeconds = {};
  /// From the inside out.
  std::vector<Level> levels;

  /// The number of devices.
  int64_t countDevices() const;
  /// Fails with one line if a number is impossible. The line names the level and the number.
  llvm::Error check() const;
};

/// The number with at most six digits, as messages about topologies show it: "1e+12", "1.5", "0".
std::string numberText(double number);

/// The places of a group of ranks: which levels connect them. Rank r is device r; the devices of a
/// unit have consecutive numbers.
struct GroupPlaces {
  /// By level, from the inside: the most units of the level inside that the group has in one
  /// unit of this level. A regular group has as many in all of them.
  llvm::SmallVector<int64_t> units;
  int64_t members = 1;

  /// Needs: ranks below topology.countDevices().
  GroupPlaces(const Topology &topology, llvm::ArrayRef<int64_t> ranks);

  /// The most members in one unit inside level `level`.
  int64_t membersInside(size_t level) const;
  /// Whether the group has members in several units inside level `level`.
  bool crosses(size_t level) const { return units[level] > 1; }
};

} // namespace dpc

#endif // DPC_PLANNING_TOPOLOGY_H
