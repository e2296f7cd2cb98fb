#ifndef DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H
#define DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H

#include "runtime/src/session/Session.h"

#include <string>

namespace dpc {

/// Collective. directory/step-<N>/{state.safetensors, manifest.json}: written
/// under another name, flushed, then renamed, so that a checkpoint is there
/// completely or not at all. The three newest sound ones of this run stay, and
/// everything that it did not write.
dpc_status_t saveCheckpoint(dpc_session &session, const std::string &directory);

/// Collective. Loads the newest checkpoint that is undamaged and fits the
/// program and the seed; a note says which newer ones are skipped, and why.
/// Links are not followed out of the directory. DPC_INVALID if there is none.
dpc_status_t resumeCheckpoint(dpc_session &session, const std::string &directory);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H
