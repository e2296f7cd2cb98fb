#ifndef DPC_RUNTIME_SRC_DEVICE_STAGEDCOMM_H
#define DPC_RUNTIME_SRC_DEVICE_STAGEDCOMM_H

#include "runtime/src/device/DeviceComm.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace dpc {

/// Communication between devices through their hosts. The stream copies to host
/// memory, a host function of the stream runs the operation of a transport
/// there, and the stream copies back. It needs no library, lets several ranks
/// use one device, and gives the same bits as the transport. Between begin and
/// `finish` the transport belongs to the stream; the host itself uses it only
/// outside of that time.
class StagedComm : public DeviceComm {
public:
  /// `mirror` is memory of the control transport, as large as the device's
  /// SHARED space. A buffer has the same offset in both.
  StagedComm(DeviceCommParts parts, char *mirror);
  ~StagedComm() override;

  dpc_status_t open(uint32_t eventCount) override;
  dpc_status_t begin(uint32_t number, bool isKept) override;

private:
  /// Operations that one host function runs together.
  struct Call {
    StagedComm *comm;
    std::vector<dpc_comm_op_t> ops;
  };

  dpc_status_t move(const std::vector<dpc_comm_op_t> &ops) override;
  dpc_status_t check() override;
  void giveUp() override {}
  static void runCall(void *call);
  dpc_status_t run(const std::vector<dpc_comm_op_t> &ops);
  /// The address in the mirror that corresponds to a device address.
  char *mirrorOf(const void *at) const;

  char *const mirror;
  bool isRegistered = false;
  bool keepsCalls = false;
  /// Kept calls are captured in a graph, which runs them again.
  std::vector<std::unique_ptr<Call>> keptCalls, calls;
  /// Set by the first failure of a host function; no later host function runs.
  std::atomic<bool> hasFailed{false};
  std::mutex mutex; // protects failure and failureText
  dpc_status_t failure = DPC_OK;
  std::string failureText;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_STAGEDCOMM_H
