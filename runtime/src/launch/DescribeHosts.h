#ifndef DPC_RUNTIME_SRC_LAUNCH_DESCRIBEHOSTS_H
#define DPC_RUNTIME_SRC_LAUNCH_DESCRIBEHOSTS_H

#include "runtime/src/launch/Launch.h"

namespace dpc {

/// Measures this host, or together with the launchers of other hosts all of them, and writes the
/// topology file of `options.describe`.
dpc_status_t describeHosts(const LaunchOptions &options);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_DESCRIBEHOSTS_H
