// The memory that the ranks of one host share: a control block, one page per
// rank, a lane per member of every group, a lane pair per ordered pair of
// ranks, then the memory that each rank's collectives work on.
#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_SEGMENT_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_SEGMENT_H

#include "dpc/comm.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/comm/Operation.h"

#include <atomic>
#include <sched.h>
#include <vector>

namespace dpc::local {

constexpr uint64_t kRing = 64;     ///< outstanding operations of a group
constexpr uint64_t kPairRing = 64; ///< outstanding sends of an ordered pair of ranks

/// What a member announces when it starts an operation. `posted` = sequence
/// number + 1 is written last.
struct alignas(64) Entry {
  std::atomic<uint64_t> posted;
  Announcement said;
  uint64_t in; ///< byte offsets in the segment
  uint64_t out;
  int64_t startNs;
};
static_assert(sizeof(Entry) == 64);

/// One member's side of a group (or of a pair): its announcements, and how many
/// operations it has finished its share of.
struct Lane {
  alignas(64) std::atomic<uint64_t> done;
  Entry ring[kRing];
};

/// One rank's own page: heartbeat and doorbell.
struct alignas(64) RankPage {
  std::atomic<uint64_t> heartbeat;
  std::atomic<int32_t> pid;
  std::atomic<uint32_t> ready; ///< 1: has mapped the segment
  std::atomic<uint32_t> left;  ///< 1: released its communicator on purpose
  cpu_set_t cores;             ///< that it may run on; valid when `ready`
  alignas(64) std::atomic<uint32_t> doorbell;
  std::atomic<uint32_t> sleeping;
};

/// The first failure of the run: all ranks report this one.
struct alignas(64) FailureRecord {
  std::atomic<uint32_t> state; ///< 0 none, 1 being written, 2 valid
  uint32_t guilty;             ///< rank
  uint32_t selfReported;       ///< 1: the guilty rank published it
  std::atomic<uint32_t> told;  ///< 1: some rank tells the user
  char text[240];
};

struct ControlBlock {
  uint64_t magic;
  uint64_t bytes;
  FailureRecord failure;
};

/// The mapped segment of this process.
class Segment {
public:
  ~Segment();
  /// Rank 0 makes it, meets the others and hands it out; the others get it.
  /// Returns when all have mapped it.
  dpc_status_t open(const dpc_comm_options_t &options);

  ControlBlock &control() const { return *reinterpret_cast<ControlBlock *>(base); }
  RankPage &page(uint32_t rank) const { return reinterpret_cast<RankPage *>(base + pagesAt)[rank]; }
  /// Lane of member `index` of group `group` of `family`.
  Lane &lane(uint32_t family, uint32_t group, uint32_t index) const;
  /// Side 0: what `from` announces to `to`; side 1: what `to` expects of
  /// `from`.
  Lane &pair(uint32_t from, uint32_t to, uint32_t side) const;

  char *at(uint64_t offset) const { return base + offset; }
  /// Number of cores that some rank may run on: fewer than the cores that this
  /// rank sees when ranks share them, more when each is bound to its own.
  uint32_t usableCores() const;
  /// Offset of a pointer, or UINT64_MAX when [pointer, pointer + bytes) is not
  /// inside the memory of some rank's collectives.
  uint64_t offsetOf(const void *pointer, uint64_t bytes) const;

  /// Publishes a failure and wakes everybody. False if there is one already:
  /// the first one stays.
  bool publishFailure(uint32_t guilty, const char *text, bool selfReported = false);
  /// Wakes `rank` if it sleeps.
  void ring(uint32_t rank);
  /// Fails with the published failure, if there is one.
  dpc_status_t checkFailure() const;

  uint32_t worldSize = 1;
  uint32_t rank = 0;
  Region memory; ///< of this rank's collectives

private:
  void layOut(const dpc_comm_options_t &options);
  dpc_status_t map(int fd);
  dpc_status_t waitUntilAllReady(double deadline);

  char *base = nullptr;
  uint64_t bytes = 0;
  uint64_t pagesAt = 0, lanesAt = 0, pairsAt = 0, dataAt = 0;
  uint64_t memoryAt = 0, memoryBytes = 0; ///< of this rank
  std::vector<uint64_t> familyAt, familySize;
  Fd file; ///< rank 0 keeps it open until the others have mapped it
};

} // namespace dpc::local

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_SEGMENT_H
