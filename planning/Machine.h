#ifndef DPC_PLANNING_MACHINE_H
#define DPC_PLANNING_MACHINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <string>
#include <vector>

namespace dpc {

/// What computes: one device, in round numbers. Decisions compare times, nobody
/// reads them off a clock.
struct Device {
  double flopsPerSecond;
  double memoryBytesPerSecond;

  /// Of an op that computes `flops` and reads and writes `bytes`.
  double computeSeconds(double flops, double bytes) const {
    return flops / flopsPerSecond + bytes / memoryBytesPerSecond;
  }
};

/// What joins devices: one device's way to the others of its group.
struct Link {
  double bytesPerSecond;
  double latencySeconds;

  /// Of moving `bytes` through a device's link.
  double transferSeconds(double bytes) const { return latencySeconds + bytes / bytesPerSecond; }
};

/// What a program is planned for. Whoever decides by time asks the one machine
/// that the program names (`#dist.machine`).
struct Machine {
  /// A registered target (targets/Target.h), and a processor that it knows.
  std::string target, processor;
  Device device;
  /// The link of mesh axes that are not named below.
  Link link;
  /// The links between devices that differ along a mesh axis.
  std::vector<std::pair<std::string, Link>> axisLinks;

  /// The link of a collective over `axes`: as slow as the slowest, which all of
  /// its bytes pass.
  template <typename Names> Link linkOver(const Names &axes) const {
    bool isFirst = true;
    Link slowest = link;
    for (llvm::StringRef axis : axes) {
      Link own = link;
      for (const auto &[name, link] : axisLinks)
        if (axis == name)
          own = link;
      if (isFirst)
        slowest = own;
      isFirst = false;
      slowest.bytesPerSecond = std::min(slowest.bytesPerSecond, own.bytesPerSecond);
      slowest.latencySeconds = std::max(slowest.latencySeconds, own.latencySeconds);
    }
    return slowest;
  }
};

/// Bytes through a device's link for an all-reduce of `bytes` on each of
/// `members` devices: a reduce-scatter and an all-gather, each in members - 1
/// steps of a member's part (Thakur, Rabenseifner and Gropp, "Optimization of
/// Collective Communication Operations in MPICH", 2005).
inline double allReduceBytes(double bytes, int64_t members) {
  return 2 * bytes * (members - 1) / members;
}
/// The same for an all-gather, a reduce-scatter or an all-to-all, where `bytes`
/// are those of all members together.
inline double gatherBytes(double bytes, int64_t members) { return bytes * (members - 1) / members; }

} // namespace dpc

#endif // DPC_PLANNING_MACHINE_H
