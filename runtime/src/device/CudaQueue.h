#ifndef DPC_RUNTIME_SRC_DEVICE_CUDAQUEUE_H
#define DPC_RUNTIME_SRC_DEVICE_CUDAQUEUE_H

#include "dpc/device.h"
#include "runtime/src/device/CudaDevice.h"
#include "runtime/src/device/DeviceComm.h"
#include "runtime/src/device/LaunchTimes.h"
#include "runtime/src/device/ProgramCalls.h"
#include "runtime/src/device/Queue.h"

namespace dpc {

/// Performs launch tables on a CUDA device, whose memory has the rank's spaces. A
/// call returns as soon as its work is in the stream. Some calls wait for the
/// device: `download` and `finish` always, and `upload` if the staging memory is
/// full.
///
/// Up to getDepth() runs of entries may be in the stream. Each has its part of the staging memory,
/// and two events: one tells the host when it may change the memory of uploads, the other when the
/// run is done.
///
/// With `keepsEntries`, the queue captures the first run of an entry as a CUDA
/// graph, including communication. It launches the graph in this run and in all
/// later ones. This is correct because action tables do not change.
class CudaQueue : public Queue {
public:
  CudaQueue(const dpc_program_t &program, dpc_comm_t &control, const QueueOptions &options);
  ~CudaQueue() override;

  /// Opens a device (CudaDevice::open) and meets the other ranks. `memory` is the
  /// rank's memory on the host: the queue uses its window and, for StagedComm, its
  /// SHARED space.
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
  uint32_t getDepth() const override { return static_cast<uint32_t>(slots.size()); }
  dpc_status_t submit(const std::vector<Fetch> &fetches, uint64_t *outRun) override;
  dpc_status_t await(uint64_t run) override;
  dpc_status_t allocateHost(uint64_t bytes, char **out) override;
  dpc_status_t uploadInPlace(DeviceAddress to, const void *from, uint64_t bytes) override;
  dpc_status_t awaitUploads(uint64_t run) override;
  dpc_status_t writeProfile() const override { return times ? times->write() : DPC_OK; }

private:
  /// The staging memory and the events of a run. They belong to it until the caller awaits it.
  struct Slot {
    char *staging = nullptr; ///< kStagingBytes of page-locked memory of the host
    cuda::Event uploaded = nullptr, done = nullptr;
  };
  cuda::DevicePointer pointerTo(DeviceAddress address) const {
    return device.base(address.space) + address.offset;
  }
  dpc_comm_op_t withAddresses(dpc_comm_op_t op, DeviceAddress in, DeviceAddress out) const;
  void findPointers(uint64_t first, uint64_t count, uint32_t micro, const void *args);
  dpc_status_t perform(uint64_t number, uint32_t micro, const void *args);
  dpc_status_t performExample(uint64_t number);
  dpc_status_t openSlots();
  dpc_status_t endActions();
  Slot &slotOf(uint64_t run) { return slots[run % slots.size()]; }
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
  std::unique_ptr<DeviceComm> comm;   ///< null if there is only one rank
  std::unique_ptr<LaunchTimes> times; ///< null without QueueOptions::profileFile
  /// For each entry: the graph of its work; null until the first run is captured.
  cuda::GraphExec graphs[DPC_ENTRY_COUNT] = {};
  uint32_t capturedEntry = DPC_NONE; ///< the entry that is being captured
  /// The run r has the slot r modulo the number of slots.
  std::vector<Slot> slots;
  uint64_t submitted = 0; ///< number of submitted runs
  /// An upload copies data to staging memory of the next run, and the stream copies the data from
  /// there to the device. The stream may still read the first `staged` bytes of it.
  uint64_t staged = 0;
  std::vector<void *> lockedMemory; ///< page-locked, to be freed
  std::vector<cuda::DevicePointer> pointers;
  std::vector<void *> parameters;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_CUDAQUEUE_H
