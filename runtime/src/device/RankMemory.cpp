#include "runtime/src/device/RankMemory.h"

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
  return aligned(program.ranks[index].shared_bytes) +
         aligned((2 + program.metric_count) * sizeof(double));
}

dpc_status_t RankMemory::open(const dpc_program_t &program,
                              const dpc_comm_t &comm) {
  const dpc_rank_t &rank = program.ranks[comm.rank];
  privateBytes = aligned(rank.arena_bytes) + DPC_ALIGNMENT;
  void *mapped = ::mmap(nullptr, privateBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return fail(DPC_IO, "out of memory: the plan needs %llu bytes a rank",
                static_cast<unsigned long long>(privateBytes));
  arena = static_cast<char *>(mapped);
  ::madvise(arena, privateBytes, MADV_HUGEPAGE);
  shared = comm.shared[comm.rank];
  voteAt = shared + aligned(rank.shared_bytes);
  scratchAt = comm.common;
  return DPC_OK;
}

} // namespace dpc
