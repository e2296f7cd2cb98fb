#ifndef DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H
#define DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H

#include "runtime/src/core/Session.h"

#include <string>
#include <vector>

namespace dpc {

/// Steps of the complete checkpoints in a directory, newest first. A missing
/// directory has none.
std::vector<uint64_t> listCheckpoints(const std::string &directory);

/// Collective. directory/step-<N>/{state.safetensors, manifest.json}: written
/// under another name, flushed, then renamed, so that a checkpoint is there
/// completely or not at all. The three newest stay.
dpc_status_t saveCheckpoint(dpc_session &session, const std::string &directory);

/// Collective. Loads the newest checkpoint whose length and checksum are right;
/// older ones are tried when it is damaged (a note says so). DPC_INVALID if
/// there is none, or if it is another program's.
dpc_status_t resumeCheckpoint(dpc_session &session,
                              const std::string &directory);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINT_H
