// Decides which checkpoints a run keeps. A run removes its oldest checkpoints, but only
// folders that it wrote itself and that are undamaged. It also removes unfinished
// folders whose writers have died.
#ifndef DPC_RUNTIME_SRC_CHECKPOINT_ROTATION_H
#define DPC_RUNTIME_SRC_CHECKPOINT_ROTATION_H

#include "dpc/status.h"
#include "runtime/src/session/CheckpointRun.h"

#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace dpc {

/// Identifies the current version of a file. When the file changes, the result changes.
CheckpointRun::FileState fileStateOf(const struct stat &info);

/// Name of the folder in which this process prepares a checkpoint.
std::string makingName();

/// Gives the run a random id, unless it already has an id.
dpc_status_t identify(CheckpointRun *run);

/// Removes all but the three newest undamaged checkpoints of this run.
/// Checkpoints of other runs and damaged ones are neither counted nor removed.
void removeOldCheckpoints(const std::string &directory, CheckpointRun *run);

/// Removes unfinished folders whose writers have died. A writer counts as dead if its
/// process has ended on this host, and no process holds the lock on the folder.
void removeUnfinished(const std::string &directory);

/// Renames the finished folder `making` to the name of the checkpoint of step `step`.
/// If a file or folder already has this name, there are two cases. An undamaged
/// checkpoint of this run without other files is replaced. Anything else gets a new
/// name, and a note tells the user.
dpc_status_t placeCheckpoint(const std::string &directory, const std::string &making, uint64_t step,
                             CheckpointRun *run);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_ROTATION_H
