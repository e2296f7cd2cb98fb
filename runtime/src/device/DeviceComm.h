#ifndef DPC_RUNTIME_SRC_DEVICE_DEVICECOMM_H
#define DPC_RUNTIME_SRC_DEVICE_DEVICECOMM_H

#include "runtime/src/comm/Operation.h"
#include "runtime/src/device/CudaDevice.h"

#include <functional>

namespace dpc {

/// What a way of communication between devices works with.
struct DeviceCommParts {
  CudaDevice &device;
  dpc_comm_t &control;       ///< between the hosts of the ranks
  char *window;              ///< memory of `control` for their messages
  std::vector<Group> groups; ///< this rank's, by family
  Region memory;             ///< SHARED of the device, where operations read and write
  uint64_t memoryBytes;      ///< of it
  double timeoutSeconds;     ///< longest wait for peers
  /// Frees the graphs that hold operations: NCCL gives none up before.
  std::function<void()> dropGraphs;
};

/// Moves tensors between the devices of a run, on a stream of its own. An
/// operation waits for what the device's stream holds when it is started, and
/// that stream for the operation where it is waited for: so the host waits for
/// nothing before `finish`, and a graph of the device's stream has it all.
class DeviceComm {
public:
  explicit DeviceComm(DeviceCommParts parts);
  virtual ~DeviceComm();
  DeviceComm(const DeviceComm &) = delete;
  DeviceComm &operator=(const DeviceComm &) = delete;

  /// Meets the other ranks. Collective. Operations are known as events below
  /// `eventCount`.
  virtual dpc_status_t open(uint32_t eventCount);
  /// Begins work that all ranks know by this number: the same operations follow
  /// whenever it is the same, or, where they were captured (`isKept`) and a graph
  /// runs them again, none.
  virtual dpc_status_t begin(uint32_t number, bool isKept) = 0;
  /// Starts an operation whose buffers are on the device. DPC_INVALID for what
  /// no rank could do (checkOperation).
  dpc_status_t start(const dpc_comm_op_t &op, uint32_t event);
  /// Lets the device's stream wait for an operation.
  dpc_status_t wait(uint32_t event);
  /// DPC_INVALID if an operation was started that nothing has waited for.
  dpc_status_t checkAllWaited() const;
  /// Returns when the device's stream is done. DPC_PEER, naming the rank, when
  /// another one has failed; what was started is then given up.
  dpc_status_t finish();

protected:
  /// Puts a collective on `stream`, or messages, which advance together: a rank
  /// may receive before what it sends is taken. All have been checked.
  virtual dpc_status_t move(const std::vector<dpc_comm_op_t> &ops) = 0;
  /// Waits until all ranks have begun what this one has.
  virtual dpc_status_t settle() { return DPC_OK; }
  /// Whether a rank, or the way itself, has failed. Waits for nothing.
  virtual dpc_status_t check() = 0;
  /// Ends what the stream would wait for in vain.
  virtual void giveUp() = 0;
  /// Whether something was put on the stream that is not known to be done.
  bool isBusy = false;

  DeviceCommParts parts;
  cuda::Stream stream = nullptr;

private:
  /// Puts what was noted on the stream, and marks where it is done.
  dpc_status_t flush();
  dpc_status_t waitForDevice();

  std::vector<bool> isStarted;    // by event
  std::vector<cuda::Event> ready; // of the device's stream, when an operation starts
  std::vector<cuda::Event> done;  // of `stream`
  // Messages that are not on the stream yet, and their events.
  std::vector<dpc_comm_op_t> noted;
  std::vector<uint32_t> notedEvents;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_DEVICECOMM_H
