// Which checkpoints a run keeps. It removes only what it has written itself and
// can still read: the oldest sound checkpoints of this run, and what writers
// that died have left half made.
#ifndef DPC_RUNTIME_SRC_CHECKPOINT_ROTATION_H
#define DPC_RUNTIME_SRC_CHECKPOINT_ROTATION_H

#include "dpc/status.h"
#include "runtime/src/session/CheckpointRun.h"

#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace dpc {

/// What tells a file from itself before or after a change.
CheckpointRun::FileState fileStateOf(const struct stat &info);

/// Name of the folder in which this process makes a checkpoint.
std::string makingName();

/// Gives the run an identity if it has none.
dpc_status_t identify(CheckpointRun *run);

/// Removes all but the three newest sound checkpoints of this run. Those of
/// others and those that are damaged neither count nor go.
void removeOldCheckpoints(const std::string &directory, CheckpointRun *run);

/// Removes the folders that writers of this host left half made when they died.
void removeUnfinished(const std::string &directory);

/// Gives the finished folder `making` the name of step `step`. What has that
/// name is replaced if it is a sound checkpoint of this run, else moved aside
/// with a note.
dpc_status_t placeCheckpoint(const std::string &directory, const std::string &making, uint64_t step,
                             CheckpointRun *run);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_ROTATION_H
