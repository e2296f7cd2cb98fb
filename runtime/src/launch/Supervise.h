#ifndef DPC_RUNTIME_SRC_LAUNCH_SUPERVISE_H
#define DPC_RUNTIME_SRC_LAUNCH_SUPERVISE_H

#include "runtime/src/base/RunPage.h"

#include <vector>

namespace dpc {

/// The launcher's record of a rank's process.
struct Rank {
  pid_t pid = -1;
  bool running = false;
  int status = 0;            ///< status from waitpid, set when the process has ended
  int stopSignal = 0;        ///< the signal that stopped the process; 0 if it is not stopped
  double stoppedSeconds = 0; ///< counted only while the launcher itself runs
};

/// Sends a signal to all ranks; they form one process group.
void signalRanks(const std::vector<Rank> &ranks, int signal);

/// Waits for the ranks of one start, prints one line that says why the run
/// ended, and returns the exit code. An interrupt is forwarded to the ranks; a
/// second one kills them.
///
/// The death of a rank is reported at once. If it happens before all ranks have
/// joined, the others are killed, since they cannot go on; after that, the
/// others get a few seconds to notice. A rank that is stopped for ten seconds
/// before all have joined counts as frozen; after that the ranks watch each
/// other. SIGCHLD and the interrupts must be blocked.
int supervise(std::vector<Rank> *ranks, const RunPage &page);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_SUPERVISE_H
