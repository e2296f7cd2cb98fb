// The functions of queues that are the same for all kinds, and the choice of a queue for a program.

#include "runtime/src/device/Queue.h"

#include "dpc/device.h"
#include "runtime/src/device/CudaQueue.h"
#include "runtime/src/device/HostQueue.h"
#include "runtime/src/device/ShadowQueue.h"

namespace dpc {

dpc_status_t Queue::begin(uint32_t, bool *isDone) {
  *isDone = false;
  return DPC_OK;
}

dpc_status_t Queue::submit(const std::vector<Fetch> &fetches, uint64_t *outRun) {
  *outRun = runs++;
  if (dpc_status_t status = finish())
    return status;
  for (const Fetch &fetch : fetches)
    if (dpc_status_t status = download(fetch.to, fetch.from, fetch.bytes))
      return status;
  return DPC_OK;
}

dpc_status_t Queue::allocateHost(uint64_t bytes, char **out) {
  // One unit of alignment more, because the allocator aligns to less.
  allocated.emplace_back((bytes + 2 * DPC_ALIGNMENT) / sizeof(std::max_align_t));
  const auto at = reinterpret_cast<uintptr_t>(allocated.back().data());
  *out = reinterpret_cast<char *>((at + DPC_ALIGNMENT - 1) / DPC_ALIGNMENT * DPC_ALIGNMENT);
  return DPC_OK;
}

dpc_status_t readThrough(Queue &queue, DeviceAddress from, uint64_t bytes, char *staging,
                         const char **out) {
  *out = queue.hostMemory(from);
  if (*out)
    return DPC_OK;
  *out = staging;
  return queue.download(staging, from, bytes);
}

bool runsOnCuda(const dpc_program_t &program) {
  return program.device && program.device->kind == DPC_DEVICE_CUDA;
}

dpc_status_t makeQueue(const dpc_program_t &program, dpc_comm_t &comm, RankMemory &memory,
                       const QueueOptions &options, std::unique_ptr<Queue> *out) {
  if (!program.device) {
    *out = std::make_unique<HostQueue>(program, comm, memory);
    return DPC_OK;
  }
  if (!runsOnCuda(program)) {
    *out = std::make_unique<ShadowQueue>(program, comm, memory);
    return DPC_OK;
  }
  auto queue = std::make_unique<CudaQueue>(program, comm, options);
  if (dpc_status_t status = queue->open(memory))
    return status;
  *out = std::move(queue);
  return DPC_OK;
}

} // namespace dpc
