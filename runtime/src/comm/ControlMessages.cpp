#include "runtime/src/comm/ControlMessages.h"

#include "dpc/action.h"

#include <cstring>

namespace dpc {

static constexpr dpc_comm_op_t kControl = {
    0, 0, 0, DPC_U8, DPC_SUM, DPC_NONE, 0, DPC_CONTROL_BUFFER, nullptr, nullptr, 0, 0};

dpc_status_t gatherControl(dpc_comm_t &comm, char *window, const void *mine, uint64_t bytes,
                           void *all) {
  char *gathered = window + (bytes + DPC_ALIGNMENT - 1) / DPC_ALIGNMENT * DPC_ALIGNMENT;
  std::memcpy(window, mine, bytes);
  dpc_comm_op_t op = kControl;
  op.op = DPC_OP_ALL_GATHER;
  op.count = bytes;
  op.in = window;
  op.out = gathered;
  if (dpc_status_t status = dpc_comm_run(&comm, &op))
    return status;
  std::memcpy(all, gathered, bytes * comm.world_size);
  return DPC_OK;
}

dpc_status_t broadcastControl(dpc_comm_t &comm, char *window, void *message, uint64_t bytes) {
  std::memcpy(window, message, bytes);
  dpc_comm_op_t op = kControl;
  op.op = DPC_OP_BROADCAST;
  op.count = bytes;
  op.in = op.out = window;
  if (dpc_status_t status = dpc_comm_run(&comm, &op))
    return status;
  std::memcpy(message, window, bytes);
  return DPC_OK;
}

} // namespace dpc
