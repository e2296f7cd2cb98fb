#ifndef DPC_RUNTIME_SRC_DEVICE_QUEUE_H
#define DPC_RUNTIME_SRC_DEVICE_QUEUE_H

#include "dpc/comm.h"
#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/device/RankMemory.h"

#include <memory>
#include <string>

namespace dpc {

/// A place in a rank's memory. It is no pointer, because that memory may be a
/// device's: the host reads and writes it through the rank's queue alone.
struct DeviceAddress {
  uint32_t space = 0;  ///< DPC_SPACE_*
  uint64_t offset = 0; ///< bytes from the start of the space
};

/// What a rank's device does, in the order in which it is told. A call may
/// return before its work is done: only wait, download and finish say that
/// something is. Places have been checked (see checkProgram). All calls come
/// from one thread. A failure is that of the work itself or of a peer
/// (DPC_PEER).
class Queue {
public:
  virtual ~Queue() = default;

  /// Begins an entry: its actions follow, then `finish`. Sets `*isDone` where the
  /// queue has kept them from an earlier run and repeats them by itself: then
  /// only `finish` follows.
  virtual dpc_status_t begin(uint32_t entry, bool *isDone);

  /// Runs an entry of the function table for a microbatch. `args` are the
  /// action's.
  virtual dpc_status_t compute(uint32_t function, uint32_t micro, const void *args) = 0;
  /// Starts a communication, once what was told before is done, and calls it
  /// `event`. `in` and `out` of `op` are taken from the two places.
  virtual dpc_status_t start(dpc_comm_op_t op, DeviceAddress in, DeviceAddress out,
                             uint32_t event) = 0;
  /// Lets what is told later wait for a communication that was started.
  virtual dpc_status_t wait(uint32_t event) = 0;
  virtual dpc_status_t zero(DeviceAddress to, uint64_t bytes) = 0;

  /// Copies from the host's memory, which is free when the call returns.
  virtual dpc_status_t upload(DeviceAddress to, const void *from, uint64_t bytes) = 0;
  /// Copies to the host's memory, which is complete when the call returns.
  virtual dpc_status_t download(void *to, DeviceAddress from, uint64_t bytes) = 0;

  /// Returns when all that was told is done. DPC_INVALID if a communication was
  /// never waited for.
  virtual dpc_status_t finish() = 0;
};

struct QueueOptions {
  bool keepsEntries = true; ///< a device may keep the work of an entry and repeat it
  /// Devices move tensors through their hosts, by the communicator, and not by
  /// NCCL; the memory was opened for that.
  bool isStaged = false;
  double timeoutSeconds = 300; ///< longest wait of a device for peers
  /// Where it stands how products of matrices are made fastest (TunedProducts):
  /// what is not there is measured first. Empty: as the library chooses.
  std::string tuneFile;
};

/// The queue that a program's record asks for: launches are run by a CudaQueue
/// or a ShadowQueue, host code by a HostQueue.
dpc_status_t makeQueue(const dpc_program_t &program, dpc_comm_t &comm, RankMemory &memory,
                       const QueueOptions &options, std::unique_ptr<Queue> *out);

/// Whether the program runs on CUDA devices.
bool runsOnCuda(const dpc_program_t &program);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_QUEUE_H
