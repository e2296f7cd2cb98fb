#include "runtime/src/device/Queue.h"

#include "runtime/src/device/CudaQueue.h"
#include "runtime/src/device/HostQueue.h"
#include "runtime/src/device/ShadowQueue.h"

namespace dpc {

dpc_status_t makeQueue(const dpc_program_t &program, dpc_comm_t &comm, RankMemory &memory,
                       std::unique_ptr<Queue> *out) {
  if (!program.device) {
    *out = std::make_unique<HostQueue>(program, comm, memory);
    return DPC_OK;
  }
  if (program.device->kind == DPC_DEVICE_HOST) {
    *out = std::make_unique<ShadowQueue>(program, comm, memory);
    return DPC_OK;
  }
  auto queue = std::make_unique<CudaQueue>(program, comm.rank);
  if (dpc_status_t status = queue->open())
    return status;
  *out = std::move(queue);
  return DPC_OK;
}

} // namespace dpc
