// The part of CudaQueue that moves data between the host and the device, and lets the host go ahead
// of the device.

#include "runtime/src/base/Status.h"
#include "runtime/src/device/CudaQueue.h"

#include <algorithm>
#include <cstring>

namespace dpc {

/// Size of the staging memory of a run: enough for the inputs of a step of most programs. Larger
/// inputs are copied in pieces.
static constexpr uint64_t kStagingBytes = 16u << 20;

/// A host that goes ahead would use its transport, for votes, while host functions of the stream
/// use it for staged tensors. And a device that receives each launch separately is one that a user
/// observes: traces and faults belong to the step of the host. So the depth is 1 in both cases.
dpc_status_t CudaQueue::openSlots() {
  const bool goesAhead = options.keepsEntries && !options.isStaged;
  slots.resize(goesAhead ? std::max(options.depth, 1u) : 1);
  for (Slot &slot : slots) {
    if (dpc_status_t status = allocateHost(kStagingBytes, &slot.staging))
      return status;
    for (cuda::Event *event : {&slot.uploaded, &slot.done})
      if (dpc_status_t status = device.check(
              device.driver.cuEventCreate(event, cuda::kEventDisableTiming), "making an event"))
        return status;
  }
  return DPC_OK;
}

dpc_status_t CudaQueue::allocateHost(uint64_t bytes, char **out) {
  void *locked = nullptr;
  if (dpc_status_t status = device.use())
    return status;
  if (dpc_status_t status =
          device.check(device.driver.cuMemHostAlloc(&locked, std::max<uint64_t>(bytes, 1), 0),
                       "locking memory of the host"))
    return status;
  lockedMemory.push_back(locked);
  std::memset(locked, 0, bytes);
  *out = static_cast<char *>(locked);
  return DPC_OK;
}

dpc_status_t CudaQueue::uploadInPlace(DeviceAddress to, const void *from, uint64_t bytes) {
  if (bytes == 0)
    return DPC_OK;
  if (dpc_status_t status = device.use())
    return status;
  return device.check(device.driver.cuMemcpyHtoDAsync_v2(pointerTo(to), from, bytes, device.stream),
                      "a copy to the device");
}

dpc_status_t CudaQueue::upload(DeviceAddress to, const void *from, uint64_t bytes) {
  // The data is copied to staging memory first, so that the caller may reuse its
  // own memory at once. So an upload need not wait for the device.
  char *const staging = slotOf(submitted).staging;
  const auto *next = static_cast<const char *>(from);
  while (bytes) {
    if (staged == kStagingBytes)
      if (dpc_status_t status = synchronize())
        return status;
    const uint64_t part = std::min(bytes, kStagingBytes - staged);
    std::memcpy(staging + staged, next, part);
    if (dpc_status_t status = uploadInPlace(to, staging + staged, part))
      return status;
    // The next copy starts at an address that is aligned for fast transfers.
    staged = std::min(kStagingBytes,
                      (staged + part + DPC_ALIGNMENT - 1) / DPC_ALIGNMENT * DPC_ALIGNMENT);
    next += part;
    to.offset += part;
    bytes -= part;
  }
  return DPC_OK;
}

dpc_status_t CudaQueue::download(void *to, DeviceAddress from, uint64_t bytes) {
  if (bytes == 0)
    return DPC_OK;
  if (dpc_status_t status = device.use())
    return status;
  if (dpc_status_t status = device.check(
          device.driver.cuMemcpyDtoHAsync_v2(to, pointerTo(from), bytes, device.stream),
          "a copy from the device"))
    return status;
  return synchronize();
}

dpc_status_t CudaQueue::submit(const std::vector<Fetch> &fetches, uint64_t *outRun) {
  if (dpc_status_t status = endActions())
    return status;
  for (const Fetch &fetch : fetches)
    if (dpc_status_t status =
            device.check(device.driver.cuMemcpyDtoHAsync_v2(fetch.to, pointerTo(fetch.from),
                                                            fetch.bytes, device.stream),
                         "a copy from the device"))
      return status;
  if (dpc_status_t status = device.check(
          device.driver.cuEventRecord(slotOf(submitted).done, device.stream), "an event"))
    return status;
  *outRun = submitted++;
  staged = 0;
  return DPC_OK;
}

dpc_status_t CudaQueue::await(uint64_t run) {
  const cuda::Event done = slotOf(run).done;
  if (dpc_status_t status = device.use())
    return status;
  if (dpc_status_t status =
          comm ? comm->finish(done, /*isLast=*/run + 1 == submitted)
               : device.check(device.driver.cuEventSynchronize(done), "the device's work"))
    return status;
  return times ? times->read() : dpc_status_t(DPC_OK);
}

dpc_status_t CudaQueue::awaitUploads(uint64_t run) {
  if (run + slots.size() < submitted)
    return DPC_OK; // the caller had to await the run before the last one
  return device.check(device.driver.cuEventSynchronize(slotOf(run).uploaded),
                      "a copy to the device");
}

dpc_status_t CudaQueue::finish() {
  if (dpc_status_t status = endActions())
    return status;
  if (dpc_status_t status = comm ? comm->finish() : synchronize())
    return status;
  staged = 0;
  return times ? times->read() : dpc_status_t(DPC_OK);
}

/// Launches the captured work of an entry, if it was captured.
dpc_status_t CudaQueue::endActions() {
  if (comm)
    if (dpc_status_t status = comm->checkAllWaited())
      return status;
  if (times)
    times->end();
  return capturedEntry == DPC_NONE ? dpc_status_t(DPC_OK) : endCapture();
}

dpc_status_t CudaQueue::synchronize() {
  staged = 0;
  return device.check(device.driver.cuStreamSynchronize(device.stream), "the device's work");
}

} // namespace dpc
