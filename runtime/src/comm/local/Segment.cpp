// Lays out the memory that the ranks of a host share. The lowest rank creates this memory,
// and the other ranks open it as /proc/PID/fd/N. Also wakes ranks by futexes.

#include "runtime/src/comm/local/Segment.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <linux/futex.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dpc::local {

namespace {
constexpr uint64_t kSegmentMagic = 0x0331676573637064ull;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kHugePage = 2u << 20;
/// Time limit from the arrival of the last rank until all ranks have mapped the
/// segment. The limit is short, because the ranks have no other work at this time.
constexpr double kLongestMapSeconds = 10;

/// Where the other ranks of a host find the memory that a rank has made: /proc/<pid>/fd/<fd>.
struct Ticket {
  uint64_t pid = 0;
  uint64_t fd = 0;
  uint64_t bytes = 0;
};

uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }
} // namespace

Segment::~Segment() {
  if (base)
    ::munmap(base, bytes);
}

void Segment::layOut(const dpc_comm_options_t &options) {
  worldSize = options.world_size;
  rank = options.rank;
  uint64_t at = roundUp(sizeof(ControlBlock), kPage);
  pagesAt = at;
  at = roundUp(at + worldSize * sizeof(RankPage), kPage);
  lanesAt = at;
  for (uint32_t f = 0; f < options.family_count; ++f) {
    familyAt.push_back(at);
    familySize.push_back(options.families[f].group_size);
    at += uint64_t(options.families[f].group_count) * options.families[f].group_size * sizeof(Lane);
  }
  at = roundUp(at, kPage);
  pairsAt = at;
  at = roundUp(at + 2ull * worldSize * worldSize * sizeof(Lane), kHugePage);
  dataAt = at;
  for (uint32_t r : ranks) {
    const uint64_t own = options.memory_bytes ? options.memory_bytes[r] : 0;
    if (r == rank)
      memoryAt = at, memoryBytes = own;
    // If the buffers of all ranks mapped to the same cache sets, they would evict
    // each other. So each rank's memory is shifted by a different distance.
    at = roundUp(at + own + kPage, kPage) + 17 * 64 * (r + 1);
    at = roundUp(at, 64);
  }
  bytes = roundUp(at + 64, kPage);
}

dpc_status_t Segment::map(int fd) {
  void *mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED)
    return fail(DPC_IO, "cannot map %llu bytes of shared memory: %s",
                static_cast<unsigned long long>(bytes), std::strerror(errno));
  base = static_cast<char *>(mapped);
  ::madvise(base + dataAt, bytes - dataAt,
            MADV_HUGEPAGE); // no effect if the system does not allow huge shared pages
  memory = Region(base + memoryAt, memoryBytes);
  return DPC_OK;
}

