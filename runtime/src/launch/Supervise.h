#ifndef DPC_RUNTIME_SRC_LAUNCH_SUPERVISE_H
#define DPC_RUNTIME_SRC_LAUNCH_SUPERVISE_H

#include "runtime/src/base/RunPage.h"

#include <vector>

namespace dpc {

/// A rank's process as the launcher sees it.
struct Rank {
  pid_t pid = -1;
  bool running = false;
  int status = 0;            ///< of waitpid, once it has ended
  int stopSignal = 0;        ///< 0: it is not stopped
  double stoppedSeconds = 0; ///< of this process's own running time
};

/// Sends a signal to all ranks, which are one process group.
void signalRanks(const std::vector<Rank> &ranks, int signal);

/// Waits for the ranks of one start, prints in one line why they end, and
/// returns the exit code. Interrupts are forwarded; the second one kills. A
/// rank that dies is reported at once; when that happens before all have joined
/// nothing is worth waiting for, afterwards the others get some seconds to
/// notice. A rank that is stopped for ten seconds before all have joined counts
/// as frozen; later the ranks watch each other. SIGCHLD and the interrupts must
/// be blocked.
int supervise(std::vector<Rank> *ranks, const RunPage &page);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_SUPERVISE_H
