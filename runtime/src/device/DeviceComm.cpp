// The part of communication between devices that is the same with NCCL and through
// hosts: it connects streams by events, and watches the peers while it waits.

#include "runtime/src/device/DeviceComm.h"

#include "dpc/action.h"
#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <unistd.h>

namespace dpc {

/// Seconds by which the wait for a device may exceed the timeout for peers. So a
/// host that waits for a peer fails first, with a message that names the peer.
static constexpr double kGrace = 5;

DeviceComm::DeviceComm(DeviceCommParts parts) : parts(std::move(parts)) {}

DeviceComm::~DeviceComm() {
  const cuda::Driver &driver = parts.device.driver;
  if (stream) {
    driver.cuStreamSynchronize(stream);
    driver.cuStreamDestroy_v2(stream);
  }
  for (const std::vector<cuda::Event> *events : {&ready, &done})
    for (cuda::Event event : *events)
      if (event)
        driver.cuEventDestroy_v2(event);
}

dpc_status_t DeviceComm::open(uint32_t eventCount) {
  const CudaDevice &device = parts.device;
  int least = 0, greatest = 0;
  if (dpc_status_t status = device.check(
          device.driver.cuCtxGetStreamPriorityRange(&least, &greatest), "asking for priorities"))
    return status;
  // Communication has the highest priority, because other ranks wait for it.
  if (dpc_status_t status = device.check(
          device.driver.cuStreamCreateWithPriority(&stream, cuda::kStreamNonBlocking, greatest),
          "making a stream"))
    return status;
  isStarted.resize(eventCount);
  for (std::vector<cuda::Event> *events : {&ready, &done}) {
    events->resize(eventCount);
    for (cuda::Event &event : *events)
      if (dpc_status_t status = device.check(
              device.driver.cuEventCreate(&event, cuda::kEventDisableTiming), "making an event"))
        return status;
  }
  return DPC_OK;
}

dpc_status_t DeviceComm::start(const dpc_comm_op_t &op, uint32_t event) {
  isBusy = true;
  const CudaDevice &device = parts.device;
  if (isStarted[event])
    return fail(DPC_INVALID, "event %u is started twice", event);
  if (dpc_status_t status = checkOperation(op, parts.groups, parts.memory))
    return status;
  if (dpc_status_t status =
          device.check(device.driver.cuEventRecord(ready[event], device.stream), "an event"))
    return status;
  if (dpc_status_t status = device.check(device.driver.cuStreamWaitEvent(stream, ready[event], 0),
                                         "waiting for an event"))
    return status;
  isStarted[event] = true;
  if (dpc_status_t status = move(op))
    return status;
  return device.check(device.driver.cuEventRecord(done[event], stream), "an event");
}

dpc_status_t DeviceComm::wait(uint32_t event) {
  if (!isStarted[event])
    return fail(DPC_INVALID, "event %u is waited for before its start", event);
  isStarted[event] = false;
  const CudaDevice &device = parts.device;
  return device.check(device.driver.cuStreamWaitEvent(device.stream, done[event], 0),
                      "waiting for an event");
}

dpc_status_t DeviceComm::checkAllWaited() const {
  for (uint32_t event = 0; event < isStarted.size(); ++event)
    if (isStarted[event])
      return fail(DPC_INVALID, "event %u is never waited for", event);
  return DPC_OK;
}

dpc_status_t DeviceComm::waitForDevice(cuda::Event until) {
  const CudaDevice &device = parts.device;
  const double begin = monotonicSeconds();
  for (;;) {
    const cuda::Result state =
        until ? device.driver.cuEventQuery(until) : device.driver.cuStreamQuery(device.stream);
    if (dpc_status_t status =
            state == cuda::Result::notReady ? DPC_OK : device.check(state, "the device's work"))
      return status;
    if (state == cuda::Result::success)
      return DPC_OK;
    if (dpc_status_t status = check())
      return status;
    const double waited = monotonicSeconds() - begin;
    if (waited > parts.timeoutSeconds + kGrace)
      return fail(DPC_PEER, "the device has not finished for %.0f s", waited);
    // Polls without a pause during the first 50 us, so that a short step loses no
    // time. After that, each pause is a thousandth of the time waited so far, but
    // at most 1 ms.
    if (waited > 50e-6)
      ::usleep(static_cast<useconds_t>(std::min(1000.0, waited * 1e3)));
  }
}

dpc_status_t DeviceComm::finish(cuda::Event until, bool isLast) {
  dpc_status_t status = settle();
  if (status == DPC_OK)
    status = waitForDevice(until);
  if (status == DPC_OK) {
    isBusy = !isLast;
    return check();
  }
  const std::string cause = dpc_last_error();
  if (parts.dropGraphs)
    parts.dropGraphs();
  giveUp();
  parts.device.driver.cuStreamSynchronize(stream);
  parts.device.driver.cuStreamSynchronize(parts.device.stream);
  return fail(status, "%s", cause.c_str());
}

} // namespace dpc
