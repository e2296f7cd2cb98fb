#include "dpc/comm.h"

#include "dpc/action.h"
#include "runtime/src/recorder/Recorder.h"

#include <set>

extern "C" dpc_status_t dpc_comm_run(dpc_comm_t *comm, const dpc_comm_op_t *op) {
  dpc_request_t request = 0;
  dpc_recorder *recorder = comm->recorder;
  const uint64_t number = recorder ? recorder->schedule(*op) : 0;
  if (dpc_status_t status = comm->vtable->start(comm, op, &request))
    return status;
  if (recorder) {
    recorder->start(number);
    recorder->await(number);
  }
  if (dpc_status_t status = comm->vtable->wait(comm, request))
    return status;
  if (recorder)
    recorder->finish(number);
  return DPC_OK;
}

extern "C" dpc_status_t dpc_comm_barrier(dpc_comm_t *comm) {
  dpc_comm_op_t op = {};
  op.op = DPC_OP_BARRIER;
  op.dtype = DPC_U8;
  op.location = DPC_NONE;
  return dpc_comm_run(comm, &op);
}

extern "C" uint32_t dpc_comm_host_count(const dpc_comm_t *comm) {
  return static_cast<uint32_t>(
      std::set<uint32_t>(comm->hosts, comm->hosts + comm->world_size).size());
}

extern "C" dpc_status_t dpc_comm_release(dpc_comm_t *comm) {
  return comm ? comm->vtable->release(comm) : dpc_status_t(DPC_OK);
}
