#ifndef DPC_RUNTIME_SRC_SESSION_ENVIRONMENT_H
#define DPC_RUNTIME_SRC_SESSION_ENVIRONMENT_H

#include "dpc/dpc.h"

namespace dpc {

/// Defaults of a session, with this rank's place in the run from the
/// environment of dpc-run, torchrun, Open MPI, PMI or Slurm. Without a token
/// the ranks meet in a directory of this user, named after the run. DPC_INVALID
/// names a variable whose value makes no sense.
dpc_status_t optionsFromEnvironment(dpc_session_options_t *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_ENVIRONMENT_H
