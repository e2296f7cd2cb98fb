#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H

#include "runtime/src/comm/local/Segment.h"

#include <thread>

namespace dpc {

/// A thread that beats this rank's heart and watches the others: a process that
/// ends without leaving is reported at once (its pidfd becomes readable), one
/// whose heartbeat stands still (stopped, swapped out) after `frozenSeconds`.
/// Nothing but the published failure leaves this thread.
class Watchdog {
public:
  Watchdog(Segment &segment, double frozenSeconds);
  ~Watchdog();

private:
  void run();

  Segment &segment;
  double frozenSeconds;
  Fd wake; ///< eventfd: readable when the watchdog must end
  std::thread thread;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_WATCHDOG_H
