#include "runtime/src/device/Queue.h"

#include "runtime/src/device/HostQueue.h"
#include "runtime/src/device/ShadowQueue.h"

namespace dpc {

std::unique_ptr<Queue> makeQueue(const dpc_program_t &program, dpc_comm_t &comm,
                                 RankMemory &memory) {
  if (program.device)
    return std::make_unique<ShadowQueue>(program, comm, memory);
  return std::make_unique<HostQueue>(program, comm, memory);
}

} // namespace dpc
