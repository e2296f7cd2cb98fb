#ifndef DPC_RUNTIME_SRC_DEVICE_QUEUE_H
#define DPC_RUNTIME_SRC_DEVICE_QUEUE_H

#include "dpc/comm.h"
#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/device/RankMemory.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace dpc {

/// A position in a rank's memory. It is not a pointer, because the memory may be on
/// a device. The host reads and writes this memory only through the rank's queue.
struct DeviceAddress {
  uint32_t space = 0;  ///< DPC_SPACE_*
  uint64_t offset = 0; ///< bytes from the start of the space
};

/// A value that the host reads at the end of a run of an entry.
struct Fetch {
  void *to; ///< in memory of Queue::allocateHost
  DeviceAddress from;
  uint64_t bytes;
};

/// Does the work of a rank's device, in the order in which the host calls the functions
/// of this class. A function may return before its work is done, except `download` and
/// `finish`, which wait for their work. The caller must have checked all addresses (see
/// checkProgram), and must call all functions from one thread. The status DPC_PEER means
/// that another rank failed. Any other failure means that this rank's work failed.
class Queue {
public:
  virtual ~Queue() = default;

  /// Begins an entry. The caller then performs the entry's actions and calls
  /// `finish`. If the queue has kept the work of an earlier run of this entry (a CUDA
  /// graph), it repeats the work itself and sets `*isDone`. The caller then skips the
  /// actions and only calls `finish`.
  virtual dpc_status_t begin(uint32_t entry, bool *isDone);

  /// Runs an entry of the function table for a microbatch. `args` are the `args` of
  /// the action.
  virtual dpc_status_t compute(uint32_t function, uint32_t micro, const void *args) = 0;
  /// Starts a communication, which reads the results of all earlier work. `event`
  /// identifies the communication until `wait` is called for it. The queue ignores
  /// `op.in` and `op.out` and uses the two addresses `in` and `out` instead.
  virtual dpc_status_t start(dpc_comm_op_t op, DeviceAddress in, DeviceAddress out,
                             uint32_t event) = 0;
  /// Makes all later work wait for a started communication. On a CUDA device, the host
  /// itself does not wait until the communication is complete.
  virtual dpc_status_t wait(uint32_t event) = 0;
  /// Sets `bytes` bytes to 0.
  virtual dpc_status_t zero(DeviceAddress to, uint64_t bytes) = 0;

  /// Copies from host memory. The caller may reuse this host memory as soon as the
  /// call returns.
  virtual dpc_status_t upload(DeviceAddress to, const void *from, uint64_t bytes) = 0;
  /// Copies to host memory. The copy is complete when the call returns.
  virtual dpc_status_t download(void *to, DeviceAddress from, uint64_t bytes) = 0;

  /// The memory at an address if the host can read it itself when no work is under way; else null.
  virtual const char *hostMemory(DeviceAddress) const { return nullptr; }

  /// Returns when all work is done. Returns DPC_INVALID if a communication was
  /// started but `wait` was not called for it.
  virtual dpc_status_t finish() = 0;

  // A caller that wants the device to have work while the host waits calls `submit` instead of
  // `finish`, and enqueues the next run of an entry before it awaits this one. The submitted runs
  // are numbered from 0.

  /// How many runs may be under way: before the uploads of the run r, the caller must have awaited
  /// the run r - getDepth().
  virtual uint32_t getDepth() const { return 1; }
  /// Ends the actions of an entry. Returns while the device works. When the run is done, the
  /// device copies `fetches`. `*outRun` is the number of the run. Fails like `finish`.
  virtual dpc_status_t submit(const std::vector<Fetch> &fetches, uint64_t *outRun);
  /// Returns when a run is done and its fetches are complete. Later runs may go on.
  virtual dpc_status_t await(uint64_t) { return DPC_OK; }

  /// Allocates memory of the host, for `uploadInPlace` and for fetches. It is zero, aligned to
  /// DPC_ALIGNMENT, and lives as long as the queue.
  virtual dpc_status_t allocateHost(uint64_t bytes, char **out);
  /// Like `upload`, from memory of `allocateHost`, without a copy in between. The caller may change
  /// this memory when `awaitUploads` of the run to which the upload belongs has returned.
  virtual dpc_status_t uploadInPlace(DeviceAddress to, const void *from, uint64_t bytes) {
    return upload(to, from, bytes);
  }
  /// Returns when the device has read the memory of all uploads of a submitted run.
  virtual dpc_status_t awaitUploads(uint64_t) { return DPC_OK; }

  /// Writes the file of QueueOptions::profileFile, if there is one. Nothing may be under way.
  virtual dpc_status_t writeProfile() const { return DPC_OK; }

private:
  std::vector<std::vector<std::max_align_t>> allocated;
  uint64_t runs = 0;
};

/// Lets the host read `bytes` bytes at `from`: at `*out` is the memory itself, or a copy in
/// `staging`.
dpc_status_t readThrough(Queue &queue, DeviceAddress from, uint64_t bytes, char *staging,
                         const char **out);

struct QueueOptions {
  bool keepsEntries = true; ///< a CUDA device may capture the work of an entry and repeat it
  /// CUDA devices move tensors through their hosts by the communicator, instead of
  /// by NCCL. RankMemory must have been opened with the same value.
  bool isStaged = false;
  /// How many runs of kept entries a CUDA device may have under way, unless tensors are staged.
  uint32_t depth = 2;
  double timeoutSeconds = 300; ///< longest time that a device waits for peers
  /// Path of the file with the fastest algorithms of library calls (TunedCalls). Before
  /// the first step, the queue measures the calls that the file lacks. Empty: the
  /// libraries choose the algorithms, without measurements.
  std::string tuneFile;
  /// Path of the file to which a CUDA device writes the time of each launch (LaunchTimes). It then
  /// keeps no entries. Empty: no times.
  std::string profileFile;
};

/// Creates the queue that fits a program's record: a CudaQueue or a ShadowQueue
/// for launches, a HostQueue for host code.
dpc_status_t makeQueue(const dpc_program_t &program, dpc_comm_t &comm, RankMemory &memory,
                       const QueueOptions &options, std::unique_ptr<Queue> *out);

/// Whether the program runs on CUDA devices.
bool runsOnCuda(const dpc_program_t &program);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_QUEUE_H
