// A transport whose tensors lie on emulated devices.

#include "test/runtime/DeviceTransport.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/device/NcclComm.h"
#include "runtime/src/device/StagedComm.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace dpc::test {

namespace {

constexpr uint32_t kEvents = 1024;
constexpr uint64_t kWindow = 1 << 16, kPage = 4096;

struct DeviceTransport {
  dpc_comm_t interface{};
  dpc_comm_t *control = nullptr;
  CudaDevice device;
  std::unique_ptr<DeviceComm> comm;
  std::vector<Group> groups;
  std::vector<uint64_t> host; // what the test sees of the device's memory
  Region region;
  uint64_t bytes = 0;
  std::vector<dpc_comm_op_t> started; // by event
  unsigned outstanding = 0;           // operations beside the one that is looked at
  dpc_status_t failure = DPC_OK;      // stays
  std::string failureText;

  ~DeviceTransport() {
    comm.reset();
    dpc_comm_release(control);
  }

  char *memory() {
    return reinterpret_cast<char *>(host.data()) + kPage - offsetInPage(host.data());
  }
  static uint64_t offsetInPage(const void *at) { return reinterpret_cast<uintptr_t>(at) % kPage; }

  uint64_t offsetOf(const void *at) {
    return static_cast<uint64_t>(static_cast<const char *>(at) - memory());
  }
  cuda::DevicePointer onDevice(const void *at) {
    return device.base(DPC_SPACE_SHARED) + offsetOf(at);
  }
  /// Bytes from `at` on that are copied for so many elements: some more, so that
  /// a write past the end shows, unless another operation may own them.
  uint64_t copied(const void *at, uint64_t elements, uint32_t dtype) {
    return std::min<uint64_t>(elements * dpc_dtype_size(dtype) + (outstanding ? 0 : 64),
                              bytes - offsetOf(at));
  }

