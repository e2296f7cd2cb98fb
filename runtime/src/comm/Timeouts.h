// How long ranks wait for each other if the options do not say.
#ifndef DPC_RUNTIME_SRC_COMM_TIMEOUTS_H
#define DPC_RUNTIME_SRC_COMM_TIMEOUTS_H

#include "dpc/comm.h"

#include <algorithm>

namespace dpc {

/// Seconds that a rank waits for a peer before it gives up.
inline double timeoutOf(const dpc_comm_options_t &options) {
  return options.timeout_seconds > 0 ? options.timeout_seconds : 300;
}

/// Seconds after which a rank whose heartbeat does not advance counts as
/// frozen. The default is at most the timeout of waits. So a wait that cannot
/// tell which rank is late, such as one of a device for a collective of
/// devices, still ends with the name of the frozen rank.
inline double frozenAfter(const dpc_comm_options_t &options) {
  return options.frozen_seconds > 0 ? options.frozen_seconds
                                    : std::clamp(timeoutOf(options), 2.0, 10.0);
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_TIMEOUTS_H
