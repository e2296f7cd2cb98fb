#ifndef DPC_RUNTIME_SRC_DEVICE_STAGEDCOMM_H
#define DPC_RUNTIME_SRC_DEVICE_STAGEDCOMM_H

#include "runtime/src/device/DeviceComm.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace dpc {

/// Communication between devices through their hosts: a copy to the host's
/// memory, the operation of a transport there, in a host function of the stream,
/// and a copy back. It needs no library, lets several ranks use one device, and
/// gives the bits of the transport. The transport is the stream's until `finish`:
/// the host uses it only outside of begin and finish.
class StagedComm : public DeviceComm {
public:
  /// `mirror` is memory of the control transport, as large as the device's
  /// SHARED space, whose buffers lie there at the same offsets.
  StagedComm(DeviceCommParts parts, char *mirror);
  ~StagedComm() override;

  dpc_status_t open(uint32_t eventCount) override;
  dpc_status_t begin(uint32_t number, bool isKept) override;

private:
  /// Operations that a host function runs together.
  struct Call {
    StagedComm *comm;
    std::vector<dpc_comm_op_t> ops;
  };

  dpc_status_t move(const std::vector<dpc_comm_op_t> &ops) override;
  dpc_status_t check() override;
  void giveUp() override {}
  static void runCall(void *call);
  dpc_status_t run(const std::vector<dpc_comm_op_t> &ops);
  /// Where the mirror has what lies at a device's address.
  char *mirrorOf(const void *at) const;

  char *const mirror;
  bool isRegistered = false;
  bool keepsCalls = false;
  /// A graph runs kept ones again.
  std::vector<std::unique_ptr<Call>> keptCalls, calls;
  /// The first failure of a host function; no later one runs.
  std::atomic<bool> hasFailed{false};
  std::mutex mutex; // of the two below
  dpc_status_t failure = DPC_OK;
  std::string failureText;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_STAGEDCOMM_H
