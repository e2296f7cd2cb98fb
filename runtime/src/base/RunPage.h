// Memory that dpc-run shares with the ranks that it starts. In this page each rank
// records that it has met the other ranks, and the ranks record why the run ends.
// The launcher prints this cause, so that the user sees one line for the run and
// not one line per rank. After the page, each rank has memory that outlives it.
#ifndef DPC_RUNTIME_SRC_BASE_RUNPAGE_H
#define DPC_RUNTIME_SRC_BASE_RUNPAGE_H

#include "dpc/status.h"
#include "runtime/src/base/Fd.h"

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace dpc {

/// A run with --checkpoint that gets SIGTERM saves and ends within this time, because schedulers
/// kill it soon after. dpc-run and each rank that gets the signal end the run at this time.
constexpr unsigned kSaveSeconds = 19;
constexpr char kOverdueText[] = "interrupted: the run did not end within 19 s, and was ended";

/// The reason why a run ends, in the words of the first rank that reported a
/// reason.
struct Cause {
  std::atomic<uint32_t> state; ///< 0 none, 1 being written, 2 valid
  dpc_status_t status;
  char text[1024];

  bool valid() const { return state.load(std::memory_order_acquire) == 2; }
};

struct RunPage {
  uint64_t magic;
  pid_t launcher;
  uint32_t restarts;              ///< number of earlier starts, each ended by the death of a rank
  std::atomic<uint32_t> attached; ///< number of ranks that have mapped this page
  std::atomic<uint32_t> joined;   ///< number of ranks that have met all other ranks
  Cause own;                      ///< the reporting rank itself failed or was interrupted
  Cause peer;                     ///< the reporting rank noticed that another rank failed: this is
                                  ///< only a symptom, and counts only if `own` is not recorded
  uint32_t firstRank, ranks;      ///< the ranks of this host that have memory after the page
  uint64_t bytesPerRank;          ///< size of the memory of each

  /// Records `status` and `text` in `peer` if `status` is DPC_PEER, else in `own`. Does
  /// nothing if an earlier call has already recorded that cause.
  void tell(dpc_status_t status, const char *text);
  /// The memory of a rank, which begins as zeros. Null if the rank has none, or less than
  /// `bytes` bytes.
  char *memoryOf(uint32_t rank, uint64_t bytes) const;
};

/// Called by the launcher: creates the page, and the descriptor that ranks
/// inherit. Each of `ranks` ranks, from `firstRank` on, gets `bytesPerRank` bytes of memory, unless
/// a limit of this process forbids it. Returns null on failure, with a message in dpc_last_error.
RunPage *createRunPage(uint32_t firstRank, uint32_t ranks, uint64_t bytesPerRank, Fd *outMemory);
/// Called by the launcher: unmaps the page. Does nothing for null.
void releaseRunPage(RunPage *page);

/// Called by a rank: maps the descriptor that DPC_RUN_PAGE_FD names. Then closes
/// the descriptor and clears the variable, so that no child process inherits
/// them.
void attachRunPage();

/// The page of this rank's launcher, or null if something other than dpc-run
/// started the rank.
RunPage *runPage();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_RUNPAGE_H
