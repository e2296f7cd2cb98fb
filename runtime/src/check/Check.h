#ifndef DPC_RUNTIME_SRC_CHECK_CHECK_H
#define DPC_RUNTIME_SRC_CHECK_CHECK_H

#include "dpc/status.h"
#include "runtime/src/session/Session.h"

#include <string>
#include <vector>

namespace dpc {

struct CheckRequest {
  struct File {
    std::string option; ///< that names the file, for messages
    std::string path;
  };
  double seconds = 3;      ///< how long ranks wait for each other to come
  std::vector<File> reads; ///< files that every rank reads
  std::string folder;      ///< of --checkpoint, which all hosts must share; empty: none
  /// Why this rank cannot take part, if the caller knows a reason already, and its message.
  dpc_status_t status = DPC_OK;
  std::string text;
};

struct CheckResult {
  std::string table;    ///< on rank 0: what the ranks have found, for the user
  bool reports = false; ///< whether this rank, and no other one, reports a failure
};

/// Collective. Checks whether a run could start with the options of `session`, which must not be
/// open: meets the other ranks as a run does, compares what they have, and measures each pair of
/// ranks. Allocates no memory of the program. Returns the same status on all ranks that have met:
/// DPC_INVALID if any rank could not take part in a run, with a message that names the first one,
/// or DPC_USAGE if its options are wrong. Another failure means that this rank did not meet the
/// others, or lost one of them.
dpc_status_t checkRun(const dpc_session &session, const CheckRequest &request, CheckResult *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECK_CHECK_H
