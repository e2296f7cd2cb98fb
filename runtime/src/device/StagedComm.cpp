// Moves tensors between CUDA devices through the memory of their hosts.

#include "runtime/src/device/StagedComm.h"

#include "runtime/src/base/Status.h"

#include <optional>

namespace dpc {

StagedComm::StagedComm(DeviceCommParts parts, char *mirror)
    : DeviceComm(std::move(parts)), mirror(mirror), link(new Link{{}, this}) {}

StagedComm::~StagedComm() {
  const cuda::Driver &driver = parts.device.driver;
  if (stream && driver.cuStreamSynchronize(stream) != cuda::Result::success) {
    // The session has published its failure, so that a host function that runs does not wait for
    // its peers. The driver may still have calls, so they must stay.
    static std::mutex leaving; // of another session in this process
    static std::vector<Calls> *const left = new std::vector<Calls>;
    std::scoped_lock lock(link->mutex, leaving);
    link->comm = nullptr;
    left->push_back(std::move(keptCalls));
    left->push_back(std::move(calls));
  }
  if (isRegistered)
    driver.cuMemHostUnregister(mirror);
}

dpc_status_t StagedComm::open(uint32_t eventCount) {
  if (dpc_status_t status = DeviceComm::open(eventCount))
    return status;
  if (parts.memoryBytes == 0)
    return DPC_OK;
  // Copies are asynchronous only if the host's memory is page-locked.
  if (dpc_status_t status =
          parts.device.check(parts.device.driver.cuMemHostRegister_v2(mirror, parts.memoryBytes,
                                                                      cuda::kHostRegisterPortable),
                             "locking memory of the host"))
    return status;
  isRegistered = true;
  return DPC_OK;
}

dpc_status_t StagedComm::begin(uint32_t, bool isKept) {
  keepsCalls = isKept;
  calls.clear();
  return DPC_OK;
}

char *StagedComm::mirrorOf(const void *at) const {
  return mirror + (reinterpret_cast<uintptr_t>(at) - parts.device.base(DPC_SPACE_SHARED));
}

dpc_status_t StagedComm::move(const dpc_comm_op_t &op) {
  const CudaDevice &device = parts.device;
  auto call = std::make_unique<Call>(Call{link, op});
  struct Copy {
    cuda::DevicePointer device;
    char *host;
    uint64_t bytes;
  };
  std::optional<Copy> down, up;
  if (op.op != DPC_OP_BARRIER) {
    const Group &group = parts.groups[op.family];
    const Extents extents = extentsOf(op, group.members.size(), group.self == op.peer);
    const uint64_t width = dpc_dtype_size(op.dtype);
    auto stage = [&](std::optional<Copy> &copy, auto *&at, uint64_t elements) {
      const auto place = reinterpret_cast<uintptr_t>(at);
      if (elements == Extents::kNone) {
        at = nullptr;
        return;
      }
      at = mirrorOf(at);
      if (elements)
        copy = {place, mirrorOf(reinterpret_cast<void *>(place)), elements * width};
    };
    stage(down, call->op.in, extents.in);
    stage(up, call->op.out, extents.out);
  }
  if (down)
    if (dpc_status_t status = device.check(
            device.driver.cuMemcpyDtoHAsync_v2(down->host, down->device, down->bytes, stream),
            "a copy from the device"))
      return status;
  if (dpc_status_t status = device.check(
          device.driver.cuLaunchHostFunc(stream, runCall, call.get()), "a host function"))
    return status;
  (keepsCalls ? keptCalls : calls).push_back(std::move(call));
  return up ? device.check(
                  device.driver.cuMemcpyHtoDAsync_v2(up->device, up->host, up->bytes, stream),
                  "a copy to the device")
            : dpc_status_t(DPC_OK);
}

void StagedComm::runCall(void *data) {
  const Call &call = *static_cast<const Call *>(data);
  std::lock_guard<std::mutex> running(call.link->mutex);
  if (!call.link->comm || call.link->comm->hasFailed)
    return;
  StagedComm &comm = *call.link->comm;
  const dpc_status_t status = comm.run(call.op);
  if (status == DPC_OK)
    return;
  std::lock_guard<std::mutex> lock(comm.mutex);
  comm.failure = status;
  comm.failureText = dpc_last_error();
  comm.hasFailed = true;
}

dpc_status_t StagedComm::run(const dpc_comm_op_t &op) {
  dpc_request_t request = 0;
  if (dpc_status_t status = parts.control.vtable->start(&parts.control, &op, &request))
    return status;
  return parts.control.vtable->wait(&parts.control, request);
}

dpc_status_t StagedComm::check() {
  if (!hasFailed)
    return DPC_OK;
  std::lock_guard<std::mutex> lock(mutex);
  return fail(failure, "%s", failureText.c_str());
}

} // namespace dpc
