// Memory that dpc-run and the ranks of one start share: who has joined, and why
// the run ends. It lets one process, the launcher, tell the cause in one line,
// whoever noticed it.
#ifndef DPC_RUNTIME_SRC_BASE_RUNPAGE_H
#define DPC_RUNTIME_SRC_BASE_RUNPAGE_H

#include "dpc/status.h"
#include "runtime/src/base/Fd.h"

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace dpc {

/// Why a run ends, as the first rank to say so puts it.
struct Cause {
  std::atomic<uint32_t> state; ///< 0 none, 1 being written, 2 valid
  dpc_status_t status;
  char text[1024];

  bool valid() const { return state.load(std::memory_order_acquire) == 2; }
};

struct RunPage {
  uint64_t magic;
  pid_t launcher;
  uint32_t restarts;              ///< starts of this run before, in which a rank died
  std::atomic<uint32_t> attached; ///< ranks that know this page
  std::atomic<uint32_t> joined;   ///< ranks that have met all others
  Cause own;                      ///< a reason of a rank's own, or its note
  Cause peer;                     ///< what a rank says of another: a symptom, unless nothing else
                                  ///< is known

  /// Keeps the first text of each kind.
  void tell(dpc_status_t status, const char *text);
};

/// The launcher's side: null, with a text in dpc_last_error, on failure.
RunPage *createRunPage(Fd *outMemory);
/// null is allowed.
void releaseRunPage(RunPage *page);

/// A rank's side: takes the descriptor named by DPC_RUN_PAGE_FD, so that no
/// child inherits it.
void attachRunPage();

/// The page of this rank's launcher, or null if it was started by another one.
RunPage *runPage();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_RUNPAGE_H
