#ifndef DPC_PROCESSES_CHILDPROCESS_H
#define DPC_PROCESSES_CHILDPROCESS_H

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <sys/types.h>

namespace dpc {

/// Starts the program at the path `argv[0]` and returns its process id, or -1
/// if it cannot be started. The program gets the memory limit with which this
/// process was started: the limit of MemoryLimit::set is lifted for it. The
/// program blocks no signals and leads its own process group. It is killed
/// when the calling thread ends. Its standard input is empty. Its
/// standard output and standard error go to the file `output`, or to those of
/// this process if `output` is null. If the program cannot be executed, the
/// child process exits with 127. The call allocates no memory.
pid_t startChild(char *const *argv, char *const *environment, const char *output);

/// Waits for a child to end and returns its exit code; -1 if a signal killed
/// it.
int waitForChild(pid_t child);

/// Runs a program to its end, in the environment of this process. Its standard
/// output and standard error go to the file `output`. Returns its exit code; -1
/// if it could not be started or a signal killed it.
int runChild(llvm::ArrayRef<std::string> command, const std::string &output);

} // namespace dpc

#endif // DPC_PROCESSES_CHILDPROCESS_H
