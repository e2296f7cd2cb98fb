#ifndef DPC_RUNTIME_SRC_TRAIN_RESTART_H
#define DPC_RUNTIME_SRC_TRAIN_RESTART_H

#include "runtime/src/session/Session.h"

#include <string>
#include <vector>

namespace dpc {

/// What the launcher of a run says about earlier starts of the same run.
struct Restart {
  bool isRestart = false;       ///< equal on all ranks
  std::vector<std::string> ids; ///< on rank 0: the ids that checkpoints of earlier starts may have;
                                ///< empty if the launcher does not tell one run from another

  /// Whether an earlier start of this run wrote the newest readable checkpoint in the folder. True
  /// if this cannot be told. Called only on rank 0.
  bool hasWritten(const std::string &directory) const;
};

/// Collective. `directory` is the run's folder of checkpoints. Asks all ranks, because torchrun
/// tells only the ranks of the host on which a rank has failed that it has started them again. If
/// a host is replaced, torchrun tells nobody; then the run's own checkpoint shows that it is a
/// restart.
dpc_status_t findRestart(dpc_session &session, const std::string &directory, Restart *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_RESTART_H
