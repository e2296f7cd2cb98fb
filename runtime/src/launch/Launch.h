#ifndef DPC_RUNTIME_SRC_LAUNCH_LAUNCH_H
#define DPC_RUNTIME_SRC_LAUNCH_LAUNCH_H

#include "dpc/status.h"
#include "runtime/src/describe/Describe.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

struct LaunchOptions {
  uint32_t ranks = 0; ///< on this host; 0: the number that the program was compiled for, or with
                      ///< several hosts, an equal part of it
  uint32_t nodes = 1, nodeRank = 0;  ///< number of hosts, and which one this is
  std::string rendezvous, tokenFile; ///< where the launchers meet, and the file of their secret
  std::string listen; ///< address at which the ranks of this host listen; empty: that with which
                      ///< they reach rank 0
  uint32_t maxRestarts = 0;
  double frozen = 0; ///< --frozen of the program's options, in seconds; 0: not given
  bool help = false, version = false;
  uint64_t check =
      0; ///< only check whether a run could start, and wait this many seconds for hosts
         ///< and ranks to come; 0: no check
  bool verify = false;              ///< prove the program's plan and run no step
  bool readPostmortem = false;      ///< explain how an earlier run ended, and run nothing
  DescribeOptions describe;         ///< if it has a file: measure the hosts, and run nothing
  std::vector<std::string> command; ///< the program and its arguments, or the folders of
                                    ///< `readPostmortem`
};

/// Parses the command line of dpc-run. Returns DPC_USAGE, with a message that names the
/// argument, if an argument is wrong.
dpc_status_t parseLaunchOptions(int argc, char **argv, LaunchOptions *out);

/// The text of --help.
const char *launchHelp();

/// Starts the ranks on this machine and waits until they have ended. If the run has several
/// hosts, first meets the launchers of the others, and ends together with them. If a rank dies,
/// starts all ranks again, at most `maxRestarts` times. Returns the status of the
/// failure that ended the run, e.g. DPC_PEER if a rank died. The statuses of ranks that
/// only noticed the failure do not count. All ranks end with this call, and also if
/// this process is killed. With `verify`, this process becomes the program, which
/// proves its plan. With `check`, every failure but DPC_USAGE is DPC_INVALID.
/// With `readPostmortem`, prints what the records of a run say.
int launch(const LaunchOptions &options);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_LAUNCH_H
