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
  char *window;              ///< memory that `control` allocated, for messages between hosts
  std::vector<Group> groups; ///< this rank's group of each family
  Region memory;             ///< the device's SHARED space, which holds the buffers of all
                             ///< operations
  uint64_t memoryBytes;      ///< size of `memory`
  double timeoutSeconds;     ///< longest wait for peers
  /// Frees the captured graphs that contain operations. NCCL cannot abort an
  /// operation while such a graph exists.
  std::function<void()> dropGraphs;
  /// The operations that make all connections (findFirstOperations), with device addresses. All
  /// memory of the device must be zero when they run.
  std::vector<dpc_comm_op_t> first;
};

/// Moves tensors between the devices of a run. It enqueues operations on its own
/// stream, `stream`, and connects this stream with the device's stream by CUDA
/// events. A START action makes `stream` wait for the work that is already in the
/// device's stream. A WAIT action makes the device's stream wait for the operation.
/// So the host need not wait for data before `finish`, and a graph that is captured
/// on the device's stream contains all communication.
class DeviceComm {
public:
  explicit DeviceComm(DeviceCommParts parts);
  virtual ~DeviceComm();
  DeviceComm(const DeviceComm &) = delete;
  DeviceComm &operator=(const DeviceComm &) = delete;

  /// Meets the other ranks. Collective. Later calls identify operations by
  /// events below `eventCount`.
  virtual dpc_status_t open(uint32_t eventCount);
  /// Begins one run of an entry; `number` is DPC_ENTRY_* and must be equal on all
  /// ranks. Every run of an entry has the same operations. If `isKept`, this run is
  /// captured as a graph. Later runs launch the graph, and `start` is not called. A run may begin
  /// before the device has finished the one before it.
  virtual dpc_status_t begin(uint32_t number, bool isKept) = 0;
  /// Starts an operation whose buffers are on the device. The operations of a rank move one after
  /// another in the order of their starts. Returns DPC_INVALID if the operation is invalid (see
  /// checkOperation).
  dpc_status_t start(const dpc_comm_op_t &op, uint32_t event);
  /// Makes the device's stream wait for an operation.
  dpc_status_t wait(uint32_t event);
  /// Returns DPC_INVALID if `wait` was not called for a started operation.
  dpc_status_t checkAllWaited() const;
  /// Returns when the device's stream has reached `until`, or if it is null, has finished. If
  /// another rank has failed, aborts all started operations and returns DPC_PEER, with a message
  /// that names the rank. `isLast` says that no operation was started after `until`.
  dpc_status_t finish(cuda::Event until = nullptr, bool isLast = true);

protected:
  /// Enqueues a checked operation on `stream`.
  virtual dpc_status_t move(const dpc_comm_op_t &op) = 0;
  /// Waits until all ranks have begun the same entry as this rank.
  virtual dpc_status_t settle() { return DPC_OK; }
  /// Returns a failure if another rank or the communication itself has failed.
  /// Does not wait.
  virtual dpc_status_t check() = 0;
  /// Aborts all operations, because the stream would otherwise wait for ever.
  virtual void giveUp() = 0;
  /// Whether `stream` may have unfinished work.
  bool isBusy = false;

  DeviceCommParts parts;
  cuda::Stream stream = nullptr;

private:
  dpc_status_t waitForDevice(cuda::Event until);

  std::vector<bool> isStarted;    // indexed by event
  std::vector<cuda::Event> ready; // recorded on the device's stream at the START of an operation
  std::vector<cuda::Event> done;  // recorded on `stream` after the operation
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_DEVICECOMM_H
