#ifndef DPC_PROCESSES_CHILDPROCESS_H
#define DPC_PROCESSES_CHILDPROCESS_H

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <sys/types.h>

namespace dpc {

/// Starts the program at the path `argv[0]` and returns its process, or -1 if there is none.
/// The program has the limit of memory that this process was started with (MemoryLimit::set
/// lowers that of this process alone), receives all signals, leads a process group of its
/// own, and is killed when the calling thread ends. Its input is empty; both of its outputs
/// go to the file `output` or, if that is null, to those of this process. A program that
/// cannot be run ends with 127. The call allocates no memory.
pid_t startChild(char *const *argv, char *const *environment, const char *output);

/// Waits for the end of a child. Its exit code; -1 if it was killed.
int waitForChild(pid_t child);

/// Runs a program to its end, in the environment of this process. Its exit code; -1 if it
/// could not be started or was killed.
int runChild(llvm::ArrayRef<std::string> command, const std::string &output);

} // namespace dpc

#endif // DPC_PROCESSES_CHILDPROCESS_H
