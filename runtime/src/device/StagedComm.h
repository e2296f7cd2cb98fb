#ifndef DPC_RUNTIME_SRC_DEVICE_STAGEDCOMM_H
#define DPC_RUNTIME_SRC_DEVICE_STAGEDCOMM_H

#include "runtime/src/device/DeviceComm.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace dpc {

/// Communication between devices through their hosts. The stream copies the input
/// to host memory, runs a host function that performs the operation there by a
/// transport, and copies the output back. This class needs no library, lets several
/// ranks use one device, and gives the same bits as the transport. Between `begin`
/// and `finish` only the stream's host functions may use the transport.
class StagedComm : public DeviceComm {
public:
  /// `mirror` is memory of the hosts' communicator, as large as the device's SHARED
  /// space. A buffer has the same offset in the mirror and in the space.
  StagedComm(DeviceCommParts parts, char *mirror);
  ~StagedComm() override;

  dpc_status_t open(uint32_t eventCount) override;
  dpc_status_t begin(uint32_t number, bool isKept) override;

private:
  /// What host functions share with the communicator. It outlives the communicator if the device
  /// has failed: the driver may then still run a host function, and no call waits for its end.
  struct Link {
    std::mutex mutex; // held while a host function runs
    StagedComm *comm; // null after the communicator is gone
  };
  /// The operation that one call of the host function performs.
  struct Call {
    std::shared_ptr<Link> link;
    dpc_comm_op_t op;
  };

  dpc_status_t move(const dpc_comm_op_t &op) override;
  dpc_status_t check() override;
  void giveUp() override {}
  static void runCall(void *call);
  dpc_status_t run(const dpc_comm_op_t &op);
  /// The address in the mirror that corresponds to a device address.
  char *mirrorOf(const void *at) const;

  char *const mirror;
  const std::shared_ptr<Link> link;
  bool isRegistered = false;
  bool keepsCalls = false;
  /// Calls that the stream still needs. A captured graph runs keptCalls again and
  /// again, so they are never freed; `calls` are needed only in the current run.
  using Calls = std::vector<std::unique_ptr<Call>>;
  Calls keptCalls, calls;
  /// Set by the first host function that fails. Later host functions then do
  /// nothing.
  std::atomic<bool> hasFailed{false};
  std::mutex mutex; // protects failure and failureText
  dpc_status_t failure = DPC_OK;
  std::string failureText;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_STAGEDCOMM_H
