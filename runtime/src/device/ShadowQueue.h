#ifndef DPC_RUNTIME_SRC_DEVICE_SHADOWQUEUE_H
#define DPC_RUNTIME_SRC_DEVICE_SHADOWQUEUE_H

#include "runtime/src/device/HostQueue.h"

namespace dpc {

/// The queue of a simulated device. It performs the launch table of a program for a
/// device on the host's processor. The simulated device's memory is accessible only
/// during queue calls, and any other access ends the process. So host code that
/// would fail with a real device also fails on machines without a device. One
/// exception: while a communication is outstanding, SHARED is accessible, because
/// the transport may use it in a thread of its own.
class ShadowQueue : public HostQueue {
public:
  ShadowQueue(const dpc_program_t &program, dpc_comm_t &comm, RankMemory &memory);

  dpc_status_t compute(uint32_t function, uint32_t micro, const void *args) override;
  dpc_status_t start(dpc_comm_op_t op, DeviceAddress in, DeviceAddress out,
                     uint32_t event) override;
  dpc_status_t wait(uint32_t event) override;
  dpc_status_t zero(DeviceAddress to, uint64_t bytes) override;
  dpc_status_t upload(DeviceAddress to, const void *from, uint64_t bytes) override;
  dpc_status_t download(void *to, DeviceAddress from, uint64_t bytes) override;
  const char *hostMemory(DeviceAddress) const override { return nullptr; }
  dpc_status_t finish() override;

private:
  template <typename Work> dpc_status_t onDevice(Work work);
  dpc_status_t setAccess(bool isAllowed);
  void perform(const dpc_launch_t &launch, uint32_t micro, const void *args);

  RankMemory &memory;
  std::vector<char *> pointers; ///< parameters of the current launch
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_SHADOWQUEUE_H
