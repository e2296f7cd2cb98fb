#ifndef DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H
#define DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H

#include "runtime/src/session/Session.h"

#include <string>

namespace dpc {

/// Collective. Writes a checkpoint with CheckpointSaver and waits until it is
/// complete.
dpc_status_t saveCheckpoint(dpc_session &session, const std::string &directory);

/// Collective. Loads the newest checkpoint that is undamaged and fits the
/// program and the seed, whatever the layout in which it was written. A note
/// names newer checkpoints that are skipped and says why. Each rank reads its
/// own elements, and checks the checksums of its share of the files. Links that
/// lead out of the directory are not followed. DPC_INVALID if there is no
/// usable checkpoint.
dpc_status_t resumeCheckpoint(dpc_session &session, const std::string &directory);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H
