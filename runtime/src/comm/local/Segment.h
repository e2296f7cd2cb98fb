// The memory that the ranks of one host share. It consists of a control block, a
// page per rank, a lane per member of every group, two lanes per ordered pair of
// ranks, and the memory for the buffers of each rank's collectives. If a run has several
// hosts, pages and lanes of ranks of other hosts are never touched, and take no memory.
#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_SEGMENT_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_SEGMENT_H

#include "dpc/comm.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/comm/Hosts.h"
#include "runtime/src/comm/Operation.h"

#include <atomic>
#include <sched.h>
#include <vector>

namespace dpc::local {

constexpr uint64_t kRing = 64; ///< most outstanding operations of a group

/// A member's announcement of an operation that it starts. The member writes
/// `posted` last. When `posted` is the sequence number plus 1, the other fields
/// are valid.
struct alignas(64) Entry {
  std::atomic<uint64_t> posted;
  Announcement said;
  uint64_t in; ///< `in` and `out` are byte offsets in the segment
  uint64_t out;
  int64_t startNs;
};
static_assert(sizeof(Entry) == 64);

/// The memory that one member of a group (or of a pair) writes and the other members
/// read. It has the member's announcements, and the number of operations for which
/// the member has finished its share.
struct Lane {
  alignas(64) std::atomic<uint64_t> done;
  Entry ring[kRing];
};

/// One rank's own page: its heartbeat, and its doorbell, a futex on which the rank
/// sleeps until another rank wakes it.
struct alignas(64) RankPage {
  std::atomic<uint64_t> heartbeat;
  std::atomic<int32_t> pid;
  std::atomic<uint32_t> ready; ///< 1: the rank has mapped the segment
  std::atomic<uint32_t> left;  ///< 1: the rank released its communicator on purpose
  /// The rank that this rank has waited for since half the timeout, else DPC_NONE.
  std::atomic<uint32_t> waitsFor;
  cpu_set_t cores; ///< cores on which the rank may run; valid when `ready` is 1
  alignas(64) std::atomic<uint32_t> doorbell;
  std::atomic<uint32_t> sleeping;
};

/// The first failure of the run. Calls on all ranks return it, but only one rank
/// reports it to the user.
struct alignas(64) FailureRecord {
  std::atomic<uint32_t> state; ///< 0 none, 1 being written, 2 valid
  uint32_t guilty;             ///< the rank at fault
  uint32_t selfReported;       ///< 1: the guilty rank itself published the failure
  std::atomic<uint32_t> told;  ///< 1: some rank reports the failure to the user
  char text[240];
};

struct ControlBlock {
  uint64_t magic;
  uint64_t bytes;
  FailureRecord failure;
};

/// This process's mapping of the segment.
class Segment {
public:
  ~Segment();
  /// The lowest rank of each host creates a segment, and the other ranks of the host map it.
  /// `hosts` has the lowest rank of each rank's host. Returns when all ranks of this host have
  /// mapped it. Every rank of the run must call it.
  dpc_status_t open(const dpc_comm_options_t &options, Lobby &lobby, const Hosts &hosts);

  /// Whether this is a rank of this host.
  bool holds(uint32_t rank) const { return onHost[rank]; }

  ControlBlock &control() const { return *reinterpret_cast<ControlBlock *>(base); }
  RankPage &page(uint32_t rank) const { return reinterpret_cast<RankPage *>(base + pagesAt)[rank]; }
  /// Lane of member `index` of group `group` of `family`.
  Lane &lane(uint32_t family, uint32_t group, uint32_t index) const;
  /// A lane of an ordered pair of ranks. Side 0 has the announcements of the
  /// sender, `from`. Side 1 has the announcements of the receiver, `to`.
  Lane &pair(uint32_t from, uint32_t to, uint32_t side) const;

  char *at(uint64_t offset) const { return base + offset; }
  /// Number of cores on which at least one rank may run. If it is smaller than the
  /// number of ranks, ranks must share cores. It counts the cores of all ranks together,
  /// because each rank may be bound to cores of its own.
  uint32_t usableCores() const;
  /// Offset of a pointer in the segment, or UINT64_MAX if [pointer, pointer +
  /// bytes) is not inside the memory for collectives.
  uint64_t offsetOf(const void *pointer, uint64_t bytes) const;
  /// Whether [offset, offset + size) is in the memory for collectives.
  bool isData(uint64_t offset, uint64_t size) const {
    return offset >= dataAt && offset <= bytes && size <= bytes - offset;
  }

  /// Publishes a failure and wakes all ranks of this host. If a failure has already been
  /// published, keeps that one and returns false.
  bool publishFailure(uint32_t guilty, const char *text, bool selfReported = false);
  /// Wakes `rank` if it sleeps.
  void ring(uint32_t rank);
  /// Returns DPC_PEER, with the message of the published failure, if a rank has
  /// published one.
  dpc_status_t checkFailure() const;

  uint32_t worldSize = 1;
  uint32_t rank = 0;
  std::vector<uint32_t> ranks; ///< the ranks of this host, in order
  Region memory;               ///< for the buffers of this rank's collectives

private:
  void layOut(const dpc_comm_options_t &options);
  dpc_status_t map(int fd);
  dpc_status_t waitUntilAllReady(double deadline);

  char *base = nullptr;
  uint64_t bytes = 0;
  uint64_t pagesAt = 0, lanesAt = 0, pairsAt = 0, dataAt = 0;
  uint64_t memoryAt = 0, memoryBytes = 0; ///< offset and size of this rank's `memory`
  std::vector<uint64_t> familyAt, familySize;
  std::vector<bool> onHost; ///< [worldSize]
  Fd file; ///< the lowest rank keeps the file open until the other ranks have mapped it
};

} // namespace dpc::local

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_SEGMENT_H
