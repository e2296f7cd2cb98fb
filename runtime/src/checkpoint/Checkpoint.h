#ifndef DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H
#define DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H

#include "runtime/src/session/Session.h"

#include <string>

namespace dpc {

/// Collective. Writes a checkpoint as CheckpointSaver does, and waits for it.
dpc_status_t saveCheckpoint(dpc_session &session, const std::string &directory);

/// Collective. Loads the newest checkpoint that is undamaged and fits the
/// program and the seed, whatever layout wrote it; a note says which newer ones
/// are skipped, and why. Each rank reads its own elements, and checks the sums
/// of its share of the files. Links are not followed out of the directory.
/// DPC_INVALID if there is none.
dpc_status_t resumeCheckpoint(dpc_session &session, const std::string &directory);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H