  dpc_status_t keep(dpc_status_t status) {
    if (status == DPC_PEER && !failure) {
      failure = status;
      failureText = dpc_last_error();
    }
    return status;
  }
};

DeviceTransport &self(dpc_comm_t *comm) { return *reinterpret_cast<DeviceTransport *>(comm); }

Extents extentsOn(const DeviceTransport &transport, const dpc_comm_op_t &op) {
  const Group &group = transport.groups[op.family];
  return extentsOf(op, group.members.size(), group.self == op.peer);
}

dpc_status_t allocate(dpc_comm_t *base, uint64_t bytes, void **outMemory) {
  return self(base).region.allocate(bytes, outMemory);
}

dpc_status_t start(dpc_comm_t *base, const dpc_comm_op_t *given, dpc_request_t *outRequest) {
  DeviceTransport &transport = self(base);
  if (transport.failure)
    return fail(transport.failure, "%s", transport.failureText.c_str());
  if (dpc_status_t status = checkOperation(*given, transport.groups, transport.region))
    return status;
  const CudaDevice &device = transport.device;
  dpc_comm_op_t op = *given;
  if (op.op != DPC_OP_BARRIER) {
    const Extents extents = extentsOn(transport, op);
    auto upload = [&](const void *at, uint64_t elements) {
      return elements == Extents::kNone
                 ? dpc_status_t(DPC_OK)
                 : device.check(device.driver.cuMemcpyHtoDAsync_v2(
                                    transport.onDevice(at), at,
                                    transport.copied(at, elements, op.dtype), device.stream),
                                "upload");
    };
    if (dpc_status_t status = upload(op.in, extents.in))
      return status;
    if (dpc_status_t status = upload(op.out, extents.out))
      return status;
    op.in = reinterpret_cast<const void *>(transport.onDevice(op.in));
    op.out = reinterpret_cast<void *>(transport.onDevice(op.out));
  }
  const auto event = static_cast<uint32_t>(transport.started.size() % kEvents);
  transport.started.push_back(*given);
  ++transport.outstanding;
  *outRequest = transport.started.size();
  return transport.keep(transport.comm->start(op, event));
}

dpc_status_t wait(dpc_comm_t *base, dpc_request_t request) {
  DeviceTransport &transport = self(base);
  if (transport.failure)
    return fail(transport.failure, "%s", transport.failureText.c_str());
  if (dpc_status_t status = transport.keep(transport.comm->wait((request - 1) % kEvents)))
    return status;
  if (dpc_status_t status = transport.keep(transport.comm->finish()))
    return status;
  --transport.outstanding;
  const dpc_comm_op_t &op = transport.started[request - 1];
  const Extents extents = extentsOn(transport, op);
  if (op.op == DPC_OP_BARRIER || extents.out == Extents::kNone)
    return DPC_OK;
  const CudaDevice &device = transport.device;
  if (dpc_status_t status =
          device.check(device.driver.cuMemcpyDtoHAsync_v2(
                           op.out, transport.onDevice(op.out),
                           transport.copied(op.out, extents.out, op.dtype), device.stream),
                       "download"))
    return status;
  return device.check(device.driver.cuStreamSynchronize(device.stream), "download");
}

dpc_status_t check(dpc_comm_t *base) {
  return self(base).control->vtable->check(self(base).control);
}

uint32_t abortRun(dpc_comm_t *base, const char *reason) {
  return self(base).control->vtable->abort(self(base).control, reason);
}

uint32_t toldElsewhere(dpc_comm_t *base) {
  return self(base).control->vtable->told_elsewhere(self(base).control);
}

dpc_status_t release(dpc_comm_t *base) {
  delete &self(base);
  return DPC_OK;
}

constexpr dpc_comm_vtable_t kTable = {sizeof(dpc_comm_vtable_t),
                                      "device",
                                      allocate,
                                      start,
                                      wait,
                                      check,
                                      abortRun,
                                      toldElsewhere,
                                      release};

dpc_status_t open(DeviceTransport &transport, const std::string &name,
                  const dpc_comm_options_t &options) {
  setenv("DPC_CUDA_LIBRARIES", EMULATOR, /*overwrite=*/0);
  transport.bytes = options.memory_bytes[options.rank];
  std::vector<uint64_t> memory(options.memory_bytes, options.memory_bytes + options.world_size);
  for (uint64_t &bytes : memory)
    bytes += kWindow + 2 * kPage;
  dpc_comm_options_t control = options;
  control.memory_bytes = memory.data();
  if (dpc_status_t status = dpc_comm_create("local", &control, &transport.control))
    return status;
  transport.host.resize((transport.bytes + kPage) / 8);
  transport.region = Region(transport.memory(), transport.bytes);
  if (dpc_status_t status = findGroups(options, "device", options.world_size, &transport.groups))
    return status;
  void *window = nullptr, *mirror = nullptr, *all = nullptr;
  if (dpc_status_t status =
          transport.control->vtable->allocate(transport.control, kWindow, &window))
    return status;
  if (dpc_status_t status =
          transport.control->vtable->allocate(transport.control, transport.bytes + kPage, &mirror))
    return status;
  auto *pages = static_cast<char *>(mirror);
  if (const uint64_t within = DeviceTransport::offsetInPage(mirror))
    pages += kPage - within;
  if (dpc_status_t status = transport.device.open(options.rank))
    return status;
  if (dpc_status_t status = transport.device.allocate({0, transport.bytes}))
    return status;
  Region region(reinterpret_cast<char *>(transport.device.base(DPC_SPACE_SHARED)), transport.bytes);
  if (dpc_status_t status = region.allocate(transport.bytes, &all))
    return status;
  DeviceCommParts parts = {
      transport.device, *transport.control, static_cast<char *>(window), transport.groups,
      region,           transport.bytes,    options.timeout_seconds};
  if (name == "staged")
    transport.comm = std::make_unique<StagedComm>(std::move(parts), pages);
  else
    transport.comm = std::make_unique<NcclComm>(std::move(parts));
  if (dpc_status_t status = transport.comm->open(kEvents))
    return status;
  if (name == "nccl-known") {
    if (dpc_status_t status = transport.comm->begin(1, /*isKept=*/true))
      return status;
    if (dpc_status_t status = transport.comm->finish())
      return status;
  }
  // All ranks are there: one that fails now fails the first operation.
  (void)transport.keep(transport.comm->begin(1, /*isKept=*/true));
  return DPC_OK;
}

} // namespace

dpc_status_t createDeviceTransport(const std::string &name, const dpc_comm_options_t &options,
                                   dpc_comm_t **outComm) {
  auto transport = std::make_unique<DeviceTransport>();
  *outComm = nullptr;
  if (dpc_status_t status = open(*transport, name, options))
    return status;
  transport->interface.vtable = &kTable;
  transport->interface.rank = options.rank;
  transport->interface.world_size = options.world_size;
  *outComm = &transport.release()->interface;
  return DPC_OK;
}

bool isDeviceTransport(const dpc_comm_t *comm) { return comm->vtable == &kTable; }

} // namespace dpc::test
