#ifndef DPC_RUNTIME_SRC_DEVICE_CUDAQUEUE_H
#define DPC_RUNTIME_SRC_DEVICE_CUDAQUEUE_H

#include "dpc/device.h"
#include "runtime/src/device/CudaDevice.h"
#include "runtime/src/device/DeviceComm.h"
#include "runtime/src/device/ProgramCalls.h"
#include "runtime/src/device/Queue.h"

namespace dpc {

/// Performs launch tables on a CUDA device, whose memory holds the rank's
/// spaces. Calls return as soon as their work is in the stream, with these
/// exceptions: `download` and `finish` wait for the device, and `upload` waits if
/// the staging memory is full.
///
/// With `keepsEntries` the first run of an entry is captured as a graph,
/// including communication. That run and all later ones launch the graph, which
/// is possible because action tables do not change.
class CudaQueue : public Queue {
public:
  CudaQueue(const dpc_program_t &program, dpc_comm_t &control, const QueueOptions &options);
  ~CudaQueue() override;

  /// Opens a device (CudaDevice::open) and meets the other ranks. `memory` is
  /// memory of the host.
  dpc_status_t open(RankMemory &memory);

  dpc_status_t begin(uint32_t entry, bool *isDone) override;
  dpc_status_t compute(uint32_t function, uint32_t micro, const void *args) override;
  dpc_status_t start(dpc_comm_op_t op, DeviceAddress in, DeviceAddress out,
                     uint32_t event) override;
  dpc_status_t wait(uint32_t event) override;
  dpc_status_t zero(DeviceAddress to, uint64_t bytes) override;
  dpc_status_t upload(DeviceAddress to, const void *from, uint64_t bytes) override;
  dpc_status_t download(void *to, DeviceAddress from, uint64_t bytes) override;
  dpc_status_t finish() override;

private:
  cuda::DevicePointer pointerTo(DeviceAddress address) const {
    return device.base(address.space) + address.offset;
  }
  void findPointers(uint64_t first, uint64_t count, uint32_t micro);
  dpc_status_t perform(uint64_t number, uint32_t micro);
  dpc_status_t openLibraries(RankMemory &memory);
  dpc_status_t connect(RankMemory &memory);
  dpc_status_t endCapture();
  void dropGraphs();
  dpc_status_t synchronize();

  const dpc_program_t &program;
  dpc_comm_t &control;
  const QueueOptions options;
  std::vector<uint32_t> groupIndex;
  CudaDevice device;
  ProgramCalls calls;
  std::unique_ptr<DeviceComm> comm; ///< null if there is only one rank
  /// Per entry: the graph of its work, once captured.
  cuda::GraphExec graphs[DPC_ENTRY_COUNT] = {};
  uint32_t capturedEntry = DPC_NONE; ///< the entry that is being captured
  /// Page-locked memory of the host. An upload copies data into this memory, from
  /// which the stream copies it to the device. The stream may still read the first
  /// `staged` bytes of this memory.
  char *staging = nullptr;
  uint64_t staged = 0;
  std::vector<cuda::DevicePointer> pointers;
  std::vector<void *> parameters;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_CUDAQUEUE_H
