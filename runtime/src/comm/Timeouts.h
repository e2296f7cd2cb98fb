// How long ranks wait for each other: the times of the options, or their defaults.
#ifndef DPC_RUNTIME_SRC_COMM_TIMEOUTS_H
#define DPC_RUNTIME_SRC_COMM_TIMEOUTS_H

#include "dpc/comm.h"

#include <algorithm>

namespace dpc {

/// Seconds that a rank waits for a peer before it gives up.
inline double timeoutOf(const dpc_comm_options_t &options) {
  return options.timeout_seconds > 0 ? options.timeout_seconds : 300;
}

/// Seconds after which a rank whose heartbeat does not advance counts as frozen.
/// Some waits cannot tell which rank is late, for example the wait for a
/// collective of devices. Therefore this time is by default not longer than the
/// timeout of waits, but at least 2 seconds. The failure of the run can then name
/// the frozen rank.
inline double frozenAfter(const dpc_comm_options_t &options) {
  return options.frozen_seconds > 0 ? options.frozen_seconds
                                    : std::clamp(timeoutOf(options), 2.0, 10.0);
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_TIMEOUTS_H
