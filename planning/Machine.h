#ifndef DPC_PLANNING_MACHINE_H
#define DPC_PLANNING_MACHINE_H

#include "planning/CollectiveTimes.h"

#include <string>

namespace dpc {

/// The machine for which a program is planned. All decisions that depend on time
/// use the machine in the program's attribute `#dist.machine`.
struct Machine {
  /// A registered target (targets/Target.h), and one of its processors, such as
  /// "cuda" and "sm_90".
  std::string target, processor;
  Transport transport = Transport::wires;
  /// The devices and their connections: those of a topology file, or the target's.
  Topology topology;

  const Device &device() const { return topology.device; }
};

} // namespace dpc

#endif // DPC_PLANNING_MACHINE_H
