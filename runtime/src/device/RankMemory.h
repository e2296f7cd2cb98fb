#ifndef DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H
#define DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H

#include "dpc/comm.h"
#include "dpc/program.h"

namespace dpc {

/// The spaces of one rank: private memory, and memory from the communicator, on
/// which collectives work. The communicator's memory also holds two pieces that
/// the host itself uses: the votes, and a window for messages. The spaces of a
/// CUDA program are in the device's memory (CudaDevice); then only the two
/// pieces are here and, if tensors go through the hosts (StagedComm), a SHARED
/// space to which they are copied.
class RankMemory {
public:
  static constexpr uint64_t kWindowBytes = 4u << 20;

  RankMemory() = default;
  ~RankMemory();
  RankMemory(const RankMemory &) = delete;
  RankMemory &operator=(const RankMemory &) = delete;

  /// Bytes that a rank allocates from its communicator: SHARED, the votes and
  /// the window. In a program for a device, SHARED consists of complete pages
  /// that it shares with nothing else.
  static uint64_t sharedBytes(const dpc_program_t &program, uint32_t rank, bool isStaged);

  dpc_status_t open(const dpc_program_t &program, dpc_comm_t &comm, bool isStaged);

  /// Address of the start of a space.
  char *base(uint32_t space) const { return space == DPC_SPACE_ARENA ? arena : shared; }
  /// [3 + metric_count] values that the ranks sum at the end of an entry.
  double *vote() const { return reinterpret_cast<double *>(voteAt); }
  /// [kWindowBytes] bytes for messages between ranks outside of a step.
  char *window() const { return windowAt; }

  /// Permits or forbids this process to access a space of a program for a
  /// device; a forbidden access ends the process. It does not affect the votes
  /// and the window, nor other processes, which have their own mappings.
  dpc_status_t setAccess(uint32_t space, bool isAllowed);

private:
  char *arena = nullptr, *shared = nullptr, *voteAt = nullptr, *windowAt = nullptr;
  uint64_t privateBytes = 0, sharedPages = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H
