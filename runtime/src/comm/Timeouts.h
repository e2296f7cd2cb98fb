// How long ranks wait for each other: the times of the options, or their defaults.
#ifndef DPC_RUNTIME_SRC_COMM_TIMEOUTS_H
#define DPC_RUNTIME_SRC_COMM_TIMEOUTS_H

#include "dpc/comm.h"
#include "runtime/src/base/SharedOptions.h"

#include <algorithm>

namespace dpc {

/// Seconds that a rank waits for a peer before it gives up.
inline double timeoutOf(const dpc_comm_options_t &options) {
  return options.timeout_seconds > 0 ? options.timeout_seconds : kTimeoutSeconds;
}

/// Seconds after which a waiting rank tells the other ranks which rank it waits
/// for. A rank that has waited for less time than this has kept its own peers
/// waiting for most of the timeout, so it counts as late itself.
inline double toldAfter(double timeoutSeconds) { return timeoutSeconds / 2; }

/// Seconds after which a rank whose heartbeat does not advance counts as frozen.
/// Some waits cannot tell which rank is late, for example the wait for a
/// collective of devices. Therefore this time is by default half the timeout of
/// waits, but at least 2 seconds and at most 10. The failure of the run can then
/// name the frozen rank.
inline double frozenAfter(const dpc_comm_options_t &options) {
  return options.frozen_seconds > 0 ? options.frozen_seconds
                                    : std::clamp(timeoutOf(options) / 2, 2.0, 10.0);
}

/// Seconds after which a heartbeat that does not advance counts as still. The wait
/// that the rank has published is then out of date, and the rank answers no message.
/// This time is shorter than `frozenSeconds`, because a timeout may end before the
/// rank counts as frozen.
inline double stillAfter(double frozenSeconds) { return frozenSeconds / 2; }

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_TIMEOUTS_H
