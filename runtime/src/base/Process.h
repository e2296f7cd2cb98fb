#ifndef DPC_RUNTIME_SRC_BASE_PROCESS_H
#define DPC_RUNTIME_SRC_BASE_PROCESS_H

#include <ctime>
#include <string>
#include <sys/types.h>

namespace dpc {

/// Whether a process of this host has ended. This is true for a zombie, which has
/// ended but whose parent has not yet called wait().
bool hasEnded(pid_t pid);

/// Whether the process that had the number `pid` at `time` (of the real-time
/// clock) has ended. If a process that began after `time` has the number now,
/// the earlier process has ended.
bool hasEndedSince(pid_t pid, const timespec &time);

/// The path under which other processes of the host can open a file of process `pid`.
std::string descriptorPath(uint64_t pid, uint64_t fd);

/// The path of this program's file. "" if the system does not tell it.
std::string programFile();

/// The folder of that file, without a slash at its end.
std::string programFolder();

/// The variable in which dpc-run tells ranks its own folder.
constexpr const char *kLauncherFolder = "DPC_RUN_FOLDER";

/// The name of this host, for messages; "unnamed" if it has none.
std::string hostName();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_PROCESS_H
