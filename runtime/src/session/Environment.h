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
  std::string rendezvous, token;
};

/// Default options of a session, with this rank's number and the meeting place
/// from the environment of dpc-run, torchrun, Open MPI, PMI or Slurm. Without a
/// token, the ranks meet in a directory of this user that is named after the
/// run. DPC_INVALID, with a message that names the variable, if a value is
/// malformed. A token in a file descriptor can be read only once, so a later
/// call passes the result of an earlier one as `known` and gets its token.
dpc_status_t optionsFromEnvironment(EnvironmentOptions *outOptions,
                                    const EnvironmentOptions *known = nullptr);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_ENVIRONMENT_H
