#ifndef DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H
#define DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H

#include "dpc/comm.h"
#include "dpc/program.h"

namespace dpc {

/// The spaces of one rank: private memory of its own, and memory that the
/// communicator allocates, on which collectives work. There lie also two
/// pieces that the host itself uses: the votes, and a window for what it sends
/// and receives. A CUDA program has its spaces in the device's memory
/// (CudaDevice): here are the two pieces alone, and with them, where tensors of
/// devices go through their hosts (StagedComm), a SHARED that they are copied to.
class RankMemory {
public:
  static constexpr uint64_t kWindowBytes = 4u << 20;

  RankMemory() = default;
  ~RankMemory();
  RankMemory(const RankMemory &) = delete;
  RankMemory &operator=(const RankMemory &) = delete;

  /// Bytes that a rank takes of its communicator: SHARED, the votes, the
  /// window. For a device, SHARED is whole pages, which no one else has a part
  /// of.
  static uint64_t sharedBytes(const dpc_program_t &program, uint32_t rank, bool isStaged);

  dpc_status_t open(const dpc_program_t &program, dpc_comm_t &comm, bool isStaged);

  /// Start of a space.
  char *base(uint32_t space) const { return space == DPC_SPACE_ARENA ? arena : shared; }
  /// [3 + metric_count] values that all ranks add up at the end of an entry.
  double *vote() const { return reinterpret_cast<double *>(voteAt); }
  /// [kWindowBytes] for messages between ranks outside of a step.
  char *window() const { return windowAt; }

  /// Lets this process touch a space of a program for a device, or takes that
  /// away: then whoever does so dies. Votes and window are not concerned, nor
  /// are other processes, which have mappings of their own.
  dpc_status_t setAccess(uint32_t space, bool isAllowed);

private:
  char *arena = nullptr, *shared = nullptr, *voteAt = nullptr, *windowAt = nullptr;
  uint64_t privateBytes = 0, sharedPages = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H
