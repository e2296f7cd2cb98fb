#ifndef DPC_PLANNING_MACHINE_H
#define DPC_PLANNING_MACHINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <string>
#include <vector>

namespace dpc {

/// The speed of one device. The numbers may be rough, because decisions only
/// compare the times of alternatives.
struct Device {
  double flopsPerSecond;
  double memoryBytesPerSecond;
};

/// The connection of one device to the other devices of its group.
struct Link {
  double bytesPerSecond;
  double latencySeconds;
};

/// The machine for which a program is planned. All decisions that depend on time
/// use the machine in the program's attribute `#dist.machine`.
struct Machine {
  /// A registered target (targets/Target.h), and one of its processors, such as
  /// "cuda" and "sm_90".
  std::string target, processor;
  Device device;
  /// The link along the mesh axes that `axisLinks` does not list.
  Link link;
  /// By name of a mesh axis: the link between devices that differ only in their
  /// coordinate along this axis.
  std::vector<std::pair<std::string, Link>> axisLinks;

  /// Returns the link of a collective over `axes`. It has the lowest bandwidth
  /// and the highest latency of the links along these axes, because all bytes
  /// must pass the slowest link.
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

} // namespace dpc

#endif // DPC_PLANNING_MACHINE_H
