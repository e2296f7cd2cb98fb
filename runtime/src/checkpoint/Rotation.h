// Decides which checkpoints a run keeps. A run removes only folders that it
// wrote itself and can still read: the oldest undamaged checkpoints of this
// run. It also removes unfinished folders of writers that died.
#ifndef DPC_RUNTIME_SRC_CHECKPOINT_ROTATION_H
#define DPC_RUNTIME_SRC_CHECKPOINT_ROTATION_H

#include "dpc/status.h"
#include "runtime/src/session/CheckpointRun.h"

#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace dpc {

/// Identifies a version of a file: it differs between the file before and after
/// a change.
CheckpointRun::FileState fileStateOf(const struct stat &info);

/// Name of the folder in which this process prepares a checkpoint.
std::string makingName();

/// Gives the run a random id if it has none.
dpc_status_t identify(CheckpointRun *run);

/// Removes all but the three newest undamaged checkpoints of this run.
/// Checkpoints of other runs and damaged ones are neither counted nor removed.
void removeOldCheckpoints(const std::string &directory, CheckpointRun *run);

/// Removes unfinished folders whose writers, processes of this host, have died.
void removeUnfinished(const std::string &directory);

/// Renames the finished folder `making` to the name of step `step`. An existing
/// file or folder of that name is replaced if it is an undamaged checkpoint of
/// this run; otherwise it is moved aside with a note.
dpc_status_t placeCheckpoint(const std::string &directory, const std::string &making, uint64_t step,
                             CheckpointRun *run);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_ROTATION_H
