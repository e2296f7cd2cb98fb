// Starts the programs that a tool runs, such as the linker. Uses vfork instead
// of fork: fork copies the page tables of the tool, which for a large process
// takes longer than many of these programs run.

#include "processes/ChildProcess.h"

#include "processes/MemoryLimit.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace dpc;

pid_t dpc::startChild(char *const *argv, char *const *environment, const char *output) {
  const pid_t parent = ::getpid();
  const pid_t child = ::vfork();
  if (child != 0)
    return child;
  // Until execve, the child shares the memory of its parent. Therefore no call
  // from here on may write to memory that the parent uses.
  ::setpgid(0, 0);
  MemoryLimit::lift();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  if (output) {
    const int file = ::open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
  }
  ::execve(argv[0], argv, environment);
  ::_exit(127);
}

int dpc::waitForChild(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int dpc::runChild(ArrayRef<std::string> command, const std::string &output) {
  std::vector<char *> argv;
  for (const std::string &argument : command)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = startChild(argv.data(), environ, output.c_str());
  return child < 0 ? -1 : waitForChild(child);
}
