#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H

#include "runtime/src/base/Fd.h"
#include "runtime/src/comm/local/Segment.h"

#include <poll.h>
#include <thread>
#include <vector>

namespace dpc::local {

/// A thread that beats this rank's heart and watches the others: a process that
/// ends without leaving is reported at once (its pidfd becomes readable), one
/// whose heartbeat stands still (stopped, swapped out) after `frozenSeconds`.
/// Nothing but the published failure leaves this thread.
class Watchdog {
public:
  Watchdog(Segment &segment, double frozenSeconds);
  ~Watchdog();

private:
  struct Peer {
    uint32_t rank;
    int pid;
    Fd fd; ///< pidfd; not valid where the kernel has none
    uint64_t heartbeat = 0;
    int idleTicks = 0;
    bool finished = false;
  };

  void run();

  Segment &segment;
  double frozenSeconds;
  std::vector<Peer> peers; ///< all memory is taken before the thread starts
  std::vector<pollfd> polled;
  Fd wake; ///< eventfd: readable when the watchdog must end
  std::thread thread;
};

} // namespace dpc::local

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H
