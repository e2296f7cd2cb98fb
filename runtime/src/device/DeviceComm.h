#ifndef DPC_RUNTIME_SRC_DEVICE_DEVICECOMM_H
#define DPC_RUNTIME_SRC_DEVICE_DEVICECOMM_H

#include "runtime/src/comm/Operation.h"
#include "runtime/src/device/CudaDevice.h"

#include <functional>

namespace dpc {

/// The resources of a DeviceComm.
struct DeviceCommParts {
  CudaDevice &device;
  dpc_comm_t &control;       ///< communicator between the hosts of the ranks
  char *window;              ///< memory of `control` for the hosts' messages
  std::vector<Group> groups; ///< this rank's group of each family
  Region memory;             ///< the device's SHARED space, which holds all buffers
  uint64_t memoryBytes;      ///< size of `memory`
  double timeoutSeconds;     ///< longest wait for peers
  /// Frees graphs that contain operations. NCCL aborts none before they are
  /// freed.
  std::function<void()> dropGraphs;
};

/// Moves tensors between the devices of a run, on a stream of its own. An
/// operation starts after the work that is in the device's stream at its start
/// action. The device's stream waits for the operation at its wait action. So
/// the host waits for nothing before `finish`, and a graph captured on the
/// device's stream contains all communication.
class DeviceComm {
public:
  explicit DeviceComm(DeviceCommParts parts);
  virtual ~DeviceComm();
  DeviceComm(const DeviceComm &) = delete;
  DeviceComm &operator=(const DeviceComm &) = delete;

  /// Meets the other ranks. Collective. Later calls identify operations by
  /// events below `eventCount`.
  virtual dpc_status_t open(uint32_t eventCount);
  /// Begins a piece of work that has the same number on all ranks. Whenever the
  /// number is the same, the same operations follow. If they are captured in
  /// this run (`isKept`), a graph repeats them in later runs, in which no
  /// operations follow.
  virtual dpc_status_t begin(uint32_t number, bool isKept) = 0;
  /// Starts an operation whose buffers are on the device. DPC_INVALID if no
  /// rank could perform it (checkOperation).
  dpc_status_t start(const dpc_comm_op_t &op, uint32_t event);
  /// Makes the device's stream wait for an operation.
  dpc_status_t wait(uint32_t event);
  /// DPC_INVALID if an operation was started without a wait.
  dpc_status_t checkAllWaited() const;
  /// Returns when the device's stream has finished. DPC_PEER, with a message
  /// that names the rank, if another rank has failed; all started operations
  /// are then aborted.
  dpc_status_t finish();

protected:
  /// Enqueues one collective, or several messages, on `stream`. Messages must
  /// advance together, because a peer may send to this rank before it receives
  /// from it. All operations have been checked.
  virtual dpc_status_t move(const std::vector<dpc_comm_op_t> &ops) = 0;
  /// Waits until all ranks have begun the same work as this one.
  virtual dpc_status_t settle() { return DPC_OK; }
  /// Whether a rank or the means of transport has failed. Returns at once.
  virtual dpc_status_t check() = 0;
  /// Aborts all operations for which the stream would wait in vain.
  virtual void giveUp() = 0;
  /// Whether work was enqueued on the stream that may not have finished.
  bool isBusy = false;

  DeviceCommParts parts;
  cuda::Stream stream = nullptr;

private:
  /// Enqueues the noted messages on the stream, and records their events after
  /// them.
  dpc_status_t flush();
  dpc_status_t waitForDevice();

  std::vector<bool> isStarted;    // indexed by event
  std::vector<cuda::Event> ready; // recorded on the device's stream at the start of an operation
  std::vector<cuda::Event> done;  // recorded on `stream` after the operation
  // Messages that have not been enqueued on the stream, and their events.
  std::vector<dpc_comm_op_t> noted;
  std::vector<uint32_t> notedEvents;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_DEVICECOMM_H
