#ifndef DPC_RUNTIME_SRC_DEVICE_HOSTQUEUE_H
#define DPC_RUNTIME_SRC_DEVICE_HOSTQUEUE_H

#include "dpc/program.h"
#include "runtime/src/device/Queue.h"

#include <vector>

namespace dpc {

/// The queue of a program whose device is the host's processor. Functions are host
/// code. When a call returns, its work is done; only communication continues.
class HostQueue : public Queue {
public:
  HostQueue(const dpc_program_t &program, dpc_comm_t &comm, RankMemory &memory);

  dpc_status_t compute(uint32_t function, uint32_t micro, const void *args) override;
  dpc_status_t start(dpc_comm_op_t op, DeviceAddress in, DeviceAddress out,
                     uint32_t event) override;
  dpc_status_t wait(uint32_t event) override;
  dpc_status_t zero(DeviceAddress to, uint64_t bytes) override;
  dpc_status_t upload(DeviceAddress to, const void *from, uint64_t bytes) override;
  dpc_status_t download(void *to, DeviceAddress from, uint64_t bytes) override;
  const char *hostMemory(DeviceAddress address) const override { return pointerTo(address); }
  dpc_status_t finish() override;

protected:
  /// Whether a communication has been started but not waited for.
  bool isCommunicating() const;
  char *pointerTo(DeviceAddress address) const { return call.base[address.space] + address.offset; }

  const dpc_program_t &program;
  dpc_comm_t &comm;
  /// This rank's index in its group of each family.
  std::vector<uint32_t> groupIndex;

private:
  dpc_call_t call{};
  std::vector<dpc_request_t> requests; ///< indexed by event; 0: no request is outstanding
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_HOSTQUEUE_H
