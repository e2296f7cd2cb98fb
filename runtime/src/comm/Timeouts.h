// How long ranks wait for each other where the options do not say.
#ifndef DPC_RUNTIME_SRC_COMM_TIMEOUTS_H
#define DPC_RUNTIME_SRC_COMM_TIMEOUTS_H

#include "dpc/comm.h"

#include <algorithm>

namespace dpc {

/// Seconds that a rank waits for a peer.
inline double timeoutOf(const dpc_comm_options_t &options) {
  return options.timeout_seconds > 0 ? options.timeout_seconds : 300;
}

/// Seconds after which a rank whose heart stands still counts as frozen. Not
/// longer than others wait for it, so that a wait which cannot tell the culprit
/// (a device's, for a collective of devices) ends with its name.
inline double frozenAfter(const dpc_comm_options_t &options) {
  return options.frozen_seconds > 0 ? options.frozen_seconds
                                    : std::clamp(timeoutOf(options), 2.0, 10.0);
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_TIMEOUTS_H
