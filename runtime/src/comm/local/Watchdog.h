#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H

#include "runtime/src/base/Fd.h"
#include "runtime/src/comm/local/Segment.h"

#include <poll.h>
#include <thread>
#include <vector>

namespace dpc::local {

/// A thread that advances this rank's heartbeat and watches the other ranks. A
/// process that ends without leaving the run is reported at once, because its
/// pidfd becomes readable. A process that does not advance its heartbeat
/// (stopped, swapped out) is reported after `frozenSeconds`. The thread's only
/// effect is the published failure.
class Watchdog {
public:
  Watchdog(Segment &segment, double frozenSeconds);
  ~Watchdog();

private:
  struct Peer {
    uint32_t rank;
    int pid;
    Fd fd; ///< pidfd; invalid if the kernel does not support them
    uint64_t heartbeat = 0;
    int idleTicks = 0;
    bool finished = false;
  };

  void run();

  Segment &segment;
  double frozenSeconds;
  std::vector<Peer> peers; ///< allocated before the thread starts, which allocates nothing
  std::vector<pollfd> polled;
  Fd wake; ///< eventfd that tells the watchdog to end
  std::thread thread;
};

} // namespace dpc::local

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H
