#ifndef DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H
#define DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H

#include "runtime/src/session/Session.h"

#include <string>

namespace dpc {

/// Collective. Writes a checkpoint with CheckpointSaver and waits until it is
/// complete.
dpc_status_t saveCheckpoint(dpc_session &session, const std::string &directory);

/// Collective. Loads the newest checkpoint that is undamaged and fits the program and
/// the seed. A program with other layouts may have written it. If newer checkpoints
/// are skipped, notes to the user say why. Each rank reads the elements that it holds,
/// and checks the checksums of its share of the files. Symbolic links in the directory
/// are not followed. Returns DPC_INVALID if no checkpoint is usable.
dpc_status_t resumeCheckpoint(dpc_session &session, const std::string &directory);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H
