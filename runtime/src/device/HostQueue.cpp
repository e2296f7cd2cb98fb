// Does the work of each call at once, in the calling thread and in this process's
// memory. Only a communication continues after the call that starts it, until the
// call of `wait` for its event.

#include "runtime/src/device/HostQueue.h"

#include "runtime/src/base/Groups.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cstring>

namespace dpc {

HostQueue::HostQueue(const dpc_program_t &program, dpc_comm_t &comm, RankMemory &memory)
    : program(program), comm(comm), groupIndex(indexInGroups(program, comm.rank)),
      requests(program.ranks[comm.rank].event_count) {
  call.struct_size = sizeof call;
  call.group_index = groupIndex.data();
  for (uint32_t space = 0; space < DPC_SPACE_COUNT; ++space)
    call.base[space] = memory.base(space);
}

dpc_status_t HostQueue::compute(uint32_t function, uint32_t micro, const void *args) {
  call.micro = micro;
  call.args = args;
  const int32_t status = program.functions[function].fn(&call);
  return status ? fail(status, "failed with status %d", status) : DPC_OK;
}

dpc_status_t HostQueue::start(dpc_comm_op_t op, DeviceAddress in, DeviceAddress out,
                              uint32_t event) {
  if (requests[event])
    return fail(DPC_INVALID, "event %u is started twice", event);
  if (op.op != DPC_OP_BARRIER) {
    op.in = pointerTo(in);
    op.out = pointerTo(out);
  }
  return comm.vtable->start(&comm, &op, &requests[event]);
}

dpc_status_t HostQueue::wait(uint32_t event) {
  const dpc_request_t request = requests[event];
  if (!request)
    return fail(DPC_INVALID, "event %u is waited for before its start", event);
  requests[event] = 0;
  return comm.vtable->wait(&comm, request);
}

bool HostQueue::isCommunicating() const {
  return std::any_of(requests.begin(), requests.end(),
                     [](dpc_request_t request) { return request != 0; });
}

dpc_status_t HostQueue::zero(DeviceAddress to, uint64_t bytes) {
  std::memset(pointerTo(to), 0, bytes);
  return DPC_OK;
}

dpc_status_t HostQueue::upload(DeviceAddress to, const void *from, uint64_t bytes) {
  std::memcpy(pointerTo(to), from, bytes);
  return DPC_OK;
}

dpc_status_t HostQueue::download(void *to, DeviceAddress from, uint64_t bytes) {
  std::memcpy(to, pointerTo(from), bytes);
  return DPC_OK;
}

dpc_status_t HostQueue::finish() {
  for (uint32_t event = 0; event < requests.size(); ++event)
    if (requests[event])
      return fail(DPC_INVALID, "event %u is never waited for", event);
  return DPC_OK;
}

} // namespace dpc
