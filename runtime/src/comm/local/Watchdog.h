#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H

#include "runtime/src/base/Fd.h"
#include "runtime/src/comm/local/Segment.h"

#include <poll.h>
#include <thread>
#include <vector>

namespace dpc::local {

/// A thread that advances this rank's heartbeat and watches the other ranks. It
/// notices at once if a process ends without leaving the run, because the pidfd of
/// the process becomes readable. (On a kernel without pidfds, it notices the end
/// within a tenth of a second.) After `frozenSeconds`, the thread also notices a
/// process whose heartbeat does not advance, because that process is stopped or
/// swapped out. In both cases the thread publishes a failure, which ends the waits
/// of all ranks.
class Watchdog {
public:
  Watchdog(Segment &segment, double frozenSeconds);
  ~Watchdog();

  /// Whether the heartbeat of another rank has been still for stillAfter(frozenSeconds).
  bool isStill(uint32_t rank) const;

private:
  struct Peer {
    uint32_t rank;
    int pid;
    Fd fd; ///< pidfd; invalid if the kernel has no pidfds
    uint64_t heartbeat = 0;
    bool finished = false;
  };

  void run();

  Segment &segment;
  double frozenSeconds;
  /// Indexed by rank: ticks since the heartbeat advanced. The training thread reads them.
  std::vector<std::atomic<int>> idleTicks;
  std::vector<Peer> peers; ///< allocated before the thread starts; the thread allocates nothing
  std::vector<pollfd> polled;
  Fd wake; ///< eventfd that tells the watchdog to end
  std::thread thread;
};

} // namespace dpc::local

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H