dpc_status_t Segment::open(const dpc_comm_options_t &options, Lobby &lobby, const Hosts &hosts) {
  const uint32_t lowest = hosts[options.rank];
  for (uint32_t r = 0; r < options.world_size; ++r) {
    onHost.push_back(hosts[r] == lowest);
    if (onHost[r])
      ranks.push_back(r);
  }
  layOut(options);
  Ticket own;
  std::vector<Ticket> tickets;
  if (rank == lowest) {
    file = Fd(::memfd_create("dpc", MFD_CLOEXEC));
    if (!file.valid() || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
      return fail(DPC_IO, "cannot make %llu bytes of shared memory: %s",
                  static_cast<unsigned long long>(bytes), std::strerror(errno));
    if (dpc_status_t status = map(file.get()))
      return status;
    control().magic = kSegmentMagic;
    control().bytes = bytes;
    page(rank).pid = ::getpid();
    own = {static_cast<uint64_t>(::getpid()), static_cast<uint64_t>(file.get()), bytes};
  }
  if (dpc_status_t status = lobby.exchange(own, &tickets))
    return status;
  if (rank != lowest) {
    const Ticket &ticket = tickets[lowest];
    if (ticket.bytes != bytes)
      return fail(DPC_INVALID, "rank %u plans %llu bytes of shared memory, rank %u %llu", rank,
                  static_cast<unsigned long long>(bytes), lowest,
                  static_cast<unsigned long long>(ticket.bytes));
    const std::string path = descriptorPath(ticket.pid, ticket.fd);
    Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct stat info;
    if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || static_cast<uint64_t>(info.st_size) < bytes)
      return fail(DPC_PEER,
                  "cannot open rank %u's shared memory (is it on this host, "
                  "with this user?): %s",
                  lowest, std::strerror(errno));
    if (dpc_status_t status = map(fd.get()))
      return status;
    if (control().magic != kSegmentMagic)
      return fail(DPC_PEER, "rank %u's shared memory has another format", lowest);
    page(rank).pid = ::getpid();
  }
  cpu_set_t &cores = page(rank).cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) {
    // The machine has more cores than a cpu_set_t can hold, or the call is not
    // available. Then assume that the rank may run on all online cores.
    CPU_ZERO(&cores);
    const long online = std::min<long>(::sysconf(_SC_NPROCESSORS_ONLN), CPU_SETSIZE);
    for (long core = 0; core < online; ++core)
      CPU_SET(core, &cores);
  }
  page(rank).waitsFor.store(DPC_NONE, std::memory_order_relaxed);
  page(rank).ready.store(1, std::memory_order_release);
  return waitUntilAllReady(monotonicSeconds() +
                           std::min(lobby.options().timeoutSeconds, kLongestMapSeconds));
}

uint32_t Segment::usableCores() const {
  cpu_set_t together;
  CPU_ZERO(&together);
  for (uint32_t r : ranks)
    CPU_OR(&together, &together, &page(r).cores);
  return static_cast<uint32_t>(CPU_COUNT(&together));
}

dpc_status_t Segment::waitUntilAllReady(double deadline) {
  for (uint32_t r : ranks)
    while (!page(r).ready.load(std::memory_order_acquire)) {
      if (dpc_status_t status = checkFailure())
        return status;
      if (monotonicSeconds() > deadline)
        return fail(DPC_PEER,
                    "rank %u died or is frozen: it joined, but did not map the "
                    "shared memory in time",
                    r);
      ::usleep(200);
    }
  file = Fd();
  return DPC_OK;
}

Lane &Segment::lane(uint32_t family, uint32_t group, uint32_t index) const {
  return reinterpret_cast<Lane *>(base +
                                  familyAt[family])[uint64_t(group) * familySize[family] + index];
}

Lane &Segment::pair(uint32_t from, uint32_t to, uint32_t side) const {
  return reinterpret_cast<Lane *>(base + pairsAt)[(uint64_t(from) * worldSize + to) * 2 + side];
}

uint64_t Segment::offsetOf(const void *pointer, uint64_t size) const {
  const char *p = static_cast<const char *>(pointer);
  const uint64_t offset = p < base ? UINT64_MAX : static_cast<uint64_t>(p - base);
  return isData(offset, size) ? offset : UINT64_MAX;
}

bool Segment::publishFailure(uint32_t guilty, const char *text, bool selfReported) {
  FailureRecord &record = control().failure;
  uint32_t expected = 0;
  const bool first = record.state.compare_exchange_strong(expected, 1);
  if (first) {
    record.guilty = guilty;
    record.selfReported = selfReported;
    std::snprintf(record.text, sizeof record.text, "%s", text);
    record.state.store(2, std::memory_order_release);
  }
  for (uint32_t r : ranks) {
    page(r).doorbell.fetch_add(1);
    ::syscall(SYS_futex, &page(r).doorbell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  return first;
}

void Segment::ring(uint32_t r) {
  RankPage &other = page(r);
  if (other.sleeping.load(std::memory_order_seq_cst)) {
    other.doorbell.fetch_add(1);
    ::syscall(SYS_futex, &other.doorbell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
}

dpc_status_t Segment::checkFailure() const {
  const FailureRecord &record = control().failure;
  if (record.state.load(std::memory_order_acquire) != 2)
    return DPC_OK;
  return fail(DPC_PEER, "%.*s", static_cast<int>(sizeof record.text), record.text);
}

} // namespace dpc::local
