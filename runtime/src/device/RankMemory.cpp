// Lays out a rank's memory on its host. ARENA is a mapping of its own. SHARED, the
// vote and the window follow each other in the communicator's memory.

#include "runtime/src/device/RankMemory.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/device/Queue.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace dpc {

namespace {

uint64_t roundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

uint64_t aligned(uint64_t bytes) { return roundUp(bytes, DPC_ALIGNMENT); }

uint64_t pageBytes() {
  static const uint64_t bytes = uint64_t(::sysconf(_SC_PAGESIZE));
  return bytes;
}

} // namespace

RankMemory::~RankMemory() {
  if (arena)
    ::munmap(arena, privateBytes);
}

uint64_t RankMemory::sharedBytes(const dpc_program_t &program, uint32_t index, bool isStaged) {
  const uint64_t bytes = runsOnCuda(program) && !isStaged ? 0 : program.ranks[index].shared_bytes;
  // In a program for a device, SHARED begins at a page. One page more is needed,
  // because the communicator's memory may begin inside a page.
  return (program.device ? roundUp(bytes, pageBytes()) + pageBytes() : aligned(bytes)) +
         aligned((kVotes + program.metric_count) * sizeof(double)) + kWindowBytes;
}

dpc_status_t RankMemory::open(const dpc_program_t &program, dpc_comm_t &comm, bool isStaged) {
  const dpc_rank_t &rank = program.ranks[comm.rank];
  const uint64_t arenaBytes = runsOnCuda(program) ? 0 : rank.arena_bytes,
                 spaceBytes = runsOnCuda(program) && !isStaged ? 0 : rank.shared_bytes;
  privateBytes = aligned(arenaBytes) + DPC_ALIGNMENT;
  void *mapped = ::mmap(nullptr, privateBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return fail(DPC_IO, "out of memory: the plan needs %llu bytes a rank",
                static_cast<unsigned long long>(privateBytes));
  arena = static_cast<char *>(mapped);
  ::madvise(arena, privateBytes, MADV_HUGEPAGE);
  void *communication = nullptr;
  if (dpc_status_t status =
          comm.vtable->allocate(&comm, sharedBytes(program, comm.rank, isStaged), &communication))
    return status;
  shared = static_cast<char *>(communication);
  voteAt = shared + aligned(spaceBytes);
  if (program.device) {
    const auto at = reinterpret_cast<uintptr_t>(shared);
    shared += roundUp(at, pageBytes()) - at;
    sharedPages = roundUp(spaceBytes, pageBytes());
    voteAt = shared + sharedPages;
  }
  windowAt = voteAt + aligned((kVotes + program.metric_count) * sizeof(double));
  return DPC_OK;
}

dpc_status_t RankMemory::setAccess(uint32_t space, bool isAllowed) {
  const uint64_t bytes = space == DPC_SPACE_ARENA ? privateBytes : sharedPages;
  const int protection = isAllowed ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (::mprotect(base(space), bytes, protection) != 0)
    return fail(DPC_IO, "cannot protect the memory of a device: %s", std::strerror(errno));
  return DPC_OK;
}

} // namespace dpc
