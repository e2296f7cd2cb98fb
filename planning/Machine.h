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
};

/// What joins devices: one device's way to the others of its group.
struct Link {
  double bytesPerSecond;
  double latencySeconds;
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

} // namespace dpc

#endif // DPC_PLANNING_MACHINE_H
