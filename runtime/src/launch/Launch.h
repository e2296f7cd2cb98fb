#ifndef DPC_RUNTIME_SRC_LAUNCH_LAUNCH_H
#define DPC_RUNTIME_SRC_LAUNCH_LAUNCH_H

#include "dpc/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

struct LaunchOptions {
  uint32_t ranks = 0; ///< 0: as many as the program says
  uint32_t maxRestarts = 0;
  bool help = false, version = false;
  bool verify = false;              ///< prove the program's plan, run nothing
  std::vector<std::string> command; ///< the program and its arguments
};

/// The command line of dpc-run. DPC_USAGE names what is wrong.
dpc_status_t parseLaunchOptions(int argc, char **argv, LaunchOptions *out);

/// Text of --help.
const char *launchHelp();

/// Starts the local ranks, waits for them and restarts them when a rank died
/// and restarts are left. Returns the exit code: that of the rank that failed
/// first for a reason of its own, before those that only noticed. No rank
/// outlives this call, or this process. With `verify` this process becomes the
/// program, which proves its plan.
int launch(const LaunchOptions &options);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_LAUNCH_H
