// Memory that dpc-run shares with the ranks that it starts. Ranks record in this
// page that they have joined and why the run ends. Any rank may report the cause,
// and the launcher prints it, so that the user sees one line and not one per rank.
#ifndef DPC_RUNTIME_SRC_BASE_RUNPAGE_H
#define DPC_RUNTIME_SRC_BASE_RUNPAGE_H

#include "dpc/status.h"
#include "runtime/src/base/Fd.h"

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace dpc {

/// The reason why a run ends, in the words of the first rank that reported one.
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
  Cause own;                      ///< a failure or an interruption of the reporting rank itself
  Cause peer;                     ///< a failure that a rank reports of another rank: a symptom,
                                  ///< used only if no other cause is known

  /// Records `status` and `text` in `peer` if `status` is DPC_PEER, else in `own`. Does
  /// nothing if that cause is already recorded.
  void tell(dpc_status_t status, const char *text);
};

/// The launcher's side. Returns null on failure, with a message in
/// dpc_last_error.
RunPage *createRunPage(Fd *outMemory);
/// null is allowed.
void releaseRunPage(RunPage *page);

/// The rank's side. Maps the descriptor that DPC_RUN_PAGE_FD names, then closes
/// it and clears the variable, so that no child inherits it.
void attachRunPage();

/// The page of this rank's launcher, or null if something other than dpc-run
/// started the rank.
RunPage *runPage();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_RUNPAGE_H
