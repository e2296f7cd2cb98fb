#ifndef DPC_RUNTIME_SRC_SESSION_ENVIRONMENT_H
#define DPC_RUNTIME_SRC_SESSION_ENVIRONMENT_H

#include "dpc/dpc.h"

#include <string>

namespace dpc {

/// Options of a session, and the strings that they point at.
struct EnvironmentOptions {
  EnvironmentOptions() = default;
  EnvironmentOptions(const EnvironmentOptions &) = delete;
  EnvironmentOptions &operator=(const EnvironmentOptions &) = delete;

  dpc_session_options_t options = {};
  bool isRank = false; ///< something started this process as a rank of a run
  std::string rendezvous, token;
};

/// Defaults of a session, with this rank's place in the run from the
/// environment of dpc-run, torchrun, Open MPI, PMI or Slurm. Without a token
/// the ranks meet in a directory of this user, named after the run. DPC_INVALID
/// names a variable whose value makes no sense. A token that comes by a file
/// descriptor can be read once: `known`, unless null, is what an earlier call
/// made, whose token then serves again.
dpc_status_t optionsFromEnvironment(EnvironmentOptions *outOptions,
                                    const EnvironmentOptions *known = nullptr);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_ENVIRONMENT_H
