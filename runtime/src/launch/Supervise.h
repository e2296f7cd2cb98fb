#ifndef DPC_RUNTIME_SRC_LAUNCH_SUPERVISE_H
#define DPC_RUNTIME_SRC_LAUNCH_SUPERVISE_H

#include "runtime/src/base/RunPage.h"
#include "runtime/src/launch/Nodes.h"

#include <vector>

namespace dpc {

/// The launcher's record of a rank's process.
struct Rank {
  uint32_t number = 0; ///< among the ranks of all hosts
  pid_t pid = -1;
  bool running = false;
  int status = 0;            ///< status from waitpid, set when the process has ended
  int stopSignal = 0;        ///< the signal that stopped the process; 0 if it is not stopped
  double stoppedSeconds = 0; ///< how long it has been stopped while the launcher itself ran
};

struct SuperviseOptions {
  double frozen = 10; ///< seconds after which a rank that is stopped counts as frozen
  bool saves = false; ///< the run has --checkpoint, so a SIGTERM limits the time of its end
};

/// Sends a signal to all ranks of this host, which form one process group.
void signalRanks(const std::vector<Rank> &ranks, int signal);

/// Waits until all ranks of this host have ended, and returns the exit code. If the run
/// failed or was interrupted, prints one line that says why. The first interrupt is passed
/// on to the ranks, and a second one kills them. If the first one is SIGTERM and the run saves, the
/// ranks are killed after kSaveSeconds.
///
/// If a rank dies, the user is told at once. If not all ranks have met yet ("joined"),
/// the other ranks cannot go on, and are killed. If all have joined, the other ranks get
/// a few seconds to notice the death. Before all ranks have joined, a rank that is
/// stopped for `frozen` seconds counts as frozen. Once all have joined, they watch each other, and
/// the launcher waits a little longer.
/// If the run has several hosts, `nodes` says so, else it is null. Then the hosts agree on one
/// cause, and the call returns when the ranks of all hosts have ended. SIGCHLD and the interrupts
/// must be blocked.
int supervise(std::vector<Rank> *ranks, const RunPage &page, Nodes *nodes,
              const SuperviseOptions &options);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_SUPERVISE_H
