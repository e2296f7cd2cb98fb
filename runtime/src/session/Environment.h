#ifndef DPC_RUNTIME_SRC_SESSION_ENVIRONMENT_H
#define DPC_RUNTIME_SRC_SESSION_ENVIRONMENT_H

#include "dpc/dpc.h"

#include <string>

namespace dpc {

/// Options of a session, and the strings to which they point.
struct EnvironmentOptions {
  EnvironmentOptions() = default;
  EnvironmentOptions(const EnvironmentOptions &) = delete;
  EnvironmentOptions &operator=(const EnvironmentOptions &) = delete;

  dpc_session_options_t options = {};
  bool isRank = false; ///< a launcher started this process as a rank of a run
  std::string rendezvous, token, listen;
};

/// Default options of a session. This rank's number and the address where the ranks
/// meet come from the environment, which dpc-run, torchrun, Open MPI, PMI or Slurm
/// has set. The token of the run, which all its ranks share, comes from DPC_TOKEN,
/// DPC_TOKEN_FILE or DPC_TOKEN_FD. The ranks meet at DPC_RENDEZVOUS, or if they have
/// a token, at the place that their launcher names (Launchers.h). A rank listens at DPC_LISTEN, if
/// it is set. Without these, ranks of one
/// host meet in a directory of this user whose name derives from the run. Returns DPC_INVALID, with
/// a message that names the variable, if a value is malformed. Ranks on several hosts that lack a
/// token or a place have an empty rendezvous, with which only a transport that tells ranks their
/// place can start. A token in a file descriptor
/// can be read only once. Therefore a later call must pass the result of an earlier
/// call as `known`, and takes the token from `known`.
dpc_status_t optionsFromEnvironment(EnvironmentOptions *outOptions,
                                    const EnvironmentOptions *known = nullptr);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_ENVIRONMENT_H
