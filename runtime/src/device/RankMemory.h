#ifndef DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H
#define DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H

#include "dpc/comm.h"
#include "dpc/program.h"

namespace dpc {

/// The memory of one rank on its host: the space ARENA, which is private, and the
/// space SHARED, which the communicator allocates for collectives. Two further
/// regions of the communicator's memory are for the host itself: the vote, and a
/// window for messages. A CUDA program has its spaces in the device's memory
/// (CudaDevice). It needs only the two regions here, and for StagedComm also a
/// SHARED space, to which tensors are copied.
class RankMemory {
public:
  static constexpr uint64_t kWindowBytes = 4u << 20;
  /// How many numbers the ranks sum at the end of an entry, besides the metrics.
  static constexpr uint32_t kVotes = 5;

  RankMemory() = default;
  ~RankMemory();
  RankMemory(const RankMemory &) = delete;
  RankMemory &operator=(const RankMemory &) = delete;

  /// Bytes that a rank allocates from its communicator: SHARED, the vote and the
  /// window. In a program for a device, SHARED has memory pages of its own, so that
  /// setAccess can protect them.
  static uint64_t sharedBytes(const dpc_program_t &program, uint32_t rank, bool isStaged);

  dpc_status_t open(const dpc_program_t &program, dpc_comm_t &comm, bool isStaged);

  /// Address of the start of a space.
  char *base(uint32_t space) const { return space == DPC_SPACE_ARENA ? arena : shared; }
  /// The kVotes + metric_count numbers that the ranks sum at the end of an entry.
  double *vote() const { return reinterpret_cast<double *>(voteAt); }
  /// The kWindowBytes bytes for messages between ranks outside of a step.
  char *window() const { return windowAt; }

  /// Allows or forbids this process to access a space of a program for a device. A
  /// forbidden access ends the process with a fault. The vote and the window remain
  /// accessible. Other processes are not affected, because they have their own
  /// mappings.
  dpc_status_t setAccess(uint32_t space, bool isAllowed);

private:
  char *arena = nullptr, *shared = nullptr, *voteAt = nullptr, *windowAt = nullptr;
  uint64_t privateBytes = 0, sharedPages = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H
