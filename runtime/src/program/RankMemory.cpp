#include "runtime/src/program/RankMemory.h"

#include "runtime/src/base/Status.h"

#include <sys/mman.h>

namespace dpc {

namespace {
uint64_t aligned(uint64_t bytes) {
  return (bytes + DPC_ALIGNMENT - 1) / DPC_ALIGNMENT * DPC_ALIGNMENT;
}
} // namespace

RankMemory::~RankMemory() {
  if (arena)
    ::munmap(arena, privateBytes);
}

uint64_t RankMemory::sharedBytes(const dpc_program_t &program, uint32_t index) {
  const dpc_rank_t &rank = program.ranks[index];
  return aligned(rank.shared_bytes) +
         rank.slot_count * rank.shared_slot_stride +
         aligned((2 + program.metric_count) * sizeof(double)) + kWindowBytes;
}

dpc_status_t RankMemory::open(const dpc_program_t &program, dpc_comm_t &comm) {
  const dpc_rank_t &rank = program.ranks[comm.rank];
  slotStride = rank.slot_stride, sharedSlotStride = rank.shared_slot_stride;
  privateBytes = aligned(rank.arena_bytes) +
                 rank.slot_count * rank.slot_stride + DPC_ALIGNMENT;
  void *mapped = ::mmap(nullptr, privateBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return fail(DPC_IO, "out of memory: the plan needs %llu bytes a rank",
                static_cast<unsigned long long>(privateBytes));
  arena = static_cast<char *>(mapped);
  ::madvise(arena, privateBytes, MADV_HUGEPAGE);
  slots = arena + aligned(rank.arena_bytes);
  void *communication = nullptr;
  if (dpc_status_t status = comm.vtable->allocate(
          &comm, sharedBytes(program, comm.rank), &communication))
    return status;
  shared = static_cast<char *>(communication);
  sharedSlots = shared + aligned(rank.shared_bytes);
  voteAt = sharedSlots + rank.slot_count * rank.shared_slot_stride;
  windowAt = voteAt + aligned((2 + program.metric_count) * sizeof(double));
  return DPC_OK;
}

} // namespace dpc
