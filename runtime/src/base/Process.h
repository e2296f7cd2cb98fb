#ifndef DPC_RUNTIME_SRC_BASE_PROCESS_H
#define DPC_RUNTIME_SRC_BASE_PROCESS_H

#include <ctime>
#include <sys/types.h>

namespace dpc {

/// Whether a process of this host has ended; one that is only waited for (a
/// zombie) has.
bool hasEnded(pid_t pid);

/// Whether the process that was `pid` at a time of the real-time clock has
/// ended: also when its number belongs to one that began later.
bool hasEndedSince(pid_t pid, const timespec &time);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_PROCESS_H
