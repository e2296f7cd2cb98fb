// A machine for tests: equal devices, and one level of connections.

#ifndef DPC_TEST_UNIT_PLANNING_FLATMACHINE_H
#define DPC_TEST_UNIT_PLANNING_FLATMACHINE_H

#include "planning/Machine.h"

namespace dpc::test {

inline Machine makeFlatMachine(double flopsPerSecond, double memoryBytesPerSecond,
                               double bytesPerSecond, double startSeconds) {
  Device device;
  device.memoryBytesPerSecond = memoryBytesPerSecond;
  device.flopsPerSecond[size_t(NumberType::f32)] = flopsPerSecond;
  return {"cpu", "native", Transport::wires,
          makeFlatTopology("flat", device, bytesPerSecond, startSeconds)};
}

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PLANNING_FLATMACHINE_H
