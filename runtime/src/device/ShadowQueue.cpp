// Simulates a device on the host: performs launch tables, and makes the simulated
// device's memory accessible only during a queue call or a communication.

#include "runtime/src/device/ShadowQueue.h"

#include "runtime/src/device/Launches.h"

#include <cstring>

namespace dpc {

ShadowQueue::ShadowQueue(const dpc_program_t &program, dpc_comm_t &comm, RankMemory &memory)
    : HostQueue(program, comm, memory), memory(memory) {
  setAccess(false); // the status is ignored: the first queue call would report the same failure
}

dpc_status_t ShadowQueue::setAccess(bool isAllowed) {
  if (dpc_status_t status = memory.setAccess(DPC_SPACE_ARENA, isAllowed))
    return status;
  return memory.setAccess(DPC_SPACE_SHARED, isAllowed || isCommunicating());
}

/// Calls `work`, and makes the device's memory accessible during this call.
template <typename Work> dpc_status_t ShadowQueue::onDevice(Work work) {
  if (dpc_status_t status = setAccess(true))
    return status;
  const dpc_status_t done = work();
  const dpc_status_t left = setAccess(false);
  return done ? done : left;
}

void ShadowQueue::perform(const dpc_launch_t &launch, uint32_t micro, const void *args) {
  const dpc_device_program_t &device = *program.device;
  pointers.clear();
  for (uint64_t i = 0; i < launch.param_count; ++i)
    pointers.push_back(
        pointerTo(addressOf(device.params[launch.first_param + i], micro, groupIndex, args)));
  switch (launch.kind) {
  case DPC_LAUNCH_KERNEL:
  case DPC_LAUNCH_CALL:
    device.kernels[launch.kernel].code(pointers.data());
    break;
  case DPC_LAUNCH_COPY:
    std::memcpy(pointers[1], pointers[0], device.params[launch.first_param].bytes);
    break;
  case DPC_LAUNCH_FILL: {
    const int64_t value = fillValue(launch, micro);
    std::memcpy(pointers[0], &value, sizeof value);
    break;
  }
  }
}

dpc_status_t ShadowQueue::compute(uint32_t function, uint32_t micro, const void *args) {
  const dpc_launches_t &launches = program.device->functions[function];
  return onDevice([&] {
    for (uint64_t i = 0; i < launches.count; ++i)
      perform(program.device->launches[launches.first + i], micro, args);
    return dpc_status_t(DPC_OK);
  });
}

dpc_status_t ShadowQueue::start(dpc_comm_op_t op, DeviceAddress in, DeviceAddress out,
                                uint32_t event) {
  return onDevice([&] { return HostQueue::start(op, in, out, event); });
}

dpc_status_t ShadowQueue::wait(uint32_t event) {
  return onDevice([&] { return HostQueue::wait(event); });
}

dpc_status_t ShadowQueue::zero(DeviceAddress to, uint64_t bytes) {
  return onDevice([&] { return HostQueue::zero(to, bytes); });
}

dpc_status_t ShadowQueue::upload(DeviceAddress to, const void *from, uint64_t bytes) {
  return onDevice([&] { return HostQueue::upload(to, from, bytes); });
}

dpc_status_t ShadowQueue::download(void *to, DeviceAddress from, uint64_t bytes) {
  return onDevice([&] { return HostQueue::download(to, from, bytes); });
}

dpc_status_t ShadowQueue::finish() {
  return onDevice([&] { return HostQueue::finish(); });
}

} // namespace dpc
