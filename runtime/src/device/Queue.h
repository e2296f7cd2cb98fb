#ifndef DPC_RUNTIME_SRC_DEVICE_QUEUE_H
#define DPC_RUNTIME_SRC_DEVICE_QUEUE_H

#include "dpc/comm.h"
#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/device/RankMemory.h"

#include <memory>
#include <string>

namespace dpc {

/// A place in a rank's memory. It is not a pointer, because the memory may be a
/// device's. The host reads and writes it only through the rank's queue.
struct DeviceAddress {
  uint32_t space = 0;  ///< DPC_SPACE_*
  uint64_t offset = 0; ///< bytes from the start of the space
};

/// The work of a rank's device, in the order of the calls. A call may return
/// before its work is done; only wait, download and finish guarantee that work
/// is complete. Addresses have been checked (see checkProgram). All calls come
/// from one thread. A failure is either one of the work itself or one of a peer
/// (DPC_PEER).
class Queue {
public:
  virtual ~Queue() = default;

  /// Begins an entry. Its actions follow, then `finish`. If the queue has kept
  /// the actions of an earlier run and repeats them itself, it sets `*isDone`;
  /// then only `finish` follows.
  virtual dpc_status_t begin(uint32_t entry, bool *isDone);

  /// Runs an entry of the function table for a microbatch. `args` are those of
  /// the action.
  virtual dpc_status_t compute(uint32_t function, uint32_t micro, const void *args) = 0;
  /// Starts a communication when all earlier work is done, and names it
  /// `event`. The two addresses replace `in` and `out` of `op`.
  virtual dpc_status_t start(dpc_comm_op_t op, DeviceAddress in, DeviceAddress out,
                             uint32_t event) = 0;
  /// Makes all later work wait for a started communication.
  virtual dpc_status_t wait(uint32_t event) = 0;
  virtual dpc_status_t zero(DeviceAddress to, uint64_t bytes) = 0;

  /// Copies from host memory, which the caller may reuse when the call returns.
  virtual dpc_status_t upload(DeviceAddress to, const void *from, uint64_t bytes) = 0;
  /// Copies to host memory; the copy is complete when the call returns.
  virtual dpc_status_t download(void *to, DeviceAddress from, uint64_t bytes) = 0;

  /// Returns when all work is done. DPC_INVALID if a communication was started
  /// and never waited for.
  virtual dpc_status_t finish() = 0;
};

struct QueueOptions {
  bool keepsEntries = true; ///< a device may record the work of an entry and repeat it
  /// Devices move tensors through their hosts by the communicator, instead of
  /// by NCCL. RankMemory must have been opened with the same value.
  bool isStaged = false;
  double timeoutSeconds = 300; ///< longest time that a device waits for peers
  /// The file with the fastest algorithms of library calls (TunedCalls); calls
  /// that it lacks are measured first. Empty: the library's own choice.
  std::string tuneFile;
};

/// Creates the queue that fits a program's record: a CudaQueue or a ShadowQueue
/// for launches, a HostQueue for host code.
dpc_status_t makeQueue(const dpc_program_t &program, dpc_comm_t &comm, RankMemory &memory,
                       const QueueOptions &options, std::unique_ptr<Queue> *out);

/// Whether the program runs on CUDA devices.
bool runsOnCuda(const dpc_program_t &program);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_QUEUE_H
