#ifndef DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H
#define DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H

#include "dpc/comm.h"
#include "dpc/program.h"

namespace dpc {

/// The spaces of one rank: private memory of its own, shared memory of the
/// communicator. The communicator's regions also hold what the ranks' hosts
/// exchange: the shared one their votes, the common one a scratch for
/// assembling tensors.
class RankMemory {
public:
  static constexpr uint64_t kScratchBytes = 4u << 20;

  RankMemory() = default;
  ~RankMemory();
  RankMemory(const RankMemory &) = delete;
  RankMemory &operator=(const RankMemory &) = delete;

  /// Bytes of a rank's shared region: SHARED, the votes. For a device, SHARED
  /// is whole pages, which no one else has a part of.
  static uint64_t sharedBytes(const dpc_program_t &program, uint32_t rank);

  dpc_status_t open(const dpc_program_t &program, const dpc_comm_t &comm);

  /// Start of a space.
  char *base(uint32_t space) const {
    return space == DPC_SPACE_ARENA ? arena : shared;
  }
  /// [2 + metric_count] values that all ranks add up at the end of an entry.
  double *vote() const { return reinterpret_cast<double *>(voteAt); }
  char *scratch() const { return scratchAt; }

  /// Lets this process touch a space of a program for a device, or takes that
  /// away: then whoever does so dies. Votes and scratch are not concerned, nor
  /// are other processes, which have mappings of their own.
  dpc_status_t setAccess(uint32_t space, bool isAllowed);

private:
  char *arena = nullptr, *shared = nullptr, *voteAt = nullptr,
       *scratchAt = nullptr;
  uint64_t privateBytes = 0, sharedPages = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_RANKMEMORY_H
