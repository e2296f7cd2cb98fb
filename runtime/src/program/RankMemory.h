#ifndef DPC_RUNTIME_SRC_PROGRAM_RANKMEMORY_H
#define DPC_RUNTIME_SRC_PROGRAM_RANKMEMORY_H

#include "dpc/comm.h"
#include "dpc/program.h"

namespace dpc {

/// The spaces of one rank: private memory of its own, and memory that the
/// communicator allocates, on which collectives work. There lie also the
/// runtime's own votes, and a window for what it sends and receives itself.
class RankMemory {
public:
  static constexpr uint64_t kWindowBytes = 4u << 20;

  ~RankMemory();
  /// Bytes that a rank takes of its communicator: SHARED, the slots of
  /// SHARED_SLOT, the vote, the window.
  static uint64_t sharedBytes(const dpc_program_t &program, uint32_t rank);

  dpc_status_t open(const dpc_program_t &program, dpc_comm_t &comm);

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
      return nullptr; // COMMON, which is empty
    }
  }
  /// [2 + metric_count] values that all ranks add up at the end of an entry.
  double *vote() const { return reinterpret_cast<double *>(voteAt); }
  /// [kWindowBytes] for messages between ranks outside of a step.
  char *window() const { return windowAt; }

private:
  char *arena = nullptr, *slots = nullptr, *shared = nullptr,
       *sharedSlots = nullptr;
  char *voteAt = nullptr, *windowAt = nullptr;
  uint64_t slotStride = 0, sharedSlotStride = 0, privateBytes = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_RANKMEMORY_H
