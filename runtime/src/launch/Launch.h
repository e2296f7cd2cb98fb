#ifndef DPC_RUNTIME_SRC_LAUNCH_LAUNCH_H
#define DPC_RUNTIME_SRC_LAUNCH_LAUNCH_H

#include "dpc/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

struct LaunchOptions {
  uint32_t ranks = 0; ///< 0: the number that the program was compiled for
  uint32_t maxRestarts = 0;
  bool help = false, version = false;
  bool verify = false;              ///< prove the program's plan and run no step
  std::vector<std::string> command; ///< the program and its arguments
};

/// Parses the command line of dpc-run. DPC_USAGE, with a message that names the
/// bad argument.
dpc_status_t parseLaunchOptions(int argc, char **argv, LaunchOptions *out);

/// Text of --help.
const char *launchHelp();

/// Starts the local ranks and waits for them. If a rank dies and restarts are
/// left, starts all ranks again. Returns the exit code of the first rank that
/// failed by itself, rather than of a rank that only noticed the failure. No
/// rank outlives this call or this process. With `verify` this process becomes
/// the program, which proves its plan.
int launch(const LaunchOptions &options);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_LAUNCH_H
