#ifndef DPC_RUNTIME_SRC_BASE_PROCESS_H
#define DPC_RUNTIME_SRC_BASE_PROCESS_H

#include <ctime>
#include <sys/types.h>

namespace dpc {

/// Whether a process of this host has ended. A zombie, which only awaits its
/// parent's wait(), has ended.
bool hasEnded(pid_t pid);

/// Whether the process that had the number `pid` at `time` (of the real-time
/// clock) has ended. This is also true if a process that began later now has
/// the same number.
bool hasEndedSince(pid_t pid, const timespec &time);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_PROCESS_H
