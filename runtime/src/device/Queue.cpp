#include "runtime/src/device/Queue.h"

#include "runtime/src/device/HostQueue.h"

namespace dpc {

std::unique_ptr<Queue> makeQueue(const dpc_program_t &program, dpc_comm_t &comm,
                                 RankMemory &memory) {
  return std::make_unique<HostQueue>(program, comm, memory);
}

} // namespace dpc
