#ifndef DPC_RUNTIME_SRC_PROGRAM_RANKMEMORY_H
#define DPC_RUNTIME_SRC_PROGRAM_RANKMEMORY_H

#include "dpc/comm.h"
#include "dpc/program.h"

namespace dpc {

/// The spaces of one rank: private memory of its own, shared and common memory
/// of the communicator. The shared region also holds the runtime's own votes,
/// the common one scratch for assembling tensors.
class RankMemory {
public:
  static constexpr uint64_t kScratchBytes = 4u << 20;

  ~RankMemory();
  /// Bytes of a rank's shared region: SHARED, the slots of SHARED_SLOT, the
  /// vote.
  static uint64_t sharedBytes(const dpc_program_t &program, uint32_t rank);
  static uint64_t commonBytes(const dpc_program_t &program);

  dpc_status_t open(const dpc_program_t &program, const dpc_comm_t &comm);

  /// Start of a space as `slot` sees it.
  char *base(uint32_t space, uint32_t slot) const {
    switch (space) {
    case DPC_SPACE_ARENA:
      return arena;
    case DPC_SPACE_SLOT:
      return slots + slot * slotStride;
    case DPC_SPACE_SHARED:
      return shared;
    case DPC_SPACE_SHARED_SLOT:
      return sharedSlots + slot * sharedSlotStride;
    default:
      return common;
    }
  }
  /// [2 + metric_count] values that all ranks add up at the end of an entry.
  double *vote() const { return reinterpret_cast<double *>(voteAt); }
  char *scratch() const { return scratchAt; }

private:
  char *arena = nullptr, *slots = nullptr, *shared = nullptr,
       *sharedSlots = nullptr, *common = nullptr;
  char *voteAt = nullptr, *scratchAt = nullptr;
  uint64_t slotStride = 0, sharedSlotStride = 0, privateBytes = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_RANKMEMORY_H
